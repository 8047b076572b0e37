"""The claimed shape on a device that cannot run it: its launches, and the writes of a few blocks.

The emulated device runs a source's host code at any size, on memory that it only reserves, and checks every launch
against a GPU's limits. It can also run a few blocks of a large grid, and records which bytes they wrote.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from audit.build.settings import EmulatedPythonSettings, EmulatedSettings
from audit.claims.shapes.counting import MOST_WORK, Scope
from audit.model import Shape
from audit.model.errors import Unsupported
from audit.probes.concluding.answer import label
from audit.probes.concluding.own_kernels import own_kernels, refused_by_torch
from audit.probes.observing.called import Call, Mode, ProtocolViolated, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.references import References
from audit.probes.observing.target import Target
from audit.probes.observing.variations import LIMIT_S
from audit.run.messages import requests

DESCRIBED_S = 60.0
"""Seconds for the process that makes arguments without values, or with values where it must."""
RIGHT_S = 30.0
"""Seconds for the inputs and the float64 result of the claimed shape."""
OWN = "own"
PLAIN = Mode()
MOST_BYTES = 1 << 30
"""The most bytes of the claimed shape's inputs."""
MOST_BYTES_OF_OTHERS = MOST_BYTES // 4
"""The most bytes of inputs for which other inputs are asked too: each set needs several right results."""
MOST_BYTES_OF_DISTRIBUTIONS = MOST_BYTES // 16
"""The same for a distribution, each of which a process of its own makes: 256 MiB took it over 30 s."""


@dataclass(frozen=True)
class Launched:
    """The launches of a call at a shape; `raised` is an exception of its host code, `tensors` whether it returned
    nothing but tensors: another result may launch later, when it is read."""

    shape: Shape
    raised: str | None
    launches: list[dict[str, Any]]
    reports: list[dict[str, Any]]
    tensors: bool = True

    @property
    def refused(self) -> dict[str, Any] | None:
        """The first launch that a GPU refuses."""
        return next((launch for launch in self.launches if launch["refused"]), None)


Arguments = tuple[Shape, Path]
"""A shape and a file of its arguments."""


class Described(NamedTuple):
    """A shape's arguments without values, the bytes of those with values, and whether all are fractions."""

    arguments: Arguments
    bytes: int
    fractions: bool


@dataclass
class _Known:
    """The arguments and cases that all variants of an audit on one device share."""

    described: dict[str, Described | str] = field(default_factory=dict)
    cases: dict[str, dict[str, Case] | str] = field(default_factory=dict)
    launched: dict[tuple[str, str, str], Launched] = field(default_factory=dict)
    slow: set[tuple[str, str]] = field(default_factory=set)
    work: dict[str, int | None] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


REFUSED = "triton-refused"
"""The report of a kernel that Triton's compiler refuses, see `run.devices.triton.compiled`."""
NO_MEMORY = re.compile(r"\bbad_alloc\b|\bout\sof\smemory\b|\ballocate\smemory\b")
_known: WeakKeyDictionary[References, _Known] = WeakKeyDictionary()
_lock = Lock()


def needed(target: Target) -> Shape:
    """Return the claimed shape. Raises Unsupported: the device runs that shape itself, cannot run host code without
    kernels, or there are no kernels."""
    claimed = target.claim.shapes.claimed
    if target.built.tensor_device == "cuda" or any(case.shape == claimed for case in target.cases):
        raise Unsupported("launches at the claimed shape apart from a run: this device runs it")
    source = target.reference.parent / target.variant.file
    if source.suffix == ".py" and (not own_kernels(source) or refused_by_torch(source)):
        raise Unsupported("launches at the claimed shape of a source that runs no kernel of its own")
    return claimed


def only_tensors(returned: str) -> bool:
    """Return whether a result is one tensor or several, by its type in words."""
    return returned == "Tensor" or returned.endswith(" tensors")


def launched(target: Target, shapes: Sequence[Shape]) -> list[Launched]:
    """Return the launches at each shape; host code alone is run, once a build and shape, in one process. Raises
    Unsupported: the arguments of such sizes cannot be made, a launch needs a newer GPU, or the host code takes too
    long, for instance in a library. Raises SessionBroken: the host code did not return."""
    known = _of(target).launched
    keys = [(target.variant.name, target.built.note.optimisation, str(shape)) for shape in shapes]
    new = [pair for pair in zip(keys, shapes, strict=True) if pair[0] not in known]
    if new:
        asked = [one.arguments for one in _described(target, [shape for _, shape in new])]
        for (key, shape), (event, _) in zip(new, _asked(target, asked, {"blocks": 0}), strict=True):
            tensors = only_tensors(event["returned"])
            known[key] = Launched(shape, event["raised"], event["launches"], event["reports"], tensors)
    for one in (found := [known[key] for key in keys]):
        newer = next((report for report in one.reports if report["kind"] == "needs-newer-gpu"), None)
        if newer is not None:
            raise Unsupported(f"a launch of this size: {newer['message']}", line=newer["line"] or 0)
    return found


