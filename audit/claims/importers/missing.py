"""Facts that a source does not state: in words, where to supply them, and whether an audit needs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """One missing fact.

    Attributes:
        what: in words.
        key: where to supply it, a key of `claim.toml` or a file.
        how: how to supply it.
        essential: no audit is possible without it.
    """

    what: str
    key: str
    how: str
    essential: bool = False

    def __str__(self) -> str:
        """For people, one line."""
        return f"{self.key}: {self.what}; {self.how}"


NO_TASK = Missing("no task was found", "reference.py", "give the file with the reference too", essential=True)
NO_SHAPE = Missing("no shape is told", "shapes.emulated", "give --shape NAME=SIZE", essential=True)


def no_tolerance(what: str) -> Missing:
    """Return that there is no tolerance; `what` says where none stands."""
    return Missing(what, "tolerance", "give --tolerance NUMBER", essential=True)


NO_GPU = Missing("the GPU of the figures is not told", "speedup.gpu", "give --gpu NAME")
NO_FIGURES = Missing("no published figures", "speedup", "give --claimed GPU=RATIO")
NO_COST = Missing(
    "the least flops and bytes of the task", "reference.py cost", "without them no time can be impossible"
)
