"""The check of a bundle: hashes, schema, sources, then everything that follows from the record, derived again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from audit import __version__, claims, judge, report
from audit.apps.bundle import archive, derived
from audit.apps.bundle.archive import MOST_BYTES, Manifest, Unsound, checked, encoded, sha256, unpack
from audit.apps.bundle.make import KEPT, SOURCES, about, generated, texts
from audit.claims import STATEMENT
from audit.measure import outputs
from audit.measure.comparison import TIMED_OUTPUTS
from audit.model import SCHEMA, Finding, Record, old_words, sanitizer, store, untrusted
from audit.model.errors import BadInput
from audit.model.store import RECORD
from audit.probes import CONCLUSIONS
from audit.probes.concluding.answer import Answer, Observed, finding
from audit.report import figures, formats

SHOWN = 60
"""Characters of a line that differs."""


@dataclass(frozen=True)
class Verified:
    """The content of a sound bundle, its record judged.

    `sha256` is that of the zip, to compare with the one its maker published; `signer` the key that signed the zip, None
    where no signature lies beside it. The files `not_derived` were held to their hashes only, each with the reason.
    """

    manifest: Manifest
    record: Record
    sha256: str
    signer: str | None
    not_derived: dict[str, str]


def verify(bundle: Path, *, key: Path | None = None) -> Verified:
    """Read a bundle in memory, run nothing of it, and derive again all that can be derived.

    Its signature lies beside the zip; `key` is the public key that must have signed it.

    Raises:
        BadInput: no such file, or one too large to be a bundle.
        Unsound: the first thing that is not as it should be.
    """
    if bundle.is_dir():
        raise BadInput(f"{bundle}: a folder; name the zip that `audit bundle` wrote")
    data = untrusted.data(bundle, limit_bytes=MOST_BYTES, empty=True)
    files = unpack(data)
    listed = checked(files)
    if RECORD not in files:
        raise Unsound(f"it has no {RECORD}")
    try:
        record = judge.as_judged_now(store.parse(files[RECORD], RECORD))
    except BadInput as error:
        raise Unsound(str(error)) from error
    _check_sources(record, files)
    try:
        if odd := unlike(record):
            raise Unsound(f"{RECORD} has a finding that does not follow from its observations: {odd[0]}")
        _check_judgement(listed, record)
        not_derived = _check_files(listed, record, files)
    except Unsound as error:
        if listed.kit == __version__:
            raise
        raise Unsound(f"{error} (made by version {listed.kit}, this is {__version__}: try that one)") from error
    return Verified(listed, record, sha256(data), archive.signer(bundle, key=key), not_derived)


def _check_sources(record: Record, files: Mapping[str, bytes]) -> None:
    """The sources by their hashes, and the claim as the record states it against the `claim.toml` among them."""
    audited = {f"{SOURCES}/{one.file}": one.sha256 for one in record.claim.sources}
    there = {name for name in files if name.startswith(f"{SOURCES}/")}
    if odd := sorted(there ^ set(audited)):
        raise Unsound(f"{odd[0]}: the record and the bundle do not hold the same sources")
    for name, digest in audited.items():
        if sha256(files[name]) != digest:
            raise Unsound(f"{name} is not the file that was audited: the record holds another SHA-256")
    text = files.get(f"{SOURCES}/{STATEMENT}", b"")
    try:
        stated = claims.parse(text.decode("utf-8"), STATEMENT, older=record.schema_ < old_words.TODAY)
    except (BadInput, UnicodeDecodeError) as error:
        raise Unsound(f"{SOURCES}/{STATEMENT} is no claim: {error}") from error
    pair = (stated.model_dump(mode="json"), record.claim.statement.model_dump(mode="json"))
    if found := derived.difference(*pair):
        raise Unsound(f"{RECORD} does not state what {SOURCES}/{STATEMENT} does: {found}")


def _check_judgement(listed: Manifest, record: Record) -> None:
    """Verdict and ladder from findings and samples; the manifest's words too.

    A record of an older schema holds the verdict of older rules: it is judged again, and nothing there is compared.
    """
    before = record.verdict.first_judged if record.schema_ < SCHEMA else None
    verdict = judge.judge(record).model_copy(update={"first_judged": before})
    ladder = judge.ladder(record.claim.statement, record.findings, record.measurements)
    here, stated = (
        {"verdict": said.model_dump(mode="json"), "ladder": [rung.model_dump(mode="json") for rung in rungs]}
        for said, rungs in ((verdict, ladder), (record.verdict, record.ladder))
    )
    if found := derived.difference(here, stated):
        raise Unsound(f"{RECORD} does not follow from its findings and samples: {found}")
    if (listed.claim, listed.verdict) != (record.claim.statement.name, record.verdict.name):
        raise Unsound(f"{archive.MANIFEST} says {listed.claim}: {listed.verdict}, its record {record.verdict.name}")


def _check_files(listed: Manifest, record: Record, files: Mapping[str, bytes]) -> dict[str, str]:
    """Every other file; return those that cannot be derived here, with the reason.

    The pages are made with the figures of the bundle, whose pixels are compared on their own.
    """
    try:
        made = generated(record, files)
    except (LookupError, ValueError) as error:
        raise Unsound(f"{RECORD} has a generated repair that does not follow from its source: {error}") from error
    drawn = dict(derived.compared(figures.draw(record), files, listed.drawn_with))
    pages = {name: form for name, form in formats.FILES.items() if name in files and name not in KEPT}
    raw = derived.samples(record)
    again = {derived.SAMPLES: raw, derived.STATISTICS: derived.statistics(record, raw)}
    again |= report.pages(record, drawn, pages, texts(record, files)) | made
    given = {name for name in files if name == RECORD or name in KEPT or name.startswith(f"{SOURCES}/")}
    known = {*again, *given, *map(derived.name_of, drawn), derived.STATEMENT, derived.CRATE, archive.MANIFEST}
    if odd := sorted(set(files) ^ known):
        raise Unsound(f"{odd[0]} is no file of a bundle" if odd[0] in files else f"it has no {odd[0]}")
    for name, data in again.items():
        _compare(name, data, files[name])
    rest = {name: data for name, data in files.items() if name in (*again, *given, *map(derived.name_of, drawn))}
    for name, data in about(record, rest, drawn_with=listed.drawn_with, kit=listed.kit).items():
        _compare(name, data, files[name])
    apart = {derived.name_of(one): why for one, why in drawn.items() if why}
    return apart | {name: why for name, why in KEPT.items() if name in files}


def _compare(name: str, ours: bytes, theirs: bytes) -> None:
    """A derived file, byte for byte; the statistics by value, since arithmetic differs between machines."""
    if ours == theirs:
        return
    if name == derived.STATISTICS:
        try:
            value = untrusted.json_document(theirs, name)
        except BadInput as error:
            raise Unsound(str(error)) from error
        if encoded(value) != theirs:
            raise Unsound(f"{name} is not in the form that this kit writes")
        if found := derived.difference(json.loads(ours), value):
            raise Unsound(f"{name} does not follow from {RECORD}: {found}")
        return
    pairs = zip_longest(ours.split(b"\n"), theirs.split(b"\n"))
    number, (right, wrong) = next((place, pair) for place, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    raise Unsound(f"{name} does not follow from {RECORD}: line {number}: {_shown(wrong, right)}, "
                  f"and must be {_shown(right, wrong)}")  # fmt: skip


def _shown(line: bytes | None, other: bytes | None) -> str:
    """The part of a line from shortly before the first byte that differs."""
    if line is None or other is None:
        return "no line" if line is None else "a line"
    same = next((place for place, pair in enumerate(zip(line, other, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(len(line), len(other)) if same is None else same) - SHOWN // 2)
    return json.dumps(sanitizer.line(line[start : start + 4 * SHOWN].decode("utf-8", "replace"), limit=SHOWN))


_CONCLUSIONS: dict[str, Callable[[Observed], Answer]] = {**CONCLUSIONS, TIMED_OUTPUTS: outputs.conclude}
OBSERVED = 4
"""The first schema whose findings hold all that they follow from."""
_NOT_OBSERVED = ("seconds", "device", "reproduce_with", "confirmed")
"""What a finding says beside its observations: how long it took, where, and whether a second build showed the same."""


def unlike(record: Record) -> list[str]:
    """One sentence for each finding of a record that does not follow from its own observations.

    A finding without observations is no failure and no pass: it says why there are none. Records of older schemas hold
    too little to derive findings from, and findings of the source review, of builds and of floors have no observations.
    """
    if record.schema_ < OBSERVED:
        return []
    return [why for found in record.findings if (why := _unlike(found)) is not None]


def _unlike(found: Finding) -> str | None:
    conclude = _CONCLUSIONS.get(found.probe)
    if conclude is None:
        return None
    named = f"{found.probe} of {found.target}"
    if not found.evidence:
        return None if found.outcome in ("skip", "error") else f"{named}: {found.outcome} without observations"
    try:
        again = finding(found.probe, found.target, dict(found.evidence), conclude)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return f"{named}: its observations are not those of this question ({type(error).__name__}: {error})"
    kept = {name: getattr(found, name) for name in _NOT_OBSERVED}
    if again.model_copy(update=kept) == found:
        return None
    return f"{named}: its observations give {again.outcome}: {again.summary}"
