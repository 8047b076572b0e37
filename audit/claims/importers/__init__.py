"""The import stage: claims as others publish them → claim folders. Nothing that is imported is run.

One file an importer; the table is the order in which they are asked whether a source is theirs.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from audit.claims.importers import (
    archive,
    bare_cu,
    cuda_l1,
    cuda_l2,
    flashinfer_bench,
    hugging_face,
    kernelagent,
    kernelbench,
    kernelbench_com,
    notebook,
    plain_python,
    popcorn,
    robust_kbench,
    sol_execbench,
    supplied,
)
from audit.claims.importers.imported import Imported
from audit.claims.importers.material import Given, Material
from audit.model.errors import BadInput


class Importer(Protocol):
    """The interface of a file of this package: the reader of one published format."""

    TAKES: str
    """The input it takes, in words."""

    @property
    def LACKS(self) -> tuple[str, ...]:  # noqa: N802  # a constant of each file, of its own length
        """Keys that stay missing even from a complete source of the format."""

    def matches(self, material: Material) -> bool:
        """Return whether the content is of this format."""

    def read(self, material: Material, given: Given) -> Imported:
        """Return the claim. Raises BadInput with file, row, column or cell."""


IMPORTERS: dict[str, Importer] = {
    "archive": archive,
    "cuda_l1": cuda_l1,
    "cuda_l2": cuda_l2,
    "robust_kbench": robust_kbench,
    "hugging_face": hugging_face,
    "notebook": notebook,
    "kernelbench": kernelbench,
    "kernelbench_com": kernelbench_com,
    "kernelagent": kernelagent,
    "popcorn": popcorn,
    "sol_execbench": sol_execbench,
    "flashinfer_bench": flashinfer_bench,
    "bare_cu": bare_cu,
    "plain_python": plain_python,
}


def read(paths: Sequence[Path], *, given: Given | None = None, format_: str | None = None) -> Imported:
    """Return the claim in those files, or in that folder.

    Args:
        paths: one folder, or files.
        given: what the user says where the source does not.
        format_: the format, where the content should not decide.

    Raises:
        BadInput: no importer takes this, or what it finds cannot be read; one sentence.
    """
    if format_ is not None and format_ not in IMPORTERS:
        raise BadInput(f"--format {format_}: unknown; known: {', '.join(IMPORTERS)}")
    material = Material(paths)
    try:
        importer = IMPORTERS[format_ or sniff(material)]
        found = supplied.with_given(importer.read(material, given or Given()), given or Given())
    except RecursionError as error:
        raise BadInput(f"{material.where}: nested too deeply to be read") from error
    except UnicodeEncodeError as error:
        raise BadInput(f"{material.where}: half of a surrogate pair in a text, which is no Unicode") from error
    if found.claimed is not None and not found.claimed.data.strip():
        raise BadInput(f"{material.where}: the source of the kernel is empty")
    return found


def sniff(material: Material) -> str:
    """Return the format, from the content. Raises BadInput listing the known ones and what could not be read."""
    found = next((name for name, importer in IMPORTERS.items() if importer.matches(material)), None)
    if found is None:
        trouble = f" ({material.problems[0]})" if material.problems else ""
        known = ", ".join(IMPORTERS)
        raise BadInput(f"{material.where}: no known format of claim{trouble}; name one with --format: {known}")
    return found


def lines(imported: Imported, folder: Path, sources: Sequence[Path] = ()) -> list[str]:
    """Return a line for each thing found, concluded, chosen and missing, and the line to type next."""
    said = [f"{imported.provenance}: {imported.format} -> {folder}"]
    said += [f"  rejected: {one}" for one in imported.rejected]
    said += [f"  original/{one.file}: {len(one.data):,} bytes, sha256 {one.sha256[:16]}…" for one in imported.originals]
    said += [f"  {one}" for one in imported.figures]
    said += [f"  chosen: {choice}" for choice in imported.choices]
    said += [f"  missing: {one}" for one in imported.missing if not one.essential]
    said += [f"  MISSING, no audit without it: {one}" for one in imported.missing if one.essential]
    if imported.auditable:
        return [*said, f"  next: {shlex.join(('audit', 'run', str(folder)))} --device emulated"]
    line = supplied.to_type(imported, sources, folder)
    return [*said, f"  to type: {line}"] if line else said
