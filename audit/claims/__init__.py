"""The claim stage: `kernels/<claim>/` → one frozen record of what is claimed and of the files it rests on."""

from __future__ import annotations

import difflib
import hashlib
import io
import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from audit.claims import places
from audit.model import AuditedClaim, Claim, Original, SourceFile, Variant, old_words, untrusted
from audit.model.base import problem
from audit.model.claim import include_folders
from audit.model.errors import BadInput

MOST_STATED = 200_000
"""Characters of a `claim.toml`; the longest published one has 6,105."""
STATEMENT = "claim.toml"
_BUNDLED = Path(__file__).resolve().parents[1] / "bundled"
ROOT = _BUNDLED if _BUNDLED.is_dir() else Path(__file__).resolve().parents[2]
"""Holds `kernels/` and `notebooks/`: a folder of the installed package, or the top level of a checkout."""
KERNELS = ROOT / "kernels"
SOURCES = (".cu", ".cpp", ".cc", ".cuh", ".h", ".hpp", ".inl", ".py")

ADDED = "What follows was added by `audit import`; all above is the original, byte for byte."
"""The comment before lines of ours behind a published source."""


@dataclass(frozen=True)
class ClaimFolder:
    """A claim as read from its folder; `path` is the folder, `audited` what the record keeps."""

    path: Path
    audited: AuditedClaim

    @property
    def claim(self) -> Claim:
        """The statement of `claim.toml`."""
        return self.audited.statement

    @property
    def reference(self) -> Path:
        """The Python file with inputs, reference, oracle and cost."""
        return self.path / "reference.py"

    def stating(self, **changed: Any) -> ClaimFolder:
        """Return the claim with other values of those keys."""
        statement = self.claim.model_copy(update=changed)
        return replace(self, audited=self.audited.model_copy(update={"statement": statement}))

    def only(self, *names: str) -> ClaimFolder:
        """Return the claim as if it had no other variants than those named."""
        return self.stating(variant=tuple(one for one in self.claim.variant if one.name in names))

    def source_of(self, variant: Variant) -> Path:
        """Return the variant's file."""
        return self.path / variant.file

    def digest_of(self, variant: Variant) -> str:
        """Return the SHA-256 of the variant's file."""
        return next(source.sha256 for source in self.audited.sources if source.file == variant.file)

    def published_lines(self, variant: Variant) -> int | None:
        """Return how many lines of the variant's file are the original's, where lines of `audit import` follow them;
        None where all are."""
        before, _, added = self.source_of(variant).read_bytes().partition(ADDED.encode())
        published = before.removesuffix(b"\n\n# ").removesuffix(b"\n\n// ")
        originals = {one.sha256 for one in self.audited.sources if one.file.startswith("original/")}
        if not added or not published or hashlib.sha256(published).hexdigest() not in originals:
            return None
        return len(io.StringIO(published.decode(), newline=None).readlines())

    def located(self, variant: Variant | None, text: str) -> str:
        """Return a sentence about a variant with the imported file and line behind each line of the claimed source that
        it names, where the import joined files or put lines in front."""
        if variant is None or variant.role != "claimed" or not variant.file.endswith((".cu", ".py")):
            return text
        kept = [one for one in self.claim.original if one.file.endswith(SOURCES)]
        originals = {one.published_as: self._read(one.file) for one in kept}
        return places.located(text, places.of(self._read(variant.file), originals))

    def _read(self, file: str) -> str:
        return _text(self.path, file, limit_bytes=untrusted.DOCUMENT_BYTES, empty=True)


def shown(path: Path) -> str:
    """Return a path as it can be typed again: a claim's name, a path within the working folder, or a name alone."""
    path = path.resolve()
    if path.parent == KERNELS:
        return path.name
    here = Path.cwd()
    name = str(path.relative_to(here)) if path.is_relative_to(here) else path.name
    return f"./{name}" if name.startswith("-") else name  # a dash would begin an option


def names(root: Path = KERNELS) -> list[str]:
    """Return the claims in `root`, sorted: every folder with a `claim.toml`."""
    return sorted(path.parent.name for path in root.glob(f"*/{STATEMENT}"))


