"""The commands: typed functions whose parameters are the arguments (`declare.py`), imported when asked for."""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("commands.run:run", "audit one claim; writes record.json, report.md, report.html and figures"),
    "check": ("commands.published:check", "import a kernel and its reference, and audit them, in one command"),
    "import": ("commands.published:import_claim", "make a claim folder of a claim as others publish it; runs nothing"),
    "review": ("commands.static:review", "what sources alone say: hints with lines; nothing is built or run"),
    "lint": ("commands.static:lint", "what the numbers of a published dataset say; nothing is built or run"),
    "funnel": ("batch.command:funnel", "many claims: lint, review, emulated probes, GPU, each settles its part"),
    "list": ("commands.run:list_claims", "the claims that can be audited"),
    "report": ("commands.records:report", "render the report of a record again"),
    "compare": ("commands.records:compare", "records of one claim from several GPUs, side by side"),
    "bundle": ("commands.records:bundle", "all an audit rests on in one zip: record, samples, sources, reports"),
    "verify": ("commands.records:verify", "do verdict, pages and figures of a bundle follow from its record"),
    "batch": ("batch.command:batch", "many audits left running, each claim's notebook through papermill"),
    "self-test": (
        "selftest.command:self_test",
        "the auditor's own error rates, from known-bad and known-good controls",
    ),
    "doctor": ("doctor:doctor", "what this machine can and cannot answer, and what to install"),
}
"""Function and help of each command, in the order of `audit --help`."""
