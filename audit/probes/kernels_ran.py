"""Which kernels does a call run: those of the source, or only a library's?

A kernel is the source's own if the source names it or the compiled library defines it, however it is launched: by a
variable, a table, a helper, a macro, `cudaLaunchKernel`, or a template of CUB or Thrust that the source instantiates.
On a GPU torch's profiler lists the kernels with their share of the GPU time; the emulated device lists the launches of
the source, and operators of a library launch none there.

A source did not produce the result if its kernels never run, if it is a `.cu` without launches, or if its results are
right at every shape though the emulated device runs no block of them, also at inputs that tell a trivial result apart.
Kernels of a library that take a tenth of the GPU time are a hint: a source may leave part of the work to a library. A
`.py` made of a library's operators is a hint too: it may be declared as such. Where the claimed shape is too large to
run, the launches of its host code decide, with the inputs of that shape where a smaller one does launch the source's
kernels; and where the claim speaks of none of the smaller shapes, one call there without blocks. Where these are
unknown and the source compares sizes with numbers, a call at a smaller shape gives a hint; so does a claim without a
ratio that uses its own kernels at others of its shapes. An extension that torch
cannot build runs at no shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from pydantic import JsonValue

from audit.build.settings import NO_BLOCKS
from audit.model import Shape
from audit.model.errors import AuditError, Unsupported
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.concluding.own_kernels import is_one_of, launches_nothing, own_kernels, refused_by_torch, sizes_decide
from audit.probes.observing import claimed_shape
from audit.probes.observing.battery import trusted
from audit.probes.observing.block_calls import BLOCKS
from audit.probes.observing.called import Mode, SessionBroken
from audit.probes.observing.cases import Case, Need
from audit.probes.observing.target import Target
from audit.probes.observing.variations import DISCRIMINATING, wanted

NAME = "kernels_ran"
NAME_CHARACTERS = 160
MOST = 0.9
"""The share of the GPU time below which a library's kernels did a part of the work; fills and copies do not count."""
MOVES_MEMORY = re.compile(r"fill|copy|memset|memcpy", re.IGNORECASE)
INTERPRETER_FAILED = "interpreter-failed"
"""A Triton kernel that the interpreter cannot run may run on a GPU, so nothing follows."""


def traced(target: Target) -> Mode:
    """Return the mode in which a call lists its kernels."""
    return Mode(target.built.traced_memory)


def without_blocks(target: Target) -> Mode | None:
    """Return the mode in which a launch runs no block, in a session of its own, since a result cached from an earlier
    call would be right; None where there is none."""
    if target.is_reference or not (target.built.tensor_device == "cpu" and target.built.checks_accesses):
        return None
    return Mode(target.built.nan_memory, NO_BLOCKS)


def needs(target: Target) -> Iterator[Need]:
    """Yield the largest case, traced."""
    yield traced(target), target.largest


def observe(target: Target) -> Observed:
    """Look at the calls; where no kernel of the source runs and no ratio is stated, at the claim's other shapes too."""
    named = (seen := _seen(target))["kernels_in_source"]
    others = target.claim.shapes.others and not target.claim.speedup and "right_without_kernels" not in seen
    if named and others and conclude(seen).outcome == "fail":
        return seen | _own_elsewhere(target, named)
    return seen


def _seen(target: Target) -> Observed:
    """List the kernels of one call at the largest case; where the source has kernels, call every case without them."""
    case = target.largest
    call = target.call(case, traced(target))
    if call.raised is not None:
        raise SessionBroken(f"the call raised {call.raised}")
    for report in call.reports:
        if report["kind"] == INTERPRETER_FAILED:
            raise Unsupported(f"{report['kernel']}: {report['message']}", line=report["line"] or 0)
    source = target.reference.parent / target.variant.file
    named = own_kernels(source)
    ran = [launch for launch in call.launches if not launch["refused"]]
    own = [_is_own(target, named, launch) for launch in ran]
    seen: Observed = {
        "shape": dict(case.shape),
        "kernels_in_source": list(named),
        "launches": table(ran, own),
        "own_share": own_share(ran, own),
    }
    if tuned := call.event.get("tuned"):
        seen |= {"tuned": tuned, "timed": target.built.tensor_device == "cuda"}
    if any(own):
        if _right_without(target, target.cases) and _right_without(target, _telling(target)):
            return seen | {"right_without_kernels": True} | _without_at_the_claimed_shape(target)
        there = _at_the_claimed_shape(target, named)
        own_there = there is None or there["own_there"] or _own_with_values(target, named)
        return seen if there is None or own_there else seen | there
    if named and (there := _at_the_claimed_shape(target, named)) is not None:
        return seen | there
    refused = refused_by_torch(source)
    elsewhere = not refused and dict(case.shape) != dict(target.claim.shapes.claimed) and sizes_decide(source)
    return seen | {
        "returned": call.event["returned"],
        "refused_by_torch": refused,
        "sizes_decide": elsewhere,
        "launches_nothing": launches_nothing(source),
    }


