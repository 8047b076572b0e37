"""HEAD as a claim folder in which BASE is one more variant: both are asked the same, and timed in one session."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from audit.apps.pr.sources import Sources
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.imported import Claimed, Imported
from audit.claims.importers.material import Given
from audit.model.errors import BadInput

BASE = "base"
VARIANT = """
[[variant]]
file = "{file}"
role = "base"
technique = "the kernel before the change"
sha256 = "{sha256}"
"""


class Pair(NamedTuple):
    """The claim folder, HEAD's kernel as the repository names it, and whether lines of the claim are lines of it."""

    folder: Path
    kernel: str
    lines: bool


def written(sources: Sources, given: Given, out: Path) -> Pair:
    """Write the claim folder below `out`.

    Raises:
        BadInput: a side cannot be read or audited, both are the same, or their functions have two names.
    """
    head, base = (importers.read(list(files), given=given) for files in (sources.head, sources.base))
    after, before = (_kernel(one, side) for one, side in ((head, "HEAD"), (base, "BASE")))
    if before.data == after.data:
        raise BadInput(f"{sources.named[0]}: the same kernel in BASE and in HEAD; there is nothing to compare")
    if before.entry != after.entry:
        raise BadInput(f"BASE has the function {before.entry} and HEAD {after.entry}; give both one name")
    folder = out / head.name
    if folder.exists():
        raise BadInput(f"{folder}: is there already; remove it, or give another --out")
    folder = writer.write(head, folder)
    file = f"{BASE}.{before.file.rpartition('.')[2]}"
    (folder / file).write_bytes(before.data)
    with (folder / "claim.toml").open("a", encoding="utf-8") as statement:
        statement.write(VARIANT.format(file=file, sha256=hashlib.sha256(before.data).hexdigest()))
        if before.compute_capability is not None:
            statement.write(f"compute_capability = {before.compute_capability}\n")
    own = [one.published_as for one in head.originals if after.data.startswith(one.data)]
    name = (own or [head.originals[0].published_as])[0]
    known = {Path(one).name: one for one in sources.named}
    return Pair(folder, known.get(name, f"{sources.named[0]}/{name}"), lines=bool(own))


def _kernel(imported: Imported, side: str) -> Claimed:
    if imported.claimed is None or not imported.auditable:
        missing = "; ".join(str(one) for one in imported.missing if one.essential)
        raise BadInput(f"{side}, {imported.provenance}: no audit without {missing}")
    return imported.claimed
