"""From the folder of a finished audit to one zip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from audit import claims, judge, report
from audit.apps.bundle import archive, derived
from audit.apps.bundle.archive import MOST_BYTES, fits, pack, sha256
from audit.apps.bundle.derived import name_of
from audit.model import Record, atomic, untrusted
from audit.model.errors import BadInput
from audit.model.finding import GENERATED
from audit.model.store import RECORD
from audit.report import figures, formats
from audit.report.figures import raster

SOURCES = "sources"
KEPT = {
    "executed.ipynb": "the notebook as it ran",
    "parameters.yaml": "the form of the notebook",
    **{one.file(language): "printed by a browser" for one, language in formats.FILES.values() if one.ending == "pdf"},
}
"""The files that do not follow from the record, and what each is; they are bundled as they lie beside it."""


def make(place: Path, *, claim: Path | None = None, out: Path | None = None) -> Path:
    """Write the bundle of a finished audit and return its path.

    `place` is a record or the folder it lies in. Pages and figures are made from the record again, those that lie
    beside it alone. Without its folder the `claim` is looked up by its name among those of this kit; the file is named
    after the folder, beside it, unless `out` names it. Raises BadInput: no finished record, sources that are not those
    audited, or a folder that cannot be written.
    """
    file = place / RECORD if place.is_dir() else place
    record = judge.opened(file)
    if record.verdict.name == "incomplete":
        raise BadInput(f"{file}: the audit has not finished; run it again, or to its end, before it is bundled")
    there = [name for name in formats.FILES if _is_plain(file.parent / name)]
    kept = {name: _bytes(file.parent / name) for name in KEPT if _is_plain(file.parent / name)}
    files = complete(record, {RECORD: _bytes(file), **kept, **sources(record, claim)}, there)
    data = pack(files)
    if len(data) > MOST_BYTES:
        raise BadInput(f"{file.parent}: {len(data):,} bytes to bundle, at most {MOST_BYTES:,} may be")
    target = out or file.parent.resolve().with_suffix(".zip")
    with atomic.writing(target, "name another file with --out"):
        atomic.write(target, data)
    return target


def complete(record: Record, given: Mapping[str, bytes], pages: Iterable[str] = ()) -> dict[str, bytes]:
    """Return those files with everything derived from the judged record beside them, and the manifest of all.

    `given` are the record, its sources and the files of `KEPT`; `pages` the names of the pages wanted.

    Raises:
        ValueError: the record's generated repairs do not follow from its sources.
    """
    drawn = figures.draw(record)
    wanted = {name: formats.FILES[name] for name in pages if name not in KEPT}
    files = {
        **given,
        **report.pages(record, drawn, wanted, texts(record, given)),
        **{name_of(one): one.png for one in drawn},
    }
    raw = derived.samples(record)
    files |= {derived.SAMPLES: raw, derived.STATISTICS: derived.statistics(record, raw)}
    files |= generated(record, files)
    return files | about(record, files, drawn_with=raster.drawn_with())


def generated(record: Record, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the sources of the repairs that the audit generated, made again from the claimed one among those files.
    Raises ValueError: a change does not fit that source, or gives another file than was built."""
    claimed = record.claim.statement.claimed
    if claimed is None or not record.generated:
        return {}
    text, found = files[f"{SOURCES}/{claimed.file}"].decode("utf-8"), {}
    for one in record.generated:
        data = one.change.applied(text).encode()
        if sha256(data) != one.variant.sha256:
            raise ValueError(f"{one.variant.file}: the change gives another file than was built")
        found[f"{GENERATED}/{one.variant.file}"] = data
    return found


def texts(record: Record, files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the texts of the variants among those files, by their names in the claim."""
    named = {one.file: f"{SOURCES}/{one.file}" for one in record.claim.statement.variant}
    return {name: files[path].decode("utf-8", "replace") for name, path in named.items() if path in files}


def about(record: Record, files: Mapping[str, bytes], **made: str) -> dict[str, bytes]:
    """Return the three files that describe the others: statement, crate, manifest; `made` is as `manifest.stated`."""
    more = {**files, derived.STATEMENT: derived.statement(record, files)}
    more[derived.CRATE] = derived.crate(record, more)
    more[archive.MANIFEST] = archive.stated(record, more, **made)
    return {name: more[name] for name in (derived.STATEMENT, derived.CRATE, archive.MANIFEST)}


def sources(record: Record, folder: Path | None) -> dict[str, bytes]:
    """Return the audited files of the claim, found by name and held to the hashes in the record."""
    name = record.claim.statement.name
    place = folder or claims.KERNELS / name
    found: dict[str, bytes] = {}
    for one in record.claim.sources:
        path = untrusted.inside(place, one.file)
        try:
            data = _bytes(path)
        except BadInput as error:
            why = f"name the folder of the claim with --claim, as it was audited ({name})"
            raise BadInput(f"{error}; {why}") from error
        if sha256(data) != one.sha256:
            raise BadInput(f"{place / one.file}: changed since the audit; name the folder as it was with --claim")
        target = f"{SOURCES}/{one.file}"
        if not fits(target) or target.casefold() in map(str.casefold, found):
            raise BadInput(f"{place}: {one.file!r} cannot be the name of a file in a bundle; rename it")
        found[target] = data
    return found


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _bytes(path: Path) -> bytes:
    return untrusted.data(path, limit_bytes=MOST_BYTES, empty=True)