def load(name_or_path: str, *, lessons: bool = False) -> ClaimFolder:
    """Read a claim by its name among `KERNELS` or by the path of its folder, with its lessons if asked for. Raises
    BadInput: no such folder, broken TOML, an unknown or mistyped key, a missing file, a wrong hash, or text that is not
    UTF-8."""
    folder = _folder(name_or_path)
    statement = _text(folder, STATEMENT)
    claim = parse(statement, f"{folder.name}/{STATEMENT}", lessons=lessons)
    _check_folders(folder, claim)
    kept: list[Variant | Original] = [*claim.variant, *claim.original]
    texts = {file: _text(folder, file) for file in ("reference.py", *(one.file for one in claim.variant))}
    texts |= {
        one.file: _text(folder, one.file, limit_bytes=untrusted.DOCUMENT_BYTES, empty=True) for one in claim.original
    }
    sources = tuple(SourceFile.of(file, text.encode()) for file, text in {STATEMENT: statement, **texts}.items())
    hashes = {source.file: source.sha256 for source in sources}
    for one in kept:
        if one.sha256 not in (None, hashes[one.file]):
            raise BadInput(
                f"{folder.name}/claim.toml: {one.file}: sha256 says {one.sha256}, the file has "
                f"{hashes[one.file]}; correct the key or restore the file"
            )
    return ClaimFolder(path=folder, audited=AuditedClaim(statement=claim, sources=sources))


def texts(audited: AuditedClaim, folder: Path | None = None) -> dict[str, str]:
    """Return the texts of the variants by their files, those that are still what was audited.

    None looks for the folder by the claim's name among `KERNELS`.
    """
    place = folder or KERNELS / audited.statement.name
    known, found = {one.file: one for one in audited.sources}, {}
    for variant in audited.statement.variant:
        with suppress(BadInput):
            text = _text(place, variant.file)
            if known.get(variant.file) == SourceFile.of(variant.file, text.encode()):
                found[variant.file] = text
    return found


def _folder(name_or_path: str) -> Path:
    for folder in (KERNELS / name_or_path, Path(name_or_path)):
        if (folder / STATEMENT).is_file():
            return folder.resolve()
    known = names()
    near = difflib.get_close_matches(name_or_path, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known claims: {', '.join(known) or 'none'}"
    raise BadInput(f"{name_or_path}: no claim of this name and no folder with a claim.toml; {hint}")


def parse(text: str, where: str, *, older: bool = False, lessons: bool = False) -> Claim:
    """Return the claim that the text of a `claim.toml` states; `where` is its name in errors. Lessons are left out
    unless asked for.

    An `older` one was audited into a record older than schema 4 and is read in the words of today. Raises BadInput:
    broken TOML, an unknown or mistyped key, or nothing but lessons.
    """
    if len(text) > MOST_STATED:
        raise BadInput(f"{where}: {len(text):,} characters; a statement has at most {MOST_STATED:,}")
    table = untrusted.toml(text, where)
    table = old_words.replaced(table) if older else table
    try:
        claim = Claim.model_validate_json(json.dumps(table, allow_nan=False, default=str))
        asked = tuple(one for one in claim.variant if lessons or one.role != "lesson")
        return claim if asked == claim.variant else Claim.model_validate({**dict(claim), "variant": asked})
    except ValidationError as error:
        raise BadInput(f"{where}: key {problem(error, 'claim')}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where}: holds a number that is not finite, or is nested too deeply") from error


def _check_folders(folder: Path, claim: Claim) -> None:
    """Raise BadInput for a folder of `-I` that is not one of the claim."""
    for name in include_folders(claim.protocol.flags):
        place = (folder / name).resolve()
        outside = not place.is_relative_to(folder)
        if not name or outside or not place.is_dir():
            why = "is outside of the claim" if name and outside else "is no folder of the claim"
            raise BadInput(
                f"{folder.name}/{STATEMENT}: protocol.flags: -I{name} {why}; copy what it has into the claim's folder"
            )


def _text(folder: Path, file: str, *, limit_bytes: int = untrusted.SOURCE_BYTES, empty: bool = False) -> str:
    path = untrusted.inside(folder, file)
    if not path.exists():
        raise BadInput(f"{folder.name}/{file}: the file is missing; claim.toml lists it or every claim needs it")
    return untrusted.text(path, limit_bytes=limit_bytes, empty=empty)
