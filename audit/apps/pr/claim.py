"""The two sides of a change as files, and HEAD as a claim folder in which BASE is one more variant.

Both sides are asked the same, and timed in one session.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Claimed, Given, Imported
from audit.claims.importers.writer import quoted
from audit.model import untrusted
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
    """Write the claim folder below `out`. Raises BadInput: a side cannot be read or audited, or both are the same."""
    head, base = (importers.read(files, given=given) for files in (sources.head, sources.base))
    after, before = (_kernel(one, side) for one, side in ((head, "HEAD"), (base, "BASE")))
    if before.data == after.data:
        raise BadInput(f"{sources.named[0]}: the same kernel in BASE and in HEAD; there is nothing to compare")
    folder = out / head.name
    if folder.exists():
        raise BadInput(f"{folder}: is there already; remove it, or give another --out")
    folder = writer.write(head, folder)
    file = f"{BASE}.{before.file.rpartition('.')[2]}"
    (folder / file).write_bytes(before.data)
    with (folder / "claim.toml").open("a", encoding="utf-8") as statement:
        statement.write(VARIANT.format(file=file, sha256=hashlib.sha256(before.data).hexdigest()))
        if before.entry != after.entry:
            statement.write(f"entry = {quoted(before.entry)}\n")
        if before.compute_capability is not None:
            statement.write(f"compute_capability = {before.compute_capability}\n")
    own = [one.published_as for one in head.originals if after.data.startswith(one.data)]
    name = (own or [head.originals[0].published_as])[0]
    known = {Path(one).name: one for one in sources.named}
    return Pair(folder, known.get(name, f"{sources.named[0]}/{name}"), lines=bool(own))


def _kernel(imported: Imported, side: str) -> Claimed:
    if imported.claimed is None or not imported.auditable:
        raise BadInput(f"{side}, {imported.provenance}: no audit is possible: {imported.blocking()}")
    return imported.claimed


PLAIN = ("100644", "100755")
"""The modes of plain files in a tree of git."""
GIT_LIMIT_S = 60.0


@dataclass(frozen=True)
class Sources:
    """The files of both sides, and those of HEAD as the repository names them."""

    base: tuple[Path, ...]
    head: tuple[Path, ...]
    named: tuple[str, ...]


def of(base: str, head: str, files: Sequence[Path], scratch: Path) -> Sources:
    """Return the files of both sides; those of revisions are written below `scratch`. Raises BadInput: neither two
    paths nor two revisions, or a file that one of them lacks."""
    there = [Path(one).exists() for one in (base, head)]
    if all(there):
        named = (Path(head), *files)
        return Sources((Path(base), *files), named, tuple(one.as_posix() for one in named))
    if any(there):
        raise BadInput(
            f"{(base, head)[there.index(False)]}: no such file; BASE and HEAD are two paths or two revisions"
        )
    if not files:
        raise BadInput(
            f"{base}: no such file; of two git revisions, name the files too: audit pr main HEAD -- kernel.cu"
        )
    before, after = (_at(one, files, scratch / side) for one, side in ((base, "base"), (head, "head")))
    return Sources(before, after, tuple(one.as_posix() for one in files))


def _at(revision: str, files: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    """Write the files as they are at a revision, flat, and return their paths."""
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise BadInput(f"{revision}: no such file, and no revision of a git repository here")
    folder.mkdir()
    return tuple(_written(commit.decode().strip(), revision, file, folder / file.name) for file in files)


def _written(commit: str, revision: str, file: Path, target: Path) -> Path:
    if target.exists():
        raise BadInput(f"two files are called {file.name}; give one of them another name")
    if file.is_absolute():
        raise BadInput(f"{file}: of a revision, name files as seen from here")
    listed = _git("ls-tree", "-z", commit, "--", f"./{file.as_posix()}")
    mode, kind, blob = (listed or b"- - -").decode().partition("\t")[0].split()
    if mode not in PLAIN:
        what = "not in" if kind == "-" else "no plain file in"
        raise BadInput(f"{file}: {what} {revision}")
    size = int(_git("cat-file", "-s", blob) or 0)
    if size > untrusted.TABLE_BYTES:
        raise BadInput(f"{file}: {size:,} bytes in {revision}; at most {untrusted.TABLE_BYTES:,} are read")
    target.write_bytes(_git("cat-file", "blob", blob) or b"")
    return target


def _git(*arguments: str) -> bytes | None:
    """Return what git prints; None where it refuses. Raises BadInput where there is no git."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, check=False, timeout=GIT_LIMIT_S)
    except FileNotFoundError as error:
        raise BadInput("git: not installed here; name two files instead of two revisions") from error
    except subprocess.TimeoutExpired as error:
        raise BadInput(f"git {arguments[0]}: no answer in {GIT_LIMIT_S:g} s") from error
    return done.stdout if done.returncode == 0 else None
