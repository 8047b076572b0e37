"""The commands, one a file: `add` declares the arguments, the function beside it runs the command.

The table is their order in the help. A command reads its arguments, calls one stage and prints what that returns.
"""

from __future__ import annotations

from audit.commands import (
    batch,
    bundle,
    compare,
    doctor,
    funnel,
    import_claim,
    lint,
    listing,
    report,
    review,
    run,
    self_test,
    verify,
)

COMMANDS = (
    run, import_claim, review, lint, funnel, listing, report, compare, bundle, verify, batch, self_test, doctor
)  # fmt: skip