def compiled(target: Target, shape: Shape, *, compute_capability: int) -> tuple[list[dict[str, Any]], str | None]:
    """Return Triton's refusals of launched kernels, as reports, and the call's exception. Raises as `launched`."""
    (made,) = _described(target, [shape])
    if not made.fractions and shape != target.largest.shape:
        raise Unsupported("kernels whose sizes may follow from indices, and there are none")
    asked = [made.arguments if made.fractions else (shape, target.largest.inputs)]
    drawn = {"blocks": 0, "compute_capability": compute_capability, "compiles": True}
    ((event, _),) = _asked(target, asked, drawn, described=made.fractions)
    return [one for one in event["reports"] if one["kind"] == REFUSED], event["raised"]


def shares_results(target: Target, calls: int) -> bool:
    """Return whether two of `calls` calls at the claimed shape return the same memory. Raises as `launched`."""
    asked = [one.arguments for one in _described(target, [needed(target)])]
    ((event, _),) = _asked(target, asked, {"blocks": 0}, calls=calls)
    return bool(event["shared"])


def parts(
    target: Target, case: Case, mode: Mode, *, blocks: int, sparing: bool = False, most_s: float | None = None
) -> tuple[dict[str, Any], Call]:
    """Call with `blocks` blocks of each large launch, where `sparing` of each; return the event and the output, see
    `run.sessions.launches`. `most_s` replaces the limit of a launch in processor time."""
    drawn: dict[str, float] = {"blocks": blocks, "sparing": sparing, "seed": case.seed}
    if most_s is not None:
        drawn["kernel_seconds"] = most_s
    ((event, folder),) = _asked(target, [(case.shape, case.inputs)], drawn, mode=mode)
    return event, Call(event, folder / "0.bin", target.violations)


