"""Which kernels does a call run: those of the source, or only a library's?

On a GPU torch's profiler tells, with each kernel's share of the GPU time; the emulated device lists its launches, and
only those of the source. A source whose kernels never run is not what produced the result, nor is a `.cu` that launches
none at all. A `.py` made of a library's operators may be declared as that: there it is a hint.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from audit.build.python_source import PythonSource
from audit.errors import Unsupported
from audit.model import Finding, Grade
from audit.probes.answer import answer
from audit.probes.called import SessionBroken
from audit.probes.target import Target
from audit.review.cuda_source import parse

NAME = "kernels_ran"
MECHANISMS = ("decoy launch", "silent fallback", "library laundering")
NAME_CHARACTERS = 160
LAUNCH = re.compile(r"<<<|__global__|Launch\w*Kernel|LaunchKernel|#\s*include\s*\"")
"""What a text holds that may launch a kernel: by syntax, by a call of the driver or runtime, or in a file beside it."""
INTERPRETER_FAILED = "interpreter-failed"
"""A Triton kernel the interpreter cannot run may well run on a GPU: what stands in for it here tells nothing."""


def run(target: Target) -> Finding:
    """One call at the largest case."""
    case = target.largest
    (call,) = target.session(["claim"], cases=[case], memory=target.built.traced_memory)
    if call.raised is not None:
        raise SessionBroken(f"the call raised {call.raised}")
    for report in call.reports:
        if report["kind"] == INTERPRETER_FAILED:
            raise Unsupported(f"{report['kernel']}: {report['message']}", line=report["line"] or 0)
    source = target.reference.parent / target.variant.file
    own = own_kernels(source)
    ran = [launch for launch in call.launches if not launch["refused"]]
    mine = [launch for launch in ran if is_one_of(launch["kernel"], own)]
    evidence: dict[str, JsonValue] = {
        "shape": dict(case.shape),
        "kernels_in_source": list(own),
        "launches": table(ran, own),
        "own_share": own_share(ran, own),
    }
    if mine:
        text = f"{case.label}: {len(mine)} of {len(ran)} launches are of the source's own kernels{_share(evidence)}"
        return answer(NAME, target, "pass", text, evidence=evidence)
    if own and call.event["returned"] == "Tensor":
        text = f"{case.label}: none of the source's kernels ran ({', '.join(own)}); {len(ran)} launches of others did"
        return answer(NAME, target, "fail", text, evidence=evidence)
    worked = f"{len(ran)} launches of a library's" if ran else "a library"
    text = f"{case.label}: the source has no kernel of its own; {worked} did the work"
    grade: Grade = "proved" if launches_nothing(source) else "hint"
    return answer(NAME, target, "fail", text, grade=grade, evidence=evidence)


def own_kernels(source: Path) -> list[str]:
    """The names of the kernels in a source, sorted: of a `.py`, those under `triton.jit` and in its CUDA texts."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".py":
        return sorted({*PythonSource(text).own_kernels})
    return sorted({function.name for function in parse(text).functions if function.kind == "kernel"})


def launches_nothing(source: Path) -> bool:
    """Whether a `.cu` has nowhere in its text, macros included, a way to launch a kernel; a `.py` is never said to."""
    return source.suffix == ".cu" and not LAUNCH.search(source.read_text(encoding="utf-8"))


def is_one_of(kernel: str, names: list[str]) -> bool:
    """Whether a kernel as a device names it, `void ns::k<float, 256>(float*)` or `k<T>`, is one of those functions."""
    return any(re.search(rf"(?<![\w]){re.escape(name)}\s*(?:[<(]|$)", kernel) for name in names)


def own_share(ran: list[dict[str, Any]], names: list[str]) -> float | None:
    """The share of GPU time, 0 to 1, in the source's own kernels; None where the device tells no times."""
    spent = [(launch.get("microseconds"), is_one_of(launch["kernel"], names)) for launch in ran]
    known = [(time, own) for time, own in spent if time is not None]
    total = sum(time for time, _ in known)
    return round(sum(time for time, own in known if own) / total, 4) if total > 0 else None


def table(ran: list[dict[str, Any]], names: list[str]) -> list[JsonValue]:
    """One row a launch: what it was, its geometry, and on a GPU registers, stream and time."""
    keys = ("grid", "block", "registers", "stream", "microseconds")
    return [
        {
            "kernel": launch["kernel"][:NAME_CHARACTERS],
            "own": is_one_of(launch["kernel"], names),
            **{key: launch[key] for key in keys if key in launch},
        }
        for launch in ran
    ]


def _share(evidence: dict[str, JsonValue]) -> str:
    share = evidence["own_share"]
    return f", {100 * share:.1f} % of the GPU time" if isinstance(share, float) else ""
