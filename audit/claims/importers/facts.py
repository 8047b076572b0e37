"""The result of every importer: one frozen record of the sources found, their places, and the parts missing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from audit.model import Harness
from audit.model.claim import MOST_SIZE
from audit.model.errors import BadInput

RMS = "the absolute part counts here in units of the result's rms"
UP_TO = "the absolute part counts here up to a hundredth of the result's rms, or in units of it"
"""What a tolerance of others, whose absolute part has the units of the result, means here."""


Named = Callable[[str, str], str]
"""Returns an argument of the user's with its value, as its caller writes it."""


def option(argument: str, value: str = "") -> str:
    """Return an argument as the command line has it: `--shape N=64`."""
    return f"--{argument} {value}".rstrip()


@dataclass(frozen=True)
class Given:
    """Facts from the user, in place of the source's own: the row, the unit of its times, the GPU they were taken on,
    the tolerance, ratios by GPU (None where a GPU is named alone), sizes by name and the compiler's flags.

    `named` words them in sentences, for the command line unless the caller says otherwise.
    """

    row: int | None = None
    select: tuple[str, str] | None = None
    unit: str | None = None
    gpu: str | None = None
    tolerance: float | None = None
    claimed: tuple[tuple[str, float | None], ...] = ()
    shape: tuple[tuple[str, int], ...] = ()
    flags: tuple[str, ...] = ()
    named: Named = option

    def typed(self) -> Iterator[str]:
        """Yield the options of the command line that say the same."""
        select = None if self.select is None else "=".join(self.select)
        tolerance = None if self.tolerance is None else f"{self.tolerance:g}"
        one_word = {"row": self.row, "select": select, "unit": self.unit, "gpu": self.gpu, "tolerance": tolerance}
        for name, value in one_word.items():
            yield from () if value is None else (f"--{name}", str(value))
        for name, pairs in (("claimed", self.claimed), ("shape", self.shape)):
            words = [one if value is None else f"{one}={value}" for one, value in pairs]
            yield from (f"--{name}", *words) if words else ()
        yield from [f"--flags={' '.join(self.flags)}"] if self.flags else []