def conclude(seen: Observed) -> Answer:
    """Pass where the kernels that ran are the source's own."""
    shape, ran = label(seen["shape"]), len(seen["launches"])
    own = sum(launch["own"] for launch in seen["launches"])
    if not own or "own_at" in seen:
        return _at_claimed(seen, shape) if {"own_there", "own_at"} & seen.keys() else _of_others(seen, shape, ran)
    if "own_there" in seen:
        claimed, names = seen["claimed_shape"], ", ".join(seen["kernels_in_source"])
        text = f"{label(claimed)}, the claimed shape: the host code launches none of the source's kernels ({names})"
        return failed(f"{text}; at {shape}, which was run, {own} of {ran} launches are theirs", shape=claimed)
    if "right_without_kernels" in seen:
        text = f"{shape}: right at every shape without its own launches ({own}); a library did the work"
        if (claimed := seen.get("right_without_at")) is None:
            return failed(text)
        there = f"{label(claimed)}, the claimed shape: right without the source's own launches"
        return failed(f"{there}; so at {shape} ({own}); a library did the work", shape=claimed)
    share = seen["own_share"]
    text = f"{shape}: launches of the source's own kernels: {own} of {ran}{_share(share)}"
    if share is not None and share < MOST:
        return failed(f"{text}; a library's took the rest", "hint")
    return passed("; ".join([text, *_tuned(seen)]))


def _tuned(seen: Observed) -> Iterator[str]:
    """Yield the configuration of each function under `triton.autotune`."""
    for one in seen.get("tuned", ()):
        kernel, configuration, count = one["kernel"], one["configuration"], one["of"]
        if seen["timed"]:
            yield f"{kernel}: tuned to {configuration}, of {count} configurations"
        else:
            yield f"{kernel}: run with {configuration}, the first of {count} configurations, not tuned"


def _at_claimed(seen: Observed, shape: str) -> Answer:
    """Return the answer where none of the source's kernels ran, by the launches at shapes that the claim states."""
    names = ", ".join(seen["kernels_in_source"])
    if "own_at" in seen:
        at = label(seen["claimed_shape"]) if "claimed_shape" in seen else shape
        text = f"{at}: the host code launches none of the source's kernels ({names}); it does at"
        return failed(f"{text} {label(seen['own_at'])}, which the claim states too", "hint")
    own, launches, claimed = seen["own_there"], seen["launches_at_claimed_shape"], seen["claimed_shape"]
    there = f"{label(claimed)}, the claimed shape: "
    if own:
        return passed(f"{shape}: none of the source's kernels ran; {there}{own} of {launches} do")
    text = f"{there}the host code launches none of the source's kernels ({names}), nor at {shape}, which was run"
    return failed(text, shape=claimed)


def _of_others(seen: Observed, shape: str, ran: int) -> Answer:
    """Return the answer where none of the source's kernels ran, and the claimed shape is unknown."""
    named, refused = seen["kernels_in_source"], seen["refused_by_torch"]
    if named and claimed_shape.only_tensors(seen["returned"]):
        text = f"{shape}: none of the source's kernels ran ({', '.join(named)}); launches of others: {ran}"
        text += "; they may run at the claimed shape, since the source compares sizes" if seen["sizes_decide"] else ""
        text += f"; {refused}" if refused else ""
        return failed(text, "hint" if seen["sizes_decide"] else "proved", anywhere=bool(refused))
    worked = f"{ran} launches of a library's" if ran else "a library"
    text = f"{shape}: the source has no kernel of its own; {worked} did the work"
    nothing = seen["launches_nothing"]
    return failed(text, "proved" if nothing else "hint", anywhere=nothing)


