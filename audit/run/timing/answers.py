"""Compare the result of every timed call with the right result for its contents.

The comparison is queued on the device after the call, outside the timed events; the block ends before the host waits
for it. The right result comes from the reference in the baseline's own precision, so two right results may differ by
twice the tolerance and by the reference's own error.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median
from types import ModuleType
from typing import Any

import torch

from audit.model import Harness
from audit.run.calls import correctness
from audit.run.calls.outputs import packed
from audit.run.inputs.ties import REFUSED
from audit.run.messages.timing_requests import Interleaved
from audit.run.timing.callables import on_gpu
from audit.run.timing.contents import Content, Contents
from audit.run.timing.stopwatch import synchronize

SLACK = 4.0
"""The number of tolerances by which two right results may differ. A cached result is off by hundreds."""
LEAST_SHARE, LEAST_SHARE_OF_WHOLE = 1e-3, 1e-2
"""A call is wrong where more than this share of its elements is: right results of step functions may differ in a few
elements, and right whole numbers, such as the index of a maximum, in more."""
LEAST_NEED = 1e-5
"""The tolerance that a reference may always need at a mixture."""

_stack, _cpu, _detach = torch.stack, torch.Tensor.cpu, torch.Tensor.detach
"""Bound here, before claimed code can replace them."""


@dataclass
class Tally:
    """Counts of the timed calls of one callable; `first` is the first wrong call, preferably over drawn contents."""

    calls: int = 0
    wrong: int = 0
    drawn: int = 0
    drawn_wrong: int = 0
    first: dict[str, Any] | None = None

    def add(self, *, block: int, drawn: bool, seen: dict[str, Any] | None) -> None:
        """Count one call; `seen` is its error, None where it is right."""
        wrong = seen is not None
        self.calls, self.wrong = self.calls + 1, self.wrong + wrong
        self.drawn, self.drawn_wrong = self.drawn + drawn, self.drawn_wrong + (drawn and wrong)
        if seen is not None and (self.first is None or (drawn and not self.first["drawn"])):
            self.first = {"block": block, "drawn": drawn, **seen}


class Answers:
    """Compares results of timed calls with the right results of their contents; `relative` returns the tolerance of a
    callable by its name, `need` is what the reference itself needs. Without a `need` nothing is compared."""

    def __init__(self, contents: Contents, relative: Callable[[str], float], *, need: float | None) -> None:
        self._contents, self._relative, self._need = contents, relative, need
        self._dtype = contents.dtype
        self._least = LEAST_SHARE if self._dtype.is_floating_point else LEAST_SHARE_OF_WHOLE
        self._tallies: dict[str, Tally] = {}
        self._queue: list[tuple[str, int, Content, torch.Tensor | str]] = []
        self._apart: list[float] = []

    def limit(self, name: str) -> float:
        """Return the relative tolerance of a timed call's result."""
        held = correctness.held_to(self._relative(name), str(self._dtype).removeprefix("torch."))
        return SLACK * max(held, self._need or 0.0)

    def check(self, name: str, content: Content, result: Any, *, block: int) -> None:
        """Queue the comparison of one result on the device."""
        if self._need is not None:
            self._queue.append((name, block, content, self._compared(name, content, packed(result))))

    def settle(self) -> None:
        """Wait for the queued comparisons and count them."""
        counted = [seen for *_, seen in self._queue if isinstance(seen, torch.Tensor)]
        counts = iter(_cpu(_stack(counted)).tolist() if counted else [])
        for name, block, content, seen in self._queue:
            wrong = {"why": seen} if isinstance(seen, str) else self._wrong(int(next(counts)))
            self._tallies.setdefault(name, Tally()).add(block=block, drawn=content.drawn is not None, seen=wrong)
        self._queue.clear()

    def measure_contrast(self) -> None:
        """Record the share of elements in which the right results of two contents differ by more than the tolerance."""
        for one, other in pairwise(self._contents.batch):
            if one.key != other.key and self._need is not None:
                want, instead = (self._contents.wanted(content) for content in (one, other))
                wrong = compared(instead, want, relative=self.limit(""), scale=one.scale)
                self._apart.append(float(wrong) / max(1, want.numel()))
                return

    def events(self) -> list[dict[str, Any]]:
        """Return one event about the contents, then one a callable."""
        self.settle()
        apart = median(self._apart) if self._apart else None
        about = {"mixed": self._contents.mixes, "told_apart": apart, "slack": SLACK, "need": self._need}
        return [{"contents": about}, *({"answered": name, **vars(tally)} for name, tally in self._tallies.items())]

    def _compared(self, name: str, content: Content, result: Any) -> torch.Tensor | str:
        """Return the number of wrong elements, still on the device, or a text about a result of another kind."""
        if type(result) is not torch.Tensor:
            return f"returned no tensor but {type(result).__name__}"
        if result.numel() != torch.Size(self._contents.shape).numel():
            return f"returned a tensor of shape {list(result.shape)}"
        want = self._contents.wanted(content).to(result.device)
        got = self._contents.part_of(_detach(result))
        return compared(got, want, relative=self.limit(name), scale=content.scale)

    def _wrong(self, elements: int) -> dict[str, Any] | None:
        whole = self._contents.elements
        return {"elements_wrong": elements, "elements": whole} if elements > self._least * whole else None


