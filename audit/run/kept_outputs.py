"""Runs in a child: outputs of a few timed calls, chosen at random, kept for the judge to compare with the oracle."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from audit.run.own_tensors import own

MOST_ELEMENTS = 1 << 22
"""Of a larger output that many elements are kept, as whole rows chosen at random."""


_detach, _cpu = torch.Tensor.detach, torch.Tensor.cpu
"""Taken before claimed code may put others in their place."""


class KeptOutputs:
    """A random sample of the timed calls of every callable; each timed call has the same chance to be in it.

    Args:
        folder: takes the files.
        each: calls kept of every callable.
        choice: what draws the calls and the rows.
        write: writes a tensor's bytes to a file and gives their digest, as `Teller.keep` does.
    """

    def __init__(
        self, folder: Path, *, each: int, choice: random.Random, write: Callable[[Path, torch.Tensor], str]
    ) -> None:
        self._folder, self._each, self._choice, self._keep_file = folder, each, choice, write
        self._seen: dict[str, int] = {}
        self._kept: dict[str, list[dict[str, Any]]] = {}

    def wanted(self, name: str, calls: int) -> dict[int, int]:
        """Which of the next calls to keep, and the slot each takes; drawn before the calls run."""
        chosen = {}
        for place in range(calls):
            seen = self._seen[name] = self._seen.get(name, 0) + 1
            slot = seen - 1 if seen <= self._each else self._choice.randrange(seen)
            if slot < self._each:
                chosen[place] = slot
        return chosen

    def keep(self, name: str, slot: int, output: Any, *, inputs: int, block: int) -> None:
        """Copies the output of a call over set `inputs` of the inputs to the host.

        A subclass of torch's tensor that defines anything is told as none: it may compute what it holds when it is
        read, after the clock.
        """
        output = own(output)
        kept = self._kept.setdefault(name, [{}] * self._each)
        told = {"variant": name, "inputs": inputs, "block": block}
        if type(output) is not torch.Tensor:
            kept[slot] = {**told, "no_tensor": type(output).__name__}
            return
        rows = self._rows(output)
        whole = _detach(output)
        part = whole if rows is None else whole[torch.tensor(rows, device=output.device)]
        dtype = str(output.dtype).removeprefix("torch.")
        kept[slot] = {**told, "whole": list(output.shape), "rows": rows, "dtype": dtype, "part": _cpu(part)}

    def written(self) -> list[dict[str, Any]]:
        """Writes what is kept; one event a call, with the name of its file."""
        every = [one for kept in self._kept.values() for one in kept if one]
        return [self._write(number, one) for number, one in enumerate(every)]

    def _rows(self, output: torch.Tensor) -> list[int] | None:
        if output.dim() == 0 or output.numel() <= MOST_ELEMENTS:
            return None
        count = max(1, MOST_ELEMENTS * output.shape[0] // output.numel())
        return sorted(self._choice.sample(range(output.shape[0]), count))

    def _write(self, number: int, one: dict[str, Any]) -> dict[str, Any]:
        told = {key: value for key, value in one.items() if key != "part"}
        if "part" in one:
            part = one["part"].contiguous()
            file = f"timed{number}.bin"
            told |= {"file": file, "shape": list(part.shape), "digest": self._keep_file(self._folder / file, part)}
        return told
