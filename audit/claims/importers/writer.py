"""An `Imported` as a claim folder: claim.toml, reference.py, the claimed kernel, and the originals as they were."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from audit import claims
from audit.claims.importers import claim_toml, templates
from audit.claims.importers.imported import Imported
from audit.model.errors import BadInput

NAME = re.compile(r"[a-z0-9_]+")


def write(imported: Imported, folder: Path | None = None) -> Path:
    """Write the folder in one step and returns it; what is auditable loads as a claim.

    Args:
        imported: what was found.
        folder: where it goes; `kernels/<name>` by default. Its name, in small letters, becomes the claim's.

    Raises:
        BadInput: the folder is there already, its name is none for a claim, or it cannot be written.
    """
    target = folder or Path("kernels") / imported.name
    target = target.with_name(target.name.lower()) if target.name else target
    if not NAME.fullmatch(target.name):
        raise BadInput(f"--to {target}: a claim's name has small letters, digits and underscores only")
    if target.exists():
        raise BadInput(f"{target}: is there already; remove it or give another folder with --to")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as waiting:
            made = Path(waiting) / target.name
            _fill(made, imported)
            if imported.auditable:
                claims.load(str(made))
            made.rename(target)
    except OSError as error:
        raise BadInput(f"{target}: cannot be written ({error.strerror})") from error
    return target


def _fill(folder: Path, imported: Imported) -> None:
    (folder / "original").mkdir(parents=True)
    (folder / "claim.toml").write_text(claim_toml.text(imported, name=folder.name), encoding="utf-8")
    if imported.reference is not None:
        text = templates.reference_py(imported.reference)
        (folder / "reference.py").write_text(text, encoding="utf-8")
    if imported.claimed is not None:
        (folder / imported.claimed.file).write_bytes(imported.claimed.data)
    for original in imported.originals:
        (folder / "original" / original.file).write_bytes(original.data)
