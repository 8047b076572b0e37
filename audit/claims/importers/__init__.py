"""The import stage: claims as others publish them → claim folders. Nothing that is imported is run.

One file an importer; the table is the order in which they are asked whether a source is theirs.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from audit.claims.importers import (
    archive,
    bare_cu,
    cuda_l1,
    cuda_l2,
    flashinfer_bench,
    hugging_face,
    joined,
    kernelagent,
    kernelbench,
    kernelbench_com,
    notebook,
    plain_python,
    popcorn,
    published,
    robust_kbench,
    sizes,
    sol_execbench,
)
from audit.claims.importers.facts import SHAPE, Figure, Given, Imported, Missing, Shapes, Tolerance, option
from audit.claims.importers.material import MOST_NAMED, Material
from audit.model import gpus
from audit.model.errors import BadInput


class Importer(Protocol):
    """The interface of a file of this package: the reader of one published format."""

    __name__: str
    TAKES: str
    """The input it takes, in words."""

    @property
    def LACKS(self) -> tuple[str, ...]:  # noqa: N802  # a constant of each file, of its own length
        """Keys that stay missing even from a complete source of the format."""

    def matches(self, material: Material) -> bool:
        """Return whether the content is of this format."""

    def read(self, material: Material, given: Given) -> Imported:
        """Return the claim. Raises BadInput with file, row, column or cell."""


_TABLE: tuple[Importer, ...] = (
    archive, cuda_l1, cuda_l2, robust_kbench, hugging_face, notebook, kernelbench, kernelbench_com, kernelagent,
    popcorn, sol_execbench, flashinfer_bench, plain_python, bare_cu,
)  # fmt: skip
IMPORTERS = {one.__name__.rpartition(".")[2]: one for one in _TABLE}
GIVEN = "given by the user when it was imported"
EXAMPLE = 64
"""The largest size in an example of what to type."""

NO_KERNEL = (
    "a .py needs a function named `kernel` (or `custom_kernel`, or a class `ModelNew`), and beside it a file with "
    "`reference` and `get_inputs`"
)


def read(paths: Sequence[Path], *, given: Given | None = None, format_: str | None = None) -> Imported:
    """Return the claim in those files, or in that folder.

    What the user says (`given`) stands in the place of the source's own. The user names the format where the content
    should not decide it. Raises BadInput: no importer takes this, or what it finds cannot be read; one sentence.
    """
    if format_ is not None and format_ not in IMPORTERS:
        raise BadInput(f"--format {format_}: unknown; known: {', '.join(IMPORTERS)}")
    material, given = Material(paths), given or Given()
    try:
        found = _with_given(IMPORTERS[format_ or sniff(material)].read(material, given), given)
    except RecursionError as error:
        raise BadInput(f"{material.where}: nested too deeply to be read") from error
    except UnicodeEncodeError as error:
        raise BadInput(f"{material.where}: half of a surrogate pair in a text, which is no Unicode") from error
    if found.claimed is not None and not found.claimed.data.strip():
        raise BadInput(f"{material.where}: the source of the kernel is empty")
    return replace(found, unplaced=joined.unplaced(found.claimed), left=_left(found, material))


def _left(imported: Imported, material: Material) -> tuple[str, ...]:
    """Return the source files that were given and that no part of the claim stood in."""
    told = [imported.provenance, *(one.published_as for one in imported.originals)]
    used = {part for text in told for part in re.split(r"[:, ]+", text)} | {*told}
    return tuple(name for name in material.named(".py", *joined.SOURCES, *joined.HEADERS) if name not in used)


def sniff(material: Material) -> str:
    """Return the format, from the content. Raises BadInput listing the known ones and what could not be read."""
    found = next((name for name, importer in IMPORTERS.items() if importer.matches(material)), None)
    if found is None:
        trouble = f" ({material.problems[0]})" if material.problems else ""
        known, lacks = ", ".join(IMPORTERS), f"; {NO_KERNEL}" if material.python else ""
        how = f"name one with audit import --format: {known}"
        raise BadInput(f"{material.where}: no known format of claim{trouble}{lacks}; {how}")
    return found


def lines(imported: Imported, folder: Path, typed: Sequence[str] = ()) -> list[str]:
    """Return a line for each thing found, concluded, chosen and missing, and the line to type next; `typed` are the
    sources and options of this import."""
    said = [f"{imported.provenance}: {imported.format} -> {folder}"]
    said += [f"  rejected: {one}" for one in imported.rejected]
    said += [f"  original/{one.file}: {len(one.data):,} bytes, sha256 {one.sha256[:16]}…" for one in imported.originals]
    said += [f"  {one}" for one in imported.figures]
    said += [f"  chosen: {choice}" for choice in imported.choices]
    said += [f"  not found: {one}" for one in imported.unplaced]
    more = f", and {len(imported.left) - MOST_NAMED:,} more" if len(imported.left) > MOST_NAMED else ""
    said += [f"  left out: {', '.join(imported.left[:MOST_NAMED])}{more}"] if imported.left else []
    said += [f"  missing: {one}" for one in imported.missing if not one.essential]
    said += [f"  MISSING, no audit without it: {one}" for one in imported.missing if one.essential]
    if imported.auditable:
        return [*said, f"  next: {shlex.join(('audit', 'run', str(folder)))} --device emulated"]
    line = _to_type(imported, typed, folder)
    return [*said, f"  to type: {line}"] if line else said


def _with_given(imported: Imported, given: Given) -> Imported:
    """Return the same with what the user says. Raises BadInput: a tolerance or a ratio that is none, or a size that the
    claim does not name."""
    if given.tolerance is not None:
        value = f"{given.tolerance:g}"
        if not 0 <= given.tolerance < math.inf:
            raise BadInput(f"{given.named('tolerance', value)}: a tolerance is finite and not negative")
        imported = _supplied(imported, "tolerance", value, tolerance=Tolerance(given.tolerance, GIVEN))
    if figures := [_figure(gpu, ratio, given) for gpu, ratio in given.claimed if ratio is not None]:
        imported = replace(_without(imported, "speedup"), figures=(*figures, *imported.figures))
    if named := tuple(_known(gpu, given) for gpu, ratio in given.claimed if ratio is None):
        imported = _supplied(imported, "gpus", ", ".join(named), gpus=named)
    if given.flags:
        value = " ".join(given.flags)
        if imported.claimed is not None and imported.claimed.file.endswith(".py"):
            typed = given.named("flags", value)
            raise BadInput(f"{typed}: {imported.provenance} is Python and passes its own flags")
        joined = imported.format == "bare_cu"  # what stands in one file needs no folder of `-I` more
        flags = tuple(flag for flag in given.flags if not (joined and flag.startswith("-I")))
        imported = _supplied(imported, "protocol.flags", value, flags=flags)
    imported = _with_shape(imported, given) if given.shape else imported
    claimed = dict(imported.shapes.claimed) if imported.shapes else {}
    filled = (replace(one, shape={**claimed, **one.shape}) if one.shape else one for one in imported.figures)
    return replace(imported, figures=tuple(filled)) if claimed else imported


def _supplied(imported: Imported, key: str, value: str, **changed: Any) -> Imported:
    """Return the claim with the user's value of a key as what was chosen, in place of the importer's choice of it."""
    others = (one for one in imported.choices if not one.startswith(f"{key}:"))
    return replace(_without(imported, key), choices=(f"{key}: {value}, {GIVEN}", *others), **changed)


def _without(imported: Imported, *keys: str) -> Imported:
    return replace(imported, missing=tuple(one for one in imported.missing if one.key not in keys))


def _figure(text: str, ratio: float, given: Given) -> Figure:
    """Return a ratio that the user states, of `GPU` or `GPU@NAME=SIZE,...`. Raises BadInput for no such shape."""
    (gpu, _, at), typed = text.partition("@"), given.named("claimed", text[:60])
    value = published.checked(ratio, where=typed)
    pairs = [one.partition("=") for one in at.split(",")] if at else []
    if not all(name and size.isdecimal() and int(size) for name, _, size in pairs):
        raise BadInput(f"{typed}: write GPU@NAME=SIZE,NAME=SIZE=RATIO")
    shape = {name.strip(): int(size) for name, _, size in pairs} or None
    return Figure("the baseline", value, "ratio", published.gpu_named(gpu), GIVEN, by="the user", shape=shape)


def _to_type(imported: Imported, typed: Sequence[str], folder: Path) -> str | None:
    """Return the line that supplies all that is missing, with example values; None where no options do."""
    essential = [one for one in imported.missing if one.essential]
    options = dict.fromkeys(_shown(one, imported) for one in essential)
    line = shlex.join(("audit", "import", *typed, "--to", f"{folder}_2"))
    return f"{line} {' '.join(filter(None, options))}" if options and None not in options else None


def _shown(missing: Missing, imported: Imported) -> str | None:
    """Return an option that supplies what is missing, with an example's value; None where none does."""
    if missing.key == "tolerance":
        return "--tolerance 1e-3"
    if not missing.key.startswith("shapes"):
        return None
    if missing.argument not in (None, SHAPE):
        return option(*missing.argument)
    known = imported.shapes.claimed if imported.shapes else {"N": EXAMPLE}
    return option("shape", " ".join(f"{name}={min(size, EXAMPLE)}" for name, size in known.items()))


