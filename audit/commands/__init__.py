"""The commands, one a file: `add` declares the arguments, the function beside it runs the command.

The table is their order in the help. A command reads its arguments, calls one stage and prints what that returns.
"""

from __future__ import annotations

from audit.commands import bundle, compare, doctor, listing, report, review, run, self_test, verify

COMMANDS = (run, review, listing, report, compare, bundle, verify, self_test, doctor)
