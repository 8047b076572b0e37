"""The commands, one a file: `add` declares the arguments, the function beside it runs the command.

A command reads its arguments, calls one stage and prints what that returns. Its file is imported when it is asked for.
"""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("run", "audit one claim; writes record.json, report.md, report.html and figures"),
    "import": ("import_claim", "make a claim folder of a claim as others publish it; runs nothing"),
    "review": ("review", "what sources alone say: hints with lines; nothing is built or run"),
    "lint": ("lint", "what the numbers of a published dataset say; nothing is built or run"),
    "funnel": ("funnel", "many claims: lint, review, emulated probes, GPU, each settles its part"),
    "list": ("listing", "the claims that can be audited"),
    "report": ("report", "render the report of a record again"),
    "compare": ("compare", "records of one claim from several GPUs, side by side"),
    "bundle": ("bundle", "all an audit rests on in one zip: record, samples, sources, reports"),
    "verify": ("verify", "is a bundle whole, and does its verdict follow from its raw samples"),
    "batch": ("batch", "many audits left running, each claim's notebook through papermill"),
    "self-test": ("self_test", "the auditor's own error rates, from kernels known to be wrong or right"),
    "doctor": ("doctor", "what this machine can and cannot answer, and what to install"),
}
"""File and help of each command, in the order of `audit --help`."""
