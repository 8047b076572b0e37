"""BASE and HEAD → the files of each: two files or folders, or two git revisions of the files that are named."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.claims.importers import bounded
from audit.model.errors import BadInput

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
    """Return the files of both sides; those of revisions are written below `scratch`.

    Raises:
        BadInput: neither two paths nor two revisions, or a file that one of them lacks.
    """
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
    if size > bounded.LIMIT_BYTES:
        raise BadInput(f"{file}: {size:,} bytes in {revision}; at most {bounded.LIMIT_BYTES:,} are read")
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
