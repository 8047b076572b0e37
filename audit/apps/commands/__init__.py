"""The commands: typed functions whose parameters are the arguments (`declare.py`), imported when asked for."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """One command: the module and function under `audit.apps`, its help, and lines to type."""

    place: str
    help: str
    examples: tuple[str, ...]


COMMANDS: dict[str, Command] = {
    "run": Command("commands.run:run", "audit one claim; writes record.json, report.md, report.html and figures", (
        "audit run triangular_mm",
        "audit run triangular_mm --device emulated --out out/first",
        "audit run kernels/diag_matmul --json --fail-on wrong,undefined",
    )),
    "check": Command("commands.published:check", "import a kernel and its reference, and audit them, in one command", (
        "audit check kernel.cu reference.py --tolerance 1e-4",
        "audit check kernel.cu reference.py --shape N=512 --claimed T4=4.2 H100=9",
        'audit check kernel.py reference.py --device emulated --fail-on "wrong,cannot be built"',
    )),
    "pr": Command("pr.command:pr", "the same kernel before and after a change: is it right, is it slower", (
        "audit pr old/kernel.cu new/kernel.cu reference.py --tolerance 1e-4",
        "audit pr old new --device emulated --out out/pr",
        "audit pr main HEAD kernel.cu reference.py --fail-on wrong,undefined,slower",
    )),
    "import": Command("commands.published:import_claim",
                      "make a claim folder of a claim as others publish it; runs nothing", (
        "audit import task.py solution.py result.json --unit ms --gpu H100",
        "audit import level_1.parquet --select Kernel_Name=matmul_tiled --to kernels/matmul_tiled",
        "audit import claim.ipynb --row 7",
    )),
    "review": Command("commands.published:review",
                      "what sources alone say: hints with lines; nothing is built or run", (
        "audit review kernels/triangular_mm/claimed.cu",
        "audit review kernel.cu kernel.py --json",
    )),
    "lint": Command("commands.published:lint", "what the numbers of a published dataset say; nothing is built or run", (
        "audit lint results.parquet",
        "audit lint results.csv --gpu H100 --unit us --out out/lint",
    )),
    "funnel": Command("batch.command:funnel",
                      "many claims: lint, review, emulated probes, GPU, each settles its part", (
        "audit funnel kernels --out out/funnel --device emulated",
        "audit funnel level_1.parquet --out out/funnel --gpu H100",
        "audit funnel level_1.parquet --out out/funnel --resume",
    )),
    "list": Command("commands.run:list_claims", "the claims that can be audited", ("audit list",)),
    "report": Command("commands.records:report", "render the report of a record again", (
        "audit report out/triangular_mm-emulated/record.json",
        "audit report reports/triangular_mm/h100/record.json --lang ja --formats md,html --out out/report",
    )),
    "compare": Command("commands.records:compare", "records of one claim from several GPUs, side by side", (
        "audit compare reports/triangular_mm/h100/record.json reports/triangular_mm/h200/record.json",
        "audit compare h100/record.json t4/record.json --out out/compare",
    )),
    "bundle": Command("commands.records:bundle",
                      "all an audit rests on in one zip: record, samples, sources, reports", (
        "audit bundle out/triangular_mm-emulated",
        "audit bundle out/scaled/results --claim out/scaled/scaled --out scaled.zip --sign id_ed25519",
    )),
    "verify": Command("commands.records:verify", "do verdict, pages and figures of a bundle follow from its record", (
        "audit verify scaled.zip",
        "audit verify scaled.zip --key id_ed25519.pub",
    )),
    "batch": Command("batch.command:batch", "many audits left running, each claim's notebook through papermill", (
        "audit batch kernels --device emulated --jobs 2",
        "audit batch claims.yaml --gpus 0,1 --out out/batch",
        "audit batch claims.yaml --out out/batch --resume",
    )),
    "self-test": Command("selftest.command:self_test",
                         "the auditor's own error rates, from known-bad and known-good controls", (
        "audit self-test --device emulated",
        "audit self-test --device emulated --against reports/self_test/emulated.json",
    )),
    "doctor": Command("doctor:doctor", "what this machine can and cannot answer, and what to install", (
        "audit doctor",
        "audit doctor --self-test",
    )),
    "completion": Command("commands.run:completion", "lines that complete commands and options in a shell", (
        "audit completion bash",
    )),
}  # fmt: skip
"""The commands in the order of `audit --help`; a test parses every example."""
FIRST = (
    "audit list",
    "audit run triangular_mm --device emulated",
    "audit check kernel.cu reference.py --tolerance 1e-4",
)
"""The examples of `audit --help` itself."""