def compared(got: torch.Tensor, want: torch.Tensor, *, relative: float, scale: float) -> torch.Tensor:
    """Return the number of wrong elements of a vector, as a tensor without dimensions on its device; `scale` is added
    to the size of each element, see `correctness`."""
    wide = torch.float32 if got.dtype in (torch.float16, torch.bfloat16, torch.float32) else torch.float64
    right: torch.Tensor = correctness.right(got.to(wide), want.to(wide), relative=relative, scale=scale)
    return (~right).sum()


def needed_by(reference: ModuleType, contents: Contents) -> float | None:
    """Return the relative tolerance that the reference itself needs at a drawn content; None where there is none.

    Switch mixtures off where the reference needs more at a mixture, or refuses one.
    """
    mixes, contents.mixes = contents.mixes, False
    need = _need(reference, contents, mixed=False)
    if mixes and need is not None:
        contents.mixes = True
        mixed = _need(reference, contents, mixed=True)
        contents.mixes = mixed is not None and mixed <= max(SLACK * need, LEAST_NEED)
    return need


def _need(reference: ModuleType, contents: Contents, *, mixed: bool) -> float | None:
    try:
        contents.renew(2)
        content = next(one for one in contents.batch if (one.drawn is None) == mixed)
        with torch.no_grad():
            contents.write(content, 0)
            want = packed(reference.oracle(*contents.buffer_sets[0])).to(torch.float64)
            contents.write(content, 0)  # the oracle may work in place
            got = packed(reference.reference(*contents.buffer_sets[0]))
            return correctness.needed(got.to(torch.float64), want) if got.shape == want.shape else None
    except (*REFUSED, StopIteration):
        return None


def contents_of(
    request: Interleaved, reference: ModuleType, *, harness: Harness, choice: random.Random
) -> tuple[Contents, Answers]:
    """Return both for an interleaved request, before claimed code is loaded. `choice` draws contents and order."""
    draws = [torch.load(file, weights_only=True) for file in request.inputs]
    free, _ = torch.cuda.mem_get_info()
    place = partial(on_gpu, harness=harness)
    contents = Contents(draws, place, reference.reference, choice=choice, free_bytes=free)
    need = needed_by(reference, contents)
    contents.spend(_milliseconds(reference, contents))
    contents.renew(contents.most)
    stated = {one.name: one.relative for one in request.variants if one.relative is not None}
    by_precision = request.relative

    def relative(name: str) -> float:
        return stated.get(name, by_precision.get(name.rpartition("_")[2], by_precision["fp32"]))

    return contents, Answers(contents, relative, need=need)


def _milliseconds(reference: ModuleType, contents: Contents) -> float:
    """Return the milliseconds of a call of the reference by the host's clock."""
    synchronize()
    started = time.perf_counter()
    reference.reference(*contents.buffer_sets[0])
    synchronize()
    return 1e3 * (time.perf_counter() - started)
