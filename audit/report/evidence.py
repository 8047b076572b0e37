"""Reading findings: which there are, and the numbers in their evidence, whatever its form."""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding, Record, Shape
from audit.reconcile import deciding
from audit.report import quantities

SHOWN_ENTRIES = 2
PROBES = {
    "floor": "Published time against the hardware floor",
    "build": "Build",
    "review": "Source review",
    "contract": "Shape, type and device of the result",
    "agreement": "Agreement with a float64 oracle",
    "order": "Both execution orders",
    "coverage": "Write coverage",
    "inherited": "Inherited memory",
    "inputs_intact": "Inputs left intact",
    "memory_access": "Memory access",
    "launch_geometry": "Launch geometry against index use",
    "kernels_ran": "Kernels that really ran",
    "fresh_values": "Other values at the same addresses",
    "repeat": "Repeated calls",
    "dead_inputs": "Inputs that change nothing",
    "distributions": "Other distributions of the inputs",
    "precision": "Effective bits",
    "alias": "Result apart from the inputs",
    "late_writes": "Writes after the call",
    "current_stream": "The caller's stream",
    "layout": "Inputs as views",
    "nonfinite": "NaN and infinity in the inputs",
    "threads": "Threads and child processes",
    "backend_flags": "Global switches of torch",
    "first_call": "Work of the first call",
    "untouched_process": "Clocks and checks left as they were",
    "task": "Can the task tell right from wrong",
    "builds_agree": "Fast build against published build",
    "oldest_code": "Code for the oldest GPU",
    "clocks": "Clocks during the timings",
    "timing": "Timing",
    "timed_outputs": "Outputs of timed calls",
    "same_twice": "One callable timed twice",
    "l2_flush": "Cold against hot cache",
    "order_effect": "Effect of the order in a block",
    "floor_here": "Hardware floor of the GPU at hand",
}


def title(probe: str) -> str:
    """A probe's name for readers; a rule of the source review says so, an unknown probe keeps its own name."""
    rule = probe.removeprefix("review.")
    return PROBES.get(probe, probe if rule == probe else f"Source review: {rule.replace('_', ' ')}")


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
    """What shows that the task itself cannot tell right from wrong."""
    return [one for one in deciding(one for one in record.findings if one.probe == "task") if one.convicts]


def proved(record: Record) -> set[str]:
    """The questions that the claimed kernel was proved to fail."""
    about = deciding(finding for finding in record.findings if finding.target == claimed_name(record))
    return {finding.probe for finding in about if finding.convicts}


def find(record: Record, probe: str, target: str | None) -> Finding | None:
    """The last deciding finding of a probe about a target."""
    about = deciding(finding for finding in record.findings if finding.target == target)
    return next((one for one in reversed(about) if one.probe == probe), None)


def real(finding: Finding | None, key: str) -> float | None:
    """A number of the evidence; None where it is absent or something else."""
    value = finding.evidence.get(key) if finding else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def claimed_ratio(record: Record, gpu: str) -> str:
    """The ratio published for a GPU, with "about" where it is rounded."""
    stated = [one for one in record.claim.statement.speedup if one.gpu == gpu]
    return quantities.ratio(stated[0].ratio, about=stated[0].about) if stated else quantities.NOT_PUBLISHED


def size(finding: Finding | None) -> Shape | None:
    """The shape a finding speaks of."""
    value = finding.evidence.get("shape") if finding else None
    return _shape(value)


def tested_shapes(record: Record) -> list[Shape]:
    """The shapes any finding about any variant speaks of, each once, in order of appearance."""
    shapes: list[Shape] = []
    for finding in record.findings:
        entries = finding.evidence.get("shapes")
        values = (
            [entry.get("shape") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        )
        found = [_shape(value) for value in (finding.evidence.get("shape"), *values)]
        shapes += [shape for shape in found if shape is not None and shape not in shapes]
    return _once(shapes)


def facts(finding: Finding) -> tuple[tuple[str, str], ...]:
    """The evidence as label and value: long lists cut to the entries that failed, maps left to the figures."""
    told = [
        (quantities.label(key), _told(value)) for key, value in finding.evidence.items() if key not in ("map", "log")
    ]
    if finding.line is not None:
        told.append(("source line", quantities.number(finding.line)))
    if finding.device is not None:
        told.append(("device", finding.device))
    if finding.confirmed is not None:
        told.append(("seen again in a second build", quantities.anything(finding.confirmed)))
    return tuple((name, text) for name, text in told if text)


def _told(value: JsonValue) -> str:
    if not isinstance(value, list) or not any(isinstance(entry, dict) for entry in value):
        return quantities.anything(value)
    failed = [entry for entry in value if isinstance(entry, dict) and entry.get("right") is False]
    shown = (failed or value)[:SHOWN_ENTRIES]
    count = f"{len(failed):,} of {len(value):,} not right, such as " if failed else ""
    left = "" if failed or len(shown) == len(value) else f"; and {len(value) - len(shown):,} more"
    return count + "; ".join(quantities.anything(entry) for entry in shown) + left


def _shape(value: JsonValue) -> Shape | None:
    if not isinstance(value, dict):
        return None
    sizes = {name: count for name, count in value.items() if isinstance(count, int) and count > 0}
    return sizes if sizes and len(sizes) == len(value) else None


def _once(shapes: list[Shape]) -> list[Shape]:
    return [shape for place, shape in enumerate(shapes) if shape not in shapes[:place]]