@dataclass(frozen=True)
class Original:
    """One published source, byte for byte."""

    file: str  # below `original/` of the claim folder
    data: bytes
    published_as: str  # the file, row, column or cell it stood in

    @property
    def sha256(self) -> str:
        """The hash of the bytes."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Claimed:
    """The kernel as the audit builds it."""

    file: str  # `claimed.cu` or `claimed.py`
    data: bytes  # of an original, followed by lines of ours where its way of calling is another one
    entry: str  # the function that is called
    technique: str
    added: str = ""  # what our lines do; empty where the bytes are the original's alone
    compute_capability: int | None = None  # the least the file runs on, 80 for an A100, where the source says so


@dataclass(frozen=True)
class Reference:
    """A template of `audit.claims.importers.entries.CONTRACTS` for the claim's `reference.py`, and what fills it."""

    contract: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A published number: a time in milliseconds, or a ratio baseline time / kernel time."""

    about: str  # "kernel", or the name of a baseline, or for a ratio the baseline it is over
    value: float
    unit: Literal["ms", "ratio"]
    gpu: str | None  # where it was measured, if that is stated
    concluded: str  # from what the unit is known, and where the number stood
    by: str | None = None  # who states it, if not the authors of the source
    shape: Mapping[str, int] | None = None  # that it speaks of alone; None: the claimed one

    def __str__(self) -> str:
        """For people, one line."""
        at = "".join(f", {name} = {size}" for name, size in (self.shape or {}).items())
        return f"{self.about}: {self.value:g} {self.unit} on {self.gpu or 'a GPU not told'}{at} ({self.concluded})"


@dataclass(frozen=True)
class Tolerance:
    """The tolerance that the format holds results to, and its source."""

    relative: float
    reason: str
    absolute: float = 0.0


@dataclass(frozen=True)
class Shapes:
    """Named sizes; `emulated` is empty where none can be proposed, `emulated_by` names their author, `module` the sizes
    that a module is made with. Raises BadInput: a size larger than a claim can have."""

    claimed: Mapping[str, int]
    others: tuple[Mapping[str, int], ...] = ()
    emulated: tuple[Mapping[str, int], ...] = ()
    emulated_by: Literal["claim", "importer"] = "claim"
    module: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for shape in (self.claimed, *self.others, *self.emulated):
            for name, size in shape.items():
                if size > MOST_SIZE:
                    raise BadInput(f"size {name[:40]} is larger than {MOST_SIZE:,}")


@dataclass(frozen=True)
class Missing:
    """A fact that a source does not state."""

    what: str
    key: str  # where to supply it, a key of `claim.toml` or a file
    how: str = ""  # how to supply it
    essential: bool = False  # no audit is possible without it
    argument: tuple[str, str] | None = None  # of the user's that supplies it, and the form of its value

    def worded(self, named: Named = option) -> str:
        """Return one line for people, with the argument as its caller writes it."""
        return f"{self.key}: {self.what}; {self._supplied(named)}"

    def blocking(self, named: Named = option) -> str:
        """Return the same with what is missing first."""
        return f"{self.what}; {self._supplied(named)} ({self.key})"

    def _supplied(self, named: Named) -> str:
        given = named(*self.argument) if self.argument else ""
        return f"{self.how}, or {given}" if self.how and given else self.how or f"give {given}"

    def __str__(self) -> str:
        """For people who type commands, one line."""
        return self.worded()


def essential(what: str, key: str, how: str) -> Missing:
    """Return a fact without which no audit is possible."""
    return Missing(what, key, how, essential=True)


SHAPE = ("shape", "NAME=SIZE")
NO_TASK = essential("no task was found", "reference.py", "give the file with the reference too")
NO_SHAPE = Missing("no shape is told", "shapes.emulated", essential=True, argument=SHAPE)
NO_GPU = Missing("the GPU of the figures is not told", "speedup.gpu", argument=("gpu", "NAME"))
NO_FIGURES = Missing("no published figures", "speedup", argument=("claimed", "GPU=RATIO"))
NO_COST = Missing(
    "the least flops and bytes of the task", "reference.py cost", "without them no time can be impossible"
)


def no_tolerance(what: str) -> Missing:
    """Return that there is no tolerance; `what` says where none stands."""
    return Missing(what, "tolerance", essential=True, argument=("tolerance", "NUMBER"))


@dataclass(frozen=True)
class Imported:
    """One claim as found; None where the source does not state a thing."""

    format: str  # the name of the importer
    provenance: str  # file, row, column or cell
    name: str  # of the claim folder, `[a-z0-9_]+`
    title: str
    originals: tuple[Original, ...]  # every source that was read
    task: str = "not told by the source"
    dtype: str = "float32"  # of the inputs
    claimed: Claimed | None = None
    reference: Reference | None = None
    shapes: Shapes | None = None
    authors: str | None = None
    published: str | None = None
    url: str | None = None
    baseline: str = "the reference as imported, eager"
    flags: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    tolerance: Tolerance | None = None
    harness: Harness = field(default_factory=Harness)  # what the published evaluation does with reference and kernel
    gpus: tuple[str, ...] = ()  # that the kernel is for, without a figure
    figures: tuple[Figure, ...] = ()
    missing: tuple[Missing, ...] = ()
    choices: tuple[str, ...] = ()  # of the importer, in words; each can be changed in `claim.toml`
    rejected: tuple[str, ...] = ()  # rows of the same file that could not be read, a sentence each, and their count
    unplaced: tuple[str, ...] = ()  # includes in quotes of files that were not given, each with its place
    left: tuple[str, ...] = ()  # source files that were given and are no part of the claim

    @property
    def auditable(self) -> bool:
        """Whether nothing essential is missing."""
        there = self.claimed and self.reference and self.tolerance and self.shapes and self.shapes.emulated
        return bool(there) and not any(one.essential for one in self.missing)

    def blocking(self, named: Named = option) -> str:
        """Return what is missing that an audit needs, in one line; empty for nothing."""
        return "; ".join(one.blocking(named) for one in self.missing if one.essential)

    def lacking(self, *missing: Missing) -> Imported:
        """Return the same with more that is not there."""
        return replace(self, missing=(*self.missing, *missing))

    def with_figures(self, figures: Sequence[Figure], missing: Sequence[Missing] = ()) -> Imported:
        """Return the same with its published numbers, and with what is missing of them."""
        nowhere = [NO_GPU] if any(figure.gpu is None for figure in figures) else []
        return replace(self.lacking(*missing, *nowhere), figures=tuple(figures))
