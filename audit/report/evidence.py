"""Reading findings: which there are, and the numbers in their evidence, whatever its form."""

from __future__ import annotations

from pydantic import JsonValue

from audit.judge.causes import shape_of
from audit.judge.reconcile import deciding
from audit.model import Finding, Record, Shape
from audit.report import quantities
from audit.report.said import Told, listed, say

SHOWN_ENTRIES = 2
NOT_RUN = ("claimed_launches", "claimed_blocks")
"""Findings about a shape that was not run, or not all of it."""
ELSEWHERE = ("map", "log", "sizes")
"""Keys of the evidence that a figure, a log or a section of its own shows."""
LARGEST = 1e100
"""Any float32 and the product of two is below."""
PROBES: dict[str, str] = {
    "floor": say("Published time against the hardware floor"),
    "build": say("Build"),
    "review": say("Source review"),
    "contract": say("Shape, type and device of the result"),
    "agreement": say("Agreement with a float64 oracle"),
    "order": say("Both execution orders"),
    "coverage": say("Write coverage"),
    "inherited": say("Inherited memory"),
    "inputs_intact": say("Inputs left intact"),
    "memory_access": say("Memory access"),
    "launch_geometry": say("Launch geometry against index use"),
    "kernels_ran": say("Kernels that really ran"),
    "fresh_values": say("Other values at the same addresses"),
    "repeat": say("Repeated calls"),
    "dead_inputs": say("Inputs that change nothing"),
    "distributions": say("Other distributions of the inputs"),
    "precision": say("Effective bits"),
    "alias": say("Result apart from the inputs"),
    "late_writes": say("Writes after the call"),
    "current_stream": say("The caller's stream"),
    "layout": say("Inputs as views"),
    "nonfinite": say("NaN and infinity in the inputs"),
    "threads": say("Threads and child processes"),
    "backend_flags": say("Global switches of torch"),
    "first_call": say("Work of the first call"),
    "untouched_process": say("Clocks and checks left as they were"),
    "task": say("Can the task tell right from wrong"),
    "builds_agree": say("Fast build against published build"),
    "oldest_code": say("Code for the oldest GPU"),
    "clocks": say("Clocks during the timings"),
    "timing": say("Timing"),
    "timed_outputs": say("Outputs of timed calls"),
    "same_twice": say("One callable timed twice"),
    "kept_by_content": say("Results kept by content"),
    "l2_flush": say("Cold against hot cache"),
    "order_effect": say("Effect of the order in a block"),
    "witness": say("Times by another process's clock"),
    "floor_here": say("Hardware floor of the GPU at hand"),
    "claimed_launches": say("Launches at the claimed shape"),
    "claimed_blocks": say("A few blocks of the claimed shape"),
    "sweep": say("Sizes around the claim"),
    "channel": say("Messages of its sessions"),
}


def title(probe: str) -> str:
    """A probe's name for readers; a rule of the source review says so, an unknown probe keeps its own name."""
    rule = probe.removeprefix("review.")
    return PROBES.get(
        probe, probe if rule == probe else say("Source review: {rule}", rule=Told(rule.replace("_", " ")))
    )


def claimed_name(record: Record) -> str | None:
    """The name of the claimed variant, which findings carry as their target."""
    claimed = record.claim.statement.claimed
    return None if claimed is None else claimed.name


def of_claim(record: Record) -> list[Finding]:
    """What decides about the claimed kernel and the published times, and a task that cannot tell; never findings about
    our own variants."""
    name = claimed_name(record)
    floors = [finding for finding in record.findings if finding.probe == "floor"]
    return [*floors, *blind_tasks(record), *deciding(finding for finding in record.findings if finding.target == name)]


def blind_tasks(record: Record) -> list[Finding]:
    """What shows that the task itself cannot tell right from wrong, at its own inputs or at any."""
    return [one for one in deciding(one for one in record.findings if one.probe == "task") if one.outcome == "fail"]


def find(record: Record, probe: str, target: str | None) -> Finding | None:
    """The last deciding finding of a probe about a target."""
    about = deciding(finding for finding in record.findings if finding.target == target)
    return next((one for one in reversed(about) if one.probe == probe), None)


def real(finding: Finding | None, key: str) -> float | None:
    """A number of the evidence; None where it is absent, something else, or too large to be drawn."""
    value = finding.evidence.get(key) if finding else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) < LARGEST else None


def claimed_ratio(record: Record, gpu: str) -> str:
    """The ratio published for a GPU, with "about" where it is rounded."""
    stated = [one for one in record.claim.statement.speedup if one.gpu == gpu]
    return quantities.ratio(stated[0].ratio, about=stated[0].about) if stated else quantities.NOT_PUBLISHED


def size(finding: Finding | None) -> Shape | None:
    """The shape a finding speaks of."""
    return shape_of(finding) if finding else None


def tested_shapes(record: Record) -> list[Shape]:
    """The shapes any finding about any variant speaks of, each once, in order of appearance."""
    shapes: list[Shape] = []
    for finding in (one for one in record.findings if one.probe not in NOT_RUN):
        entries = finding.evidence.get("shapes")
        values = (
            [entry.get("shape") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        )
        found = [sizes(value) for value in (finding.evidence.get("shape"), *values)]
        shapes += [shape for shape in found if shape is not None and shape not in shapes]
    return _once(shapes)


def facts(finding: Finding) -> tuple[tuple[str, str], ...]:
    """The evidence as label and value: long lists cut to the entries that failed, without what stands ELSEWHERE."""
    told: list[tuple[str, str]] = [
        (quantities.label(key), _told(value))
        for key, value in finding.evidence.items()
        if key not in ("map", "log", "sizes")
    ]
    if finding.line is not None:
        told.append((say("source line"), quantities.number(finding.line)))
    if finding.shape is not None and "shape" not in finding.evidence:
        told.append((quantities.label("shape"), quantities.shape(finding.shape)))
    if finding.device is not None:
        told.append((say("device"), finding.device))
    if finding.confirmed is not None:
        told.append((say("seen again in a second build"), quantities.anything(finding.confirmed)))
    return tuple((name, text) for name, text in told if text)


def _told(value: JsonValue) -> str:
    if not isinstance(value, list) or not any(isinstance(entry, dict) for entry in value):
        return quantities.anything(value)
    failed = [entry for entry in value if isinstance(entry, dict) and entry.get("right") is False]
    shown = (failed or value)[:SHOWN_ENTRIES]
    entries = listed("; ", (quantities.anything(entry) for entry in shown))
    if failed:
        text = "{count} of {all} not right, such as {entries}"
        return say(text, count=f"{len(failed):,}", all=f"{len(value):,}", entries=entries)
    left = len(value) - len(shown)
    return say("{entries}; and {count} more", entries=entries, count=f"{left:,}") if left else entries


def sizes(value: JsonValue) -> Shape | None:
    """Named sizes of the evidence; None where it is something else."""
    if not isinstance(value, dict):
        return None
    sizes = {name: count for name, count in value.items() if isinstance(count, int) and count > 0}
    return sizes if sizes and len(sizes) == len(value) else None


def _once(shapes: list[Shape]) -> list[Shape]:
    return [shape for place, shape in enumerate(shapes) if shape not in shapes[:place]]
