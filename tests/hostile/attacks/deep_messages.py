"""Attack: has the session tell texts and nested lists without measure, by what its result says of itself.
Wall: the judge knows the keys of every event, and bounds of every size in it
Outcome: channel error: is none that a session tells
"""

import torch


class Talkative(torch.Tensor):
    @property
    def shape(self) -> object:  # type: ignore[override]
        return [[[]] * 1000] * 1000

    @property
    def dtype(self) -> object:  # type: ignore[override]
        return "x" * 10_000_000


def forward(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).as_subclass(Talkative)