def _known(gpu: str, given: Given) -> str:
    """Return the GPU of our table that a name means. Raises BadInput for none: its limits are not known."""
    name = published.gpu_named(gpu)
    if name not in gpus.table():
        typed = given.named("claimed", gpu[:40])
        raise BadInput(f"{typed}: write GPU=RATIO, or one of {', '.join(gpus.table())} alone")
    return name


def _with_shape(imported: Imported, given: Given) -> Imported:
    """Return the claim at the given sizes; the others stay, and shapes for the emulated device are proposed anew.

    Where the task takes its sizes from a shape and names none, the given ones are all of them.
    """
    named = dict(given.shape)
    unstated = imported.shapes is None and any(one.key == "shapes" for one in imported.missing)
    stated = named if unstated else dict(imported.shapes.claimed) if imported.shapes else {}
    known = {} if stated == sizes.PLAIN else stated
    fixed = imported.reference.options.get("fixed", {}) if imported.reference else {}
    for name in named:
        if name not in known and name not in fixed:
            listed = ", ".join(known) or "none"
            raise BadInput(f"{given.named('shape', name)}: no size of this claim; known: {listed}")
    wanted = {**known, **{name: size for name, size in named.items() if name in known}}
    if unstated or (imported.shapes is not None and wanted != known):
        imported = _proposed_anew(imported, wanted)
    text = ", ".join(f"{name} = {size}" for name, size in named.items() if name in known)
    return _supplied(imported, "shapes.claimed", text) if text else imported


def _proposed_anew(imported: Imported, wanted: Mapping[str, int]) -> Imported:
    found, choices = sizes.smaller(wanted, sources=[one.data.decode(errors="replace") for one in imported.originals])
    before = imported.shapes
    published_at = None if before is None or before.claimed == sizes.PLAIN else dict(before.claimed)
    figures = (
        one if one.shape or one.concluded == GIVEN else replace(one, shape=published_at) for one in imported.figures
    )
    kept = (one for one in imported.choices if not one.startswith("shapes.emulated:"))
    return replace(
        _without(imported, "shapes.emulated", "shapes"),
        shapes=Shapes(found.claimed, before.others if before else (), found.emulated, emulated_by="importer"),
        figures=tuple(figures),
        choices=(*choices, *kept),
    )
