"""Reading findings: those about the claim, and the values in their evidence, whatever its form."""

from __future__ import annotations

from typing import Any

from audit.judge.answers import FLOOR, TASK, is_impossible
from audit.judge.causes import sizes_of
from audit.judge.evidence import deciding, deciding_about, objects
from audit.measure.comparison import PREFIX, compared, precision_of
from audit.model import Finding, Record, Shape
from audit.report import messages
from audit.report.messages import Recorded, message, wordings

NOT_RUN = ("claimed_launches", "claimed_blocks")
"""Findings about a shape that was not run, or not all of it."""
GRAPH = "graph_"
"""Begins the name of a baseline that is replayed as a CUDA graph."""
MADE = {
    "compile": "torch.compile",
    "compile_max_autotune": "torch.compile(max-autotune)",
    "cudnn_benchmark": "cudnn.benchmark",
}
"""Baselines that the kit makes of the reference, by the functions they are."""
LARGEST = 1e100
"""Any float32 and the product of two is below."""


def title(probe: str) -> str:
    """Return the name of a probe or of a rule of the source review for readers; an unknown probe keeps its own."""
    rule = probe.removeprefix("review.")
    if rule != probe:
        return message("form.review_rule", rule=Recorded(rule.replace("_", " ")))
    key = f"probe.{probe}"
    return message(key) if key in wordings() else probe


def callable_title(name: str) -> str:
    """Return the name of a timed callable for readers: of a baseline what it is, of a variant its own."""
    if not name.startswith(PREFIX):
        return name
    precision = precision_of(name)
    function = name.removeprefix(PREFIX).removesuffix(f"_{precision}")
    plain = function.removeprefix(GRAPH)
    text = MADE.get(plain, plain)
    if precision != "fp32":
        text = f"{text} {precision.replace('tf32', 'TF32')}"
    return message("baseline.graph", name=text) if plain != function else text


def by_order(finding: Finding) -> bool:
    """Return whether the order of the threads decides, with no undefined behaviour seen: `agreement` alone says so."""
    worst = finding.evidence.get("worst")
    return isinstance(worst, dict) and bool(worst.get("order_decides"))


def of_claim(record: Record) -> list[Finding]:
    """Return the findings about the published times, about a task that cannot tell right from wrong, at its own inputs
    or at any, and about the claimed kernel; none about our own variants."""
    floors = [one for one in record.findings if one.probe == FLOOR]
    tasks = deciding(one for one in record.findings if one.probe == TASK)
    blind = [one for one in tasks if one.outcome == "fail"]
    return [*floors, *blind, *deciding_about(record.findings, record.claimed_name)]


def against_claim(record: Record, finding: Finding) -> bool:
    """Return whether a failure speaks against the claim: a time that others than the authors took does not."""
    return finding.claimed and (finding.probe != FLOOR or is_impossible(record, finding))


def access(finding: Finding) -> dict[str, Any] | None:
    """Return the behaviour that a failure shows, as `undefined.Behaviour.evidence`; None for values alone."""
    found = [finding.evidence.get(key) for key in ("fault", "access")]
    shown = objects([*found, *objects(finding.evidence.get("reports"))])
    return next(iter(shown), None) if finding.outcome == "fail" else None


def failed_questions(record: Record, variant: str | None) -> list[str]:
    """Return the probes that a variant failed at what the claim speaks of, or with undefined behaviour, each once."""
    about = deciding_about(record.findings, variant)
    return list(dict.fromkeys(one.probe for one in about if one.fails_kernel or one.grade == "undefined"))


def find(record: Record, probe: str, target: str | None) -> Finding | None:
    """Return the last deciding finding of a probe about a target."""
    about = deciding_about(record.findings, target)
    return next((one for one in reversed(about) if one.probe == probe), None)


def real(finding: Finding | None, key: str) -> float | None:
    """Return a number of the evidence; None where it is absent, something else, or too large to be drawn."""
    value = finding.evidence.get(key) if finding else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) < LARGEST else None


def claimed_ratio(record: Record, gpu: str) -> str:
    """Return the ratio published for a GPU, with "about" where it is rounded."""
    stated = [one for one in record.claim.statement.ratios if one.gpu == gpu]
    return messages.ratio(stated[0].ratio, about=stated[0].about) if stated else messages.NOT_PUBLISHED


def ratio_of(record: Record, variant: str, baseline: str) -> str:
    """Return a variant's ratio to a baseline with its 95 % interval and its doubt, or NOT MEASURED."""
    found = compared(record.measurements, variant, baseline)
    if found is None:
        return messages.NOT_MEASURED
    shown = messages.with_interval(messages.ratio(found.ratio.value), found.ratio.low, found.ratio.high)
    return message("form.ratio_inconclusive", ratio=shown) if found.doubt else shown


def tested_shapes(record: Record) -> list[Shape]:
    """Return the shapes that the findings about any variant name, each once, in order of appearance."""
    shapes: list[Shape] = []
    for finding in (one for one in record.findings if one.probe not in NOT_RUN):
        entries = (finding.evidence, *objects(finding.evidence.get("shapes")))
        for shape in (sizes_of(entry.get("shape")) for entry in entries):
            if shape is not None and shape not in shapes:
                shapes.append(shape)
    return shapes
