"""The check of a bundle: hashes, schema, sources, then everything the judge derives, derived again from raw samples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from audit import __version__, claims, judge
from audit.apps.bundle import archive, derived
from audit.apps.bundle.archive import MOST_BYTES, Manifest, Unsound, checked, sha256, unpack
from audit.apps.bundle.make import SOURCES
from audit.claims import STATEMENT
from audit.model import SCHEMA, Record, store, untrusted
from audit.model.errors import BadInput
from audit.model.store import RECORD


@dataclass(frozen=True)
class Verified:
    """The content of a sound bundle; `sha256` is that of the zip, to compare with the one its maker published."""

    manifest: Manifest
    record: Record
    sha256: str


def verify(bundle: Path) -> Verified:
    """Reads a bundle in memory, runs nothing of it, and derives again all that can be derived.

    Raises:
        BadInput: no such file, or one too large to be a bundle.
        Unsound: the first thing that is not as it should be.
    """
    data = _data(bundle)
    files = unpack(data)
    listed_in = checked(files)
    record = _record(files)
    _check_sources(record, files)
    try:
        _check_judgement(listed_in, record)
        _check_derived(record, files)
    except Unsound as error:
        if listed_in.kit == __version__:
            raise
        raise Unsound(f"{error} (made by version {listed_in.kit}, this is {__version__}: try that one)") from error
    return Verified(listed_in, record, sha256(data))


def _data(bundle: Path) -> bytes:
    return untrusted.data(bundle, limit_bytes=MOST_BYTES, empty=True)


def _record(files: Mapping[str, bytes]) -> Record:
    if RECORD not in files:
        raise Unsound(f"it has no {RECORD}")
    try:
        return judge.as_judged_now(store.parse(files[RECORD], RECORD))
    except BadInput as error:
        raise Unsound(str(error)) from error


def _check_sources(record: Record, files: Mapping[str, bytes]) -> None:
    audited = {f"{SOURCES}/{one.file}": one.sha256 for one in record.claim.sources}
    there = {name for name in files if name.startswith(f"{SOURCES}/")}
    if odd := sorted(there ^ set(audited)):
        raise Unsound(f"{odd[0]}: the record and the bundle do not hold the same sources")
    for name, digest in audited.items():
        if sha256(files[name]) != digest:
            raise Unsound(f"{name} is not the file that was audited: the record holds another SHA-256")
    _check_statement(record, files.get(f"{SOURCES}/{STATEMENT}", b""))


def _check_statement(record: Record, text: bytes) -> None:
    """The claim as the record states it against the `claim.toml` that was audited."""
    try:
        stated = claims.parse(text.decode("utf-8"), STATEMENT)
    except (BadInput, UnicodeDecodeError) as error:
        raise Unsound(f"{SOURCES}/{STATEMENT} is no claim: {error}") from error
    pair = (stated.model_dump(mode="json"), record.claim.statement.model_dump(mode="json"))
    if found := derived.difference(*pair):
        raise Unsound(f"{RECORD} does not state what {SOURCES}/{STATEMENT} does: {found}")


def _check_judgement(listed_in: Manifest, record: Record) -> None:
    """Verdict and ladder from findings and samples; the manifest's words too.

    A record of an older schema holds the verdict of older rules: it is judged again, and nothing there is compared.
    """
    before = record.verdict.first_judged if record.schema_ < SCHEMA else None
    verdict = judge.judge(record).model_copy(update={"first_judged": before})
    here = {"verdict": verdict.model_dump(mode="json"), "ladder": _ladder(record)}
    stated = {
        "verdict": record.verdict.model_dump(mode="json"),
        "ladder": [rung.model_dump(mode="json") for rung in record.ladder],
    }
    if found := derived.difference(here, stated):
        raise Unsound(f"{RECORD} does not follow from its findings and samples: {found}")
    if (listed_in.claim, listed_in.verdict) != (record.claim.statement.name, record.verdict.name):
        raise Unsound(f"{archive.NAME} says {listed_in.claim}: {listed_in.verdict}, its record {record.verdict.name}")


def _ladder(record: Record) -> list[dict[str, object]]:
    rungs = judge.ladder(record.claim.statement, record.findings, record.measurements)
    return [rung.model_dump(mode="json") for rung in rungs]


def _check_derived(record: Record, files: Mapping[str, bytes]) -> None:
    if files.get(derived.SAMPLES) != derived.samples(record):
        raise Unsound(f"{derived.SAMPLES} does not hold the samples of {RECORD}")
    apart = {derived.STATISTICS, derived.STATEMENT, derived.CRATE, archive.NAME}
    rest = {name: data for name, data in files.items() if name not in apart}
    again = {derived.STATISTICS: derived.statistics(record), derived.STATEMENT: derived.statement(record, rest)}
    listed = {name: files[name] for name in files if name not in (derived.CRATE, archive.NAME)}
    again[derived.CRATE] = derived.crate(record, listed)
    for name, data in again.items():
        if name not in files:
            raise Unsound(f"it has no {name}")
        if found := derived.difference(json.loads(data), _json(files, name)):
            raise Unsound(f"{name} does not follow from {RECORD}: {found}")


def _json(files: Mapping[str, bytes], name: str) -> object:
    try:
        value: object = json.loads(files[name])
    except (ValueError, RecursionError) as error:
        raise Unsound(f"{name} is not JSON: {error}") from error
    return value