def without_values(target: Target, *, blocks: int, most_s: float) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Call with `blocks` blocks of each launch, at the largest shape asked and at the claimed one, on memory that is
    reserved and holds zeros. Return both events; None where inputs of the claimed size can be made, or numbers among
    them that are no fractions may be indices. Raises as `launched`."""
    asked, claimed = _described(target, [target.largest.shape, target.claim.shapes.claimed])
    if claimed.bytes <= MOST_BYTES or not claimed.fractions:
        return None
    drawn = {"blocks": blocks, "sparing": True, "seed": target.seed, "kernel_seconds": most_s}
    (smaller, _), (event, _) = _asked(target, [asked.arguments, claimed.arguments], drawn, described=True)
    return smaller, event


def cases_of(target: Target, *, distribution: str | None = None) -> dict[str, Case]:
    """Return the claimed shape's cases, made once an audit: `own`, and `other_inputs.OTHERS` or a distribution.
    Raises Unsupported: the inputs are too large, or the result takes too long."""
    shape = target.claim.shapes.claimed
    if (size := _described(target, [shape])[0].bytes) > (MOST_BYTES_OF_DISTRIBUTIONS if distribution else MOST_BYTES):
        raise Unsupported(f"inputs of {size:,} bytes, which the claimed shape has")
    return made_once(target, shape, distribution, others=size <= MOST_BYTES_OF_OTHERS, scope="claimed")


def weighed(target: Target, shapes: Sequence[Shape]) -> list[int | None]:
    """Return the work of a call of an imported task at shapes in descending order, asked once an audit; None where it
    is unknown or far above `counting.MOST_WORK`."""
    known = _of(target)
    with known.lock:
        if any(str(shape) not in known.work for shape in shapes):
            request = requests.Work(reference=target.reference, shapes=tuple(shapes), most=MOST_WORK)
            reply = target.workers.call(request, limit_s=LIMIT_S)
            found = [event["work"] for event in reversed(reply.events)] if reply.finished else [None] * len(shapes)
            known.work |= zip(map(str, shapes), found, strict=True)
        return [known.work[str(shape)] for shape in shapes]


def made_once(target: Target, shape: Shape, distribution: str | None, *, others: bool, scope: Scope) -> dict[str, Case]:
    """Return the cases of that shape, made once an audit, as `cases_of`."""
    known = _of(target)
    with known.lock:
        if (key := f"{shape} {scope} {distribution}") not in known.cases:
            known.cases[key] = _cases(target, shape, distribution=distribution, others=others, scope=scope)
        found = known.cases[key]
    if isinstance(found, str):
        raise Unsupported(found)
    return found


def _cases(
    target: Target, shape: Shape, *, distribution: str | None, others: bool, scope: Scope
) -> dict[str, Case] | str:
    folder = Path(tempfile.mkdtemp(prefix="claimed-", dir=target.folder))
    request = requests.Cases(
        reference=target.reference,
        shapes=(shape,),
        seeds=(target.seed,),
        cost_shape=shape,
        folder=folder,
        device="cpu",
        others=target.claim.tolerance.relative if others else None,
        distribution=distribution,
    )
    reply = target.workers.call(request, limit_s=RIGHT_S)
    if not (events := reply.events[1:]):
        return f"the right result at {label(shape)}: {reply.ending}: {reply.detail}"
    found = {}
    for event in events:
        other = event.get("other")
        file = folder / (f"0.{other}.inputs.pt" if other else "0.inputs.pt")
        found[other or OWN] = Case.made(reply, event, shape=shape, inputs=file, scope=scope)
    return found


def _described(target: Target, shapes: Sequence[Shape]) -> list[Described]:
    """Return the arguments of each shape without values."""
    known = _of(target)
    with known.lock:
        if new := [shape for shape in shapes if str(shape) not in known.described]:
            folder = Path(tempfile.mkdtemp(prefix="described-", dir=target.folder))
            request = requests.Described(reference=target.reference, shapes=tuple(new), folder=folder)
            reply = target.workers.call(request, limit_s=DESCRIBED_S)
            ended: dict[str, Any] = {"raised": f"{reply.ending}: {reply.detail}", "bytes": 0, "fractions": False}
            for index, shape in enumerate(new):
                result = reply.events[index] if reply.finished else ended
                made = Described((shape, folder / f"{index}.described.pt"), result["bytes"], result["fractions"])
                known.described[str(shape)] = result["raised"] or made
        found = [known.described[str(shape)] for shape in shapes]
    if raised := next((one for one in found if isinstance(one, str)), None):
        raise Unsupported(f"arguments of that size: {raised}")
    return [one for one in found if not isinstance(one, str)]


def _of(target: Target) -> _Known:
    with _lock:
        return _known.setdefault(target.references, _Known())


def _asked(
    target: Target, arguments: Sequence[Arguments], drawn: Mapping[str, float], **how: Any
) -> list[tuple[dict[str, Any], Path]]:
    """Return an event for each file with the folder of its outputs, from one process for all that share a module."""
    runs = groupby(arguments, key=lambda one: [one[0].get(name) for name in target.claim.shapes.module])
    return [found for _, run in runs for found in _of_one_module(target, [*run], drawn, **how)]


def _of_one_module(
    target: Target,
    arguments: Sequence[Arguments],
    drawn: Mapping[str, float],
    *,
    mode: Mode = PLAIN,
    calls: int = 1,
    described: bool = False,
) -> list[tuple[dict[str, Any], Path]]:
    """Return the events of one process, each with the folder of its outputs."""
    known, limit_s, files = _of(target), target.built.limit_s, [file for _, file in arguments]
    late, asked = f"a call of that size within {limit_s:g} s", [(target.variant.name, str(file)) for file in files]
    if not known.slow.isdisjoint(asked):
        raise Unsupported(late)
    folder = Path(tempfile.mkdtemp(prefix=f"{target.variant.name}-", dir=target.folder))
    settings = target.settings(mode, arguments[0][0])
    assert isinstance(settings, EmulatedSettings | EmulatedPythonSettings)  # `needed` refuses a GPU
    request = requests.Launches(
        device=settings.model_copy(update={"configuration": settings.configuration.model_copy(update=drawn)}),
        entry=target.claim.entry_of(target.variant),
        harness=target.claim.harness,
        inputs=tuple(files),
        folder=folder,
        calls=calls,
        described=described,
    )
    reply = target.workers.call(request, limit_s=limit_s)
    if reply.ending == "protocol violation":
        target.violations.append(reply.detail)
        raise ProtocolViolated(f"protocol violation: {reply.detail}")
    if reply.ending == "timed out":
        known.slow.add(asked[min(len(reply.events), len(asked) - 1)])
        raise Unsupported(late)
    if not reply.finished and NO_MEMORY.search(reply.detail):
        raise SessionBroken("a call of that size needs more memory than this machine has")
    if not reply.finished:
        raise SessionBroken(f"{reply.ending} after {len(reply.events)} of {len(files)} shapes: {reply.detail}")
    return [(event, folder) for event in reply.events]
