"""From the folder of a finished audit to one zip."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from audit import claims, judge
from audit.apps.bundle import archive, derived
from audit.apps.bundle.archive import MOST_BYTES, fits, manifest_of, pack, sha256
from audit.model import Record, atomic, untrusted
from audit.model.errors import BadInput
from audit.model.store import RECORD

SOURCES = "sources"
REPORTS = (".md", ".html", ".pdf", ".ipynb", ".csv", ".yaml")
"""Endings of what an audit leaves beside its record: the executed notebook, its tables and its parameters included."""
PICTURES = ("figures/*.png",)


def make(place: Path, *, claim: Path | None = None, out: Path | None = None) -> Path:
    """Writes the bundle of a finished audit and returns its path.

    Args:
        place: a record, or the folder it lies in as `record.json`.
        claim: the claim's folder; None looks for the claim by its name among those of this kit.
        out: the file to write; None names it after the folder, beside it.

    Raises:
        BadInput: no finished record, sources that are not those audited, or a folder that cannot be written.
    """
    file = place / RECORD if place.is_dir() else place
    record = judge.opened(file)
    if record.verdict.name == "incomplete":
        raise BadInput(f"{file}: the audit has not finished; run it again, or to its end, before it is bundled")
    files = {RECORD: _bytes(file), **_reports(file.parent), **sources(record, claim)}
    if odd := next((name for name in files if not fits(name)), None):
        raise BadInput(f"{file.parent}: {odd!r} cannot be the name of a file in a bundle; rename it, or move it away")
    data = pack(complete(record, files))
    if len(data) > MOST_BYTES:
        raise BadInput(f"{file.parent}: {len(data):,} bytes to bundle, at most {MOST_BYTES:,} may be")
    target = out or file.parent.resolve().with_suffix(".zip")
    _write(target, data)
    return target


def complete(record: Record, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those files with everything derived from the record beside them, and the manifest of all."""
    more = {**files, derived.SAMPLES: derived.samples(record), derived.STATISTICS: derived.statistics(record)}
    more[derived.STATEMENT] = derived.statement(record, more)
    more[derived.CRATE] = derived.crate(record, more)
    return {**more, archive.NAME: manifest_of(record, more)}


def sources(record: Record, folder: Path | None) -> dict[str, bytes]:
    """The audited files of the claim, found by name and held to the hashes in the record."""
    name = record.claim.statement.name
    place = folder or claims.KERNELS / name
    found = {}
    for one in record.claim.sources:
        data = _bytes(
            untrusted.inside(place, one.file),
            f"; name the folder of the claim with --claim, as it was audited ({name})",
        )
        if sha256(data) != one.sha256:
            raise BadInput(f"{place / one.file}: changed since the audit; name the folder as it was with --claim")
        found[f"{SOURCES}/{one.file}"] = data
    return found


def _reports(folder: Path) -> dict[str, bytes]:
    """The reports beside the record, their pictures, and the executed notebook."""
    beside = [path for path in folder.iterdir() if path.suffix in REPORTS and not path.name.startswith(".")]
    pictures = [path for pattern in PICTURES for path in folder.glob(pattern)]
    plain = [path for path in (*beside, *pictures) if path.is_file() and not path.is_symlink()]
    return {path.relative_to(folder).as_posix(): _bytes(path) for path in plain}


def _bytes(path: Path, advice: str = "") -> bytes:
    try:
        return untrusted.data(path, limit_bytes=MOST_BYTES, empty=True)
    except BadInput as error:
        raise BadInput(f"{error}{advice}") from error


def _write(target: Path, data: bytes) -> None:
    try:
        atomic.write(target, data)
    except OSError as error:
        raise BadInput(f"{target}: cannot be written ({error.strerror}); name another file with --out") from error
