"""The result of every importer: one frozen record of the sources found, their places, and the parts missing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from audit.claims.importers.missing import NO_GPU, Missing
from audit.model import Harness
from audit.model.claim import MOST_SIZE
from audit.model.errors import BadInput

Unit = Literal["ms", "ratio"]
RMS = "the absolute part counts here in units of the result's rms"
"""What a tolerance of others, whose absolute part has the units of the result, means here."""


@dataclass(frozen=True)
class Original:
    """One published source, byte for byte.

    Attributes:
        file: what it is called in the claim folder, below `original/`.
        data: its bytes.
        published_as: the file, row, column or cell it stood in.
    """

    file: str
    data: bytes
    published_as: str

    @property
    def sha256(self) -> str:
        """The hash of the bytes."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Claimed:
    """The kernel as the audit builds it.

    Attributes:
        file: `claimed.cu` or `claimed.py`.
        data: the bytes of an original, followed by lines of ours where its way of calling is another one.
        entry: the function that is called.
        technique: what is known about it.
        added: what our lines do; empty where the bytes are the original's alone.
        compute_capability: the least the file runs on, 80 for an A100; None where the source does not say.
    """

    file: str
    data: bytes
    entry: str
    technique: str
    added: str = ""
    compute_capability: int | None = None


@dataclass(frozen=True)
class Reference:
    """The source of inputs and right results in the claim's `reference.py`.

    Attributes:
        contract: a name in `audit.claims.importers.templates.CONTRACTS`.
        options: what that template is filled with.
    """

    contract: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A published number.

    Attributes:
        about: "kernel", or the name of a baseline, or for a ratio the baseline it is over.
        value: the number, a time in milliseconds or a ratio baseline time / kernel time.
        unit: "ms" or "ratio".
        gpu: where it was measured; None where that is not stated.
        concluded: from what the unit is known, and where the number stood.
        by: who states it; None: the authors of the source.
    """

    about: str
    value: float
    unit: Unit
    gpu: str | None
    concluded: str
    by: str | None = None

    def __str__(self) -> str:
        """For people, one line."""
        return f"{self.about}: {self.value:g} {self.unit} on {self.gpu or 'a GPU not told'} ({self.concluded})"


@dataclass(frozen=True)
class Tolerance:
    """The tolerance that the format holds results to, and its source."""

    relative: float
    reason: str


@dataclass(frozen=True)
class Shapes:
    """Named sizes; `emulated` is empty where none can be proposed, `emulated_by` names their author.

    Raises:
        BadInput: a size larger than a claim can have.
    """

    claimed: Mapping[str, int]
    others: tuple[Mapping[str, int], ...] = ()
    emulated: tuple[Mapping[str, int], ...] = ()
    emulated_by: Literal["claim", "importer"] = "claim"

    def __post_init__(self) -> None:
        for shape in (self.claimed, *self.others, *self.emulated):
            for name, size in shape.items():
                if size > MOST_SIZE:
                    raise BadInput(f"size {name[:40]} is larger than {MOST_SIZE:,}")


@dataclass(frozen=True)
class Imported:
    """One claim as found.

    Attributes:
        format: the name of the importer.
        provenance: file, row, column or cell.
        name: of the claim folder, `[a-z0-9_]+`.
        title, task, authors, published, url: as published; None where it is not stated.
        dtype: of the inputs.
        originals: every source that was read, byte for byte.
        claimed: the kernel; None where there is none.
        reference: the task; None where there is none.
        tolerance: None where the format has no default and states none.
        harness: what the published evaluation does with reference and kernel alike.
        figures: the published numbers.
        missing: what is not there, and how to supply it.
        choices: what the importer chose, in words; each can be changed in `claim.toml`.
        rejected: rows of the same file that could not be read, one sentence each, and their count.
    """

    format: str
    provenance: str
    name: str
    title: str
    originals: tuple[Original, ...]
    task: str = "not told by the source"
    dtype: str = "float32"
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
    harness: Harness = field(default_factory=Harness)
    figures: tuple[Figure, ...] = ()
    missing: tuple[Missing, ...] = ()
    choices: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()

    @property
    def auditable(self) -> bool:
        """Whether nothing essential is missing."""
        there = self.claimed and self.reference and self.tolerance and self.shapes and self.shapes.emulated
        return bool(there) and not any(one.essential for one in self.missing)

    def lacking(self, *missing: Missing) -> Imported:
        """Return the same with more that is not there."""
        return replace(self, missing=(*self.missing, *missing))

    def with_figures(self, figures: Sequence[Figure], missing: Sequence[Missing] = ()) -> Imported:
        """Return the same with its published numbers, and with what is missing of them."""
        nowhere = [NO_GPU] if any(figure.gpu is None for figure in figures) else []
        return replace(self.lacking(*missing, *nowhere), figures=tuple(figures))