def _right_without(target: Target, cases: Sequence[Case]) -> bool:
    """Return whether every result is right though no launch runs a block: no kernel of the source made it."""
    mode = without_blocks(target)
    if mode is None:
        return False
    try:
        calls = target.calls(cases, mode)
        return all(target.compared(call, case).right for call, case in zip(calls, cases, strict=True))
    except AuditError:
        return False


def _telling(target: Target) -> list[Case]:
    """Return cases whose result is no trivial one, as memory that the host code has filled may hold."""
    with suppress(AuditError):
        return [one.case for one in trusted(target, wanted(target).middle) if one.group == DISCRIMINATING]
    return []


def _without_at_the_claimed_shape(target: Target) -> Observed:
    """Return the claimed shape if the claim speaks of no other that was asked and the result is right there too."""
    if any(case.counts for case in target.cases):
        return {}
    try:
        shape = claimed_shape.needed(target)
        case = claimed_shape.cases_of(target)[claimed_shape.OWN]
    except AuditError:
        return {}
    return {"right_without_at": dict(shape)} if _right_without(target, [case]) else {}


def _at_the_claimed_shape(target: Target, names: list[str]) -> Observed | None:
    """Return the evidence about launches of the host code at the claimed shape, if known."""
    try:
        (found,) = claimed_shape.launched(target, [claimed_shape.needed(target)])
    except AuditError:
        return None
    if found.raised is not None or found.refused is not None or not found.tensors:
        return None
    own = sum(_is_own(target, names, one) for one in found.launches)
    claimed = dict(target.claim.shapes.claimed)
    return {"launches_at_claimed_shape": len(found.launches), "own_there": own, "claimed_shape": claimed}


def _own_elsewhere(target: Target, names: list[str]) -> Observed:
    """Return the first other shape that the claim states at which a kernel of the source is launched, if any."""
    others = [dict(shape) for shape in target.claim.shapes.others]
    cases = [case for case in target.cases if dict(case.shape) in others]
    found: list[tuple[Shape, list[dict[str, Any]]]] = []
    with suppress(AuditError):
        calls = target.calls(cases, traced(target))
        found += [(case.shape, call.launches) for case, call in zip(cases, calls, strict=True)]
        claimed_shape.needed(target)
        found += [(one.shape, one.launches) for one in claimed_shape.launched(target, others)]
    own = (shape for shape, launches in found if any(_is_own(target, names, one) for one in launches))
    return {"own_at": dict(shape)} if (shape := next(own, None)) else {}


def _own_with_values(target: Target, names: list[str]) -> bool:
    """Return whether the source's kernels are launched for the claimed shape's own inputs, whose values may decide;
    True where that is unknown."""
    try:
        case = claimed_shape.cases_of(target)[claimed_shape.OWN]
        event, _ = claimed_shape.parts(target, case, Mode(), blocks=BLOCKS)
    except AuditError:
        return True
    return event["raised"] is not None or any(_is_own(target, names, one) for one in event["launches"])


def _is_own(target: Target, names: list[str], launch: dict[str, Any]) -> bool:
    return is_one_of(launch["kernel"], names) or target.built.defines(launch["kernel"])


def own_share(ran: list[dict[str, Any]], own: list[bool]) -> float | None:
    """Return the share of GPU time, 0 to 1, in the source's own kernels, without a library's fills and copies; None
    where the device has no times."""
    counted = [pair for pair in zip(ran, own, strict=True) if pair[1] or not MOVES_MEMORY.search(pair[0]["kernel"])]
    spent = [(launch.get("microseconds"), mine) for launch, mine in counted]
    known = [(time, mine) for time, mine in spent if time is not None]
    total = sum(time for time, _ in known)
    return round(sum(time for time, mine in known if mine) / total, 4) if total > 0 else None


def table(ran: list[dict[str, Any]], own: list[bool]) -> list[JsonValue]:
    """Return one row a launch: its kernel, its geometry, and on a GPU registers, stream and time."""
    keys = ("grid", "block", "registers", "stream", "microseconds")
    return [
        {"kernel": one["kernel"][:NAME_CHARACTERS], "own": mine, **{key: one[key] for key in keys if key in one}}
        for one, mine in zip(ran, own, strict=True)
    ]


def _share(share: float | None) -> str:
    return "" if share is None else f", {100 * share:.1f} % of the GPU time"
