"""Files of a bundle that follow from its record: samples, statistics, RO-Crate metadata, an in-toto statement, figures.

Sources: https://www.researchobject.org/ro-crate/specification/1.1/root-data-entity.html and
https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md (v0.1 of the predicate, Statement v1).
The statement itself is not signed; `archive.sign` signs the zip.
"""

from __future__ import annotations

import io
import json
import math
import mimetypes
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
from PIL import Image

from audit import judge
from audit.apps.bundle.archive import Unsound, encoded, sha256
from audit.measure.samples import order_effect, outliers
from audit.model import Measurement, Record, Rung, sanitizer
from audit.model.store import RECORD
from audit.report import safe_csv, waterfall
from audit.report.figures import raster
from audit.report.formats import FIGURES
from audit.report.view import Figure
from audit.run.timing.ratios import interval

CRATE = "ro-crate-metadata.json"
STATEMENT = "test-result.json"
RESULTS = {
    "confirmed": "PASSED",
    **dict.fromkeys(
        ("wrong", "undefined", "aliased result", "vacuous", "reduced precision", "mistimed", "overstated"), "FAILED"
    ),
}
"""A verdict in the words of in-toto; any other says too little to pass or fail, and is a warning."""
TYPES = {
    ".cu": "text/x-cuda",
    ".ipynb": "application/x-ipynb+json",
    ".md": "text/markdown",
    ".toml": "application/toml",
}
SAMPLES = "samples.csv"
STATISTICS = "statistics.json"
COLUMNS = ("timing", "variant", "shape", "protocol", "session", "sample", "block", "position", "ms")
CLOSE = 1e-9
"""Relative difference two machines' arithmetic may have; a published figure has four digits."""


def samples(record: Record) -> bytes:
    """Every raw sample of the record, one a line, as CSV; times in milliseconds with all their digits."""
    rows: list[tuple[object, ...]] = []
    for timing, one in enumerate(record.measurements):
        shape = " ".join(f"{name}={size}" for name, size in one.shape.items())
        for place, ms in enumerate(one.samples_ms):
            block = one.blocks[place] if one.blocks else ""
            position = one.positions[place] if one.positions else ""
            rows.append((timing, one.variant, shape, one.protocol, one.session, place, block, position, ms))
    return safe_csv.text(COLUMNS, rows).encode()


def statistics(record: Record, raw: bytes) -> bytes:
    """Verdict, ladder, medians and ratios as the judge derives them from findings and raw samples, as JSON.

    `raw` is what `samples` gives for the record.
    """
    rungs = judge.ladder(record.claim.statement, record.findings, record.measurements)
    document = {
        "samples_sha256": sha256(raw),
        "verdict": judge.judge(record).model_dump(mode="json"),
        "ladder": [rung.model_dump(mode="json") for rung in rungs],
        "timings": [_timing(one) for one in record.measurements],
        "ratios": _ratios(record, rungs),
    }
    return encoded(document)


def difference(ours: Any, theirs: Any, place: str = "") -> str | None:
    """The first place where two JSON values differ by more than arithmetic does, and both values; None if nowhere."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        pairs = [(f"{place}.{key}".lstrip("."), ours[key], theirs[key]) for key in ours]
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = [(f"{place}[{index}]", *pair) for index, pair in enumerate(zip(ours, theirs, strict=True))]
    elif isinstance(ours, float) and isinstance(theirs, float):
        close = math.isclose(ours, theirs, rel_tol=CLOSE)
        return None if close else f"{place}: {theirs!r} in the bundle, here {ours!r}"
    else:
        same = type(ours) is type(theirs) and ours == theirs
        return None if same else f"{place}: {_short(theirs)} in the bundle, here {_short(ours)}"
    return next((found for at, a, b in pairs if (found := difference(a, b, at))), None)


def _timing(one: Measurement) -> dict[str, Any]:
    return {
        "variant": one.variant,
        "protocol": one.protocol,
        "session": one.session,
        "samples": len(one.samples_ms),
        "median_ms": median(one.samples_ms),
        "interval_ms": interval(one),
        "order_effect": order_effect(one),
        "outliers": outliers(one.samples_ms),
    }


def _ratios(record: Record, rungs: tuple[Rung, ...]) -> list[dict[str, Any]]:
    """Each passing variant against eager and against the strongest baseline of its precision class."""
    ratios = []
    for rung in (one for one in rungs if one.state == "passed"):
        for one in waterfall.comparisons(record, rung.variant, rung.precision):
            names, ratio = {"variant": rung.variant, "baseline": one.baseline}, one.ratio
            values = {"value": ratio.value, "low": ratio.low, "high": ratio.high, "blocks": ratio.blocks}
            ratios.append({**names, **values, "doubt": one.doubt})
    return ratios


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:59] + "…"


def crate(record: Record, files: Mapping[str, bytes]) -> bytes:
    """RO-Crate 1.1 metadata of those files: the root dataset, this file, and an entity for every other."""
    names = sorted(files)
    claim = record.claim.statement
    about = {"about": {"@id": "./"}, "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"}}
    descriptor = {"@id": CRATE, "@type": "CreativeWork", **about}
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Audit of a GPU-kernel speedup claim: {claim.title}",
        "description": f"Verdict {record.verdict.name}, on {record.device.name}; record, samples, sources, reports.",
        "datePublished": record.environment.started_utc,
        "license": "Sources keep the licence of whoever published them; the record says where.",
        "hasPart": [{"@id": name} for name in names],
    }
    if sanitizer.ADDRESS.fullmatch(claim.source.url):
        root["isBasedOn"] = claim.source.url
    parts = []
    for name in names:
        ending = f".{name.rpartition('.')[2]}"
        kind = TYPES.get(ending) or mimetypes.types_map.get(ending, "application/octet-stream")
        parts.append({"@id": name, "@type": "File", "contentSize": str(len(files[name])), "encodingFormat": kind})
    return encoded({"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [descriptor, root, *parts]})


def statement(record: Record, files: Mapping[str, bytes]) -> bytes:
    """An in-toto Statement v1 with a test-result predicate: the sources audited, and what every probe found of them."""
    subjects = [{"name": one.file, "digest": {"sha256": one.sha256}} for one in record.claim.sources]
    configuration = {"name": RECORD, "digest": {"sha256": sha256(files[RECORD])}}
    tests: dict[str, dict[str, None]] = {"passedTests": {}, "warnedTests": {}, "failedTests": {}}
    for one in record.findings:
        kind = "passedTests" if one.outcome == "pass" else "failedTests" if one.fails_kernel else "warnedTests"
        tests[kind][f"{one.target}: {one.probe}" + (f" ({one.device})" if one.device else "")] = None
    predicate = {
        "result": RESULTS.get(record.verdict.name, "WARNED"),
        "configuration": [configuration],
        **{kind: list(names) for kind, names in tests.items()},
    }
    document = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": predicate,
    }
    return encoded(document)


SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHUNKS = frozenset({b"IHDR", b"pHYs", b"IDAT", b"IEND"})
"""The kinds of chunk that a figure of a report has: no text, no time, nothing behind the end."""
LARGER = 4
"""Times the bytes of the figure drawn here: libraries deflate the same pixels otherwise."""
MOST_LEVELS = 2
"""Levels of 255: a processor's arithmetic may round a pixel's colour otherwise."""


def name_of(figure: Figure) -> str:
    """Return the name of a figure's file."""
    return f"{FIGURES}/{figure.name}.png"


def compared(drawn: Iterable[Figure], files: Mapping[str, bytes], made_with: str) -> Iterator[tuple[Figure, str]]:
    """Give each figure with the bytes that the bundle has for it, and why its pixels were not compared, if so.

    `drawn` are the figures that the record gives here, `made_with` is the library that drew those of the bundle.

    Raises:
        Unsound: a figure is missing, is no plain PNG of that size, or shows something else.
    """
    here = raster.drawn_with()
    for one in drawn:
        name, theirs = name_of(one), files.get(name_of(one))
        if theirs is None:
            raise Unsound(f"it has no {name}")
        if theirs == one.png:
            yield one, ""
            continue
        pixels, ours = _pixels(theirs, name, one.png), _pixels(one.png, name, one.png)
        if made_with == here and np.abs(pixels - ours).max() > MOST_LEVELS:
            raise Unsound(f"{name} does not show what the record gives: other pixels, drawn by the same {here}")
        yield replace(one, png=theirs), "" if made_with == here else f"drawn by {made_with}; here is {here}"


def _pixels(png: bytes, name: str, like: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    """Return the pixels of a PNG whose first chunk, with the size, is that of `like`."""
    if png[:33] != like[:33] or len(png) > LARGER * len(like) or not set(_kinds(png)) <= CHUNKS:
        raise Unsound(f"{name} is no PNG as the figures of a report are")
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            return np.asarray(image.convert("RGBA"), dtype=np.int16)
    except (OSError, ValueError, SyntaxError) as error:
        raise Unsound(f"{name} is a broken PNG: {error}") from error


def _kinds(png: bytes) -> Iterator[bytes]:
    """Give the kind of every chunk; an empty one for bytes that are none."""
    place = len(SIGNATURE)
    while place < len(png):
        if place + 12 > len(png):
            yield b""
            return
        length, kind = struct.unpack_from(">L4s", png, place)
        place += 12 + length
        yield kind if place <= len(png) else b""
