"""A real bundle with one change, hashed again by its forger: none is sound, and every bundle of the reports here is."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import struct
import tomllib
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from audit import claims, judge, report
from audit.apps import bundle
from audit.apps.bundle import archive, derived
from audit.apps.bundle.make import KEPT
from audit.model import old_words, store
from audit.report import figures, formats
from audit.report.figures import raster
from audit.report.view import Figure
from tests.bundle.forging import Files, as_json, edited, rehashed, told
from tests.conftest import part

REPORTS = Path(__file__).resolve().parents[2] / "reports"
RECORDS = sorted(REPORTS.glob("*/*/record.json"))
PAGES = sorted(set(formats.FILES) - set(KEPT))
TEXTS = [*PAGES, "samples.csv", "statistics.json", "test-result.json", "ro-crate-metadata.json", "manifest.json",
         "record.json", "parameters.yaml", "executed.ipynb"]  # fmt: skip
DOCUMENTS = [name for name in TEXTS if name.endswith(".json")]
VARIANT = "\n[[variant]]\n"
FLOORS, WATERFALL = "figures/floors.png", "figures/waterfall.png"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit with every page in every language, a figure, its notebook and its parameters."""
    place = Path(shutil.copytree(REPORTS / "side_stream" / "emulated", tmp_path_factory.mktemp("audited") / "a"))
    record = judge.opened(place / "record.json")
    for language in ("en", "ja"):
        report.render(record, place, formats.Form(language, ("md", "html", "comment", "openreview")))
    (place / "executed.ipynb").write_text(json.dumps({"cells": [], "metadata": {}}), encoding="utf-8")
    (place / "parameters.yaml").write_text('claim: "side_stream"\nseed: 1\n', encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def files(folder: Path) -> Files:
    return archive.unpack(bundle.make(folder).read_bytes())


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The bundle of an audit with times and two figures."""
    out = tmp_path_factory.mktemp("timed") / "b.zip"
    return archive.unpack(bundle.make(REPORTS / "conv3d_min_clamp" / "h100", out=out).read_bytes())


def as_audited(place: Path, tmp_path: Path) -> Path:
    """The folder of a claim with its statement as it was audited: a repair or a lesson may have joined the claim since,
    and records older than schema 4 had a role `thief`."""
    folder, record = claims.KERNELS / place.parent.parent.name, store.read(place)
    statement = (folder / claims.STATEMENT).read_text(encoding="utf-8")
    (audited,) = [one.sha256 for one in record.claim.sources if one.file == claims.STATEMENT]
    if hashlib.sha256(statement.encode()).hexdigest() == audited:
        return folder
    known = {variant.file for variant in record.claim.statement.variant}
    head, *blocks = statement.split(VARIANT)
    text = VARIANT.join([head, *(one for one in blocks if tomllib.loads(VARIANT + one)["variant"][0]["file"] in known)])
    if record.schema_ < old_words.TODAY:
        text = text.replace('"no_op"', '"thief"').replace('"no_op.cu"', '"thief.cu"')
    if text == statement:
        return folder
    older = Path(shutil.copytree(folder, tmp_path / folder.name))
    (older / claims.STATEMENT).write_text(text, encoding="utf-8")
    return older


@pytest.mark.parametrize("place", part(RECORDS), ids=lambda path: str(path.parent.relative_to(REPORTS)))
def test_every_report_here_makes_a_sound_bundle(place: Path, tmp_path: Path) -> None:
    found = bundle.verify(bundle.make(place, claim=as_audited(place, tmp_path), out=tmp_path / "b.zip"))
    assert (found.not_derived, found.signer) == ({}, None)


def test_files_that_cannot_be_derived_are_listed(files: Files, folder: Path) -> None:
    found = bundle.verify(folder.with_suffix(".zip"))
    assert set(found.not_derived) == {"executed.ipynb", "parameters.yaml"}
    assert set(files) >= {*PAGES, FLOORS}


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in (*KEPT, "record.json")])
def test_every_text_follows_from_the_record(files: Files, tmp_path: Path, name: str) -> None:
    half = files[name].index(b"\n", len(files[name]) // 2) + 1
    for text in (files[name] + b"\n", files[name][:half] + b"CONFIRMED\n" + files[name][half:]):
        assert name in told(tmp_path / "x.zip", rehashed(files, **{name: text}))


@pytest.mark.parametrize(("verdict", "forged"), [("confirmed", "CONFIRMED"), ("overstated", "NO DEFECT FOUND")])
def test_a_report_that_says_another_verdict(files: Files, tmp_path: Path, verdict: str, forged: str) -> None:
    lines = files["report.md"].decode().split("\n")
    own = json.loads(files["manifest.json"])["verdict"].upper()
    number = next(place for place, line in enumerate(lines) if own in line.upper())
    lines[number] = lines[number].upper().replace(own, forged)
    sentence = told(tmp_path / "x.zip", rehashed(files, **{"report.md": "\n".join(lines).encode()}))
    assert sentence.startswith(f"report.md does not follow from record.json: line {number + 1}: ")


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("name", ["record.json", "manifest.json", "statistics.json"])
def test_one_encoding(files: Files, tmp_path: Path, name: str, coding: str) -> None:
    data = files[name].decode().encode(coding)
    assert name in told(tmp_path / "x.zip", rehashed(files, **{name: data}))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_one_value_a_key(files: Files, tmp_path: Path, name: str) -> None:
    document = json.loads(files[name])
    key = next(iter(document))
    for again, words in (
        (json.dumps(key), "twice|follow|form"),
        (f'"\\u{ord(key[0]):04x}{key[1:]}"', "twice|follow|form"),
    ):
        text = files[name].replace(b"{", f"{{{again}: {json.dumps(document[key])}, ".encode(), 1)
        assert json.loads(text) == document
        sentence = told(tmp_path / "x.zip", rehashed(files, **{name: text}))
        assert name in sentence and any(word in sentence for word in words.split("|"))


def changed_statement(extra: bytes) -> Callable[[Files], bytes]:
    """The claim.toml with more text, and the record of exactly that file."""

    def forge(files: Files) -> bytes:
        text, document = files["sources/claim.toml"] + extra, json.loads(files["record.json"])
        (own,) = (one for one in document["claim"]["sources"] if one["file"] == "claim.toml")
        own |= {"sha256": archive.sha256(text), "size_bytes": len(text)}
        return rehashed(files, **{"sources/claim.toml": text, "record.json": as_json(document)})

    return forge


def with_manifest(**changed: object) -> Callable[[Files], bytes]:
    return lambda files: rehashed(files, **{"manifest.json": as_json(json.loads(files["manifest.json"]) | changed)})


def with_empty_chunks(files: Files) -> bytes:
    png = files[FLOORS]
    return rehashed(files, **{FLOORS: png[:-12] + chunk(b"IDAT", b"") * 100_000 + png[-12:]})


DAMAGE: dict[str, tuple[Callable[[Files], bytes], str]] = {
    "schema 9": (edited(lambda one: one.update(schema=9)), "not a record of schema"),
    "a field more": (edited(lambda one: one.update(note="")), "not a record of schema"),
    "NaN": (edited(lambda one: one["findings"][0]["evidence"].update(n=float("nan"))), "NaN is no number"),
    "an infinite time": (edited(lambda one: one["measurements"][0]["samples_ms"].append(float("inf"))), "Inf"),
    "a finding less": (edited(lambda one: one["findings"].pop()), "does not follow|its record"),
    "a finding twice": (edited(lambda one: one["findings"].append(one["findings"][-1])), "does not follow"),
    "another summary": (edited(lambda one: one["findings"][-1].update(summary="fine")), "does not follow"),
    "another device": (edited(lambda one: one["device"].update(name="NVIDIA B200")), "does not follow|is no file of"),
    "another seed": (edited(lambda one: one["environment"].update(seeds=[1])), "does not follow"),
    "a block less": (edited(lambda one: one["measurements"][0]["samples_ms"].pop()), "not a record|follow"),
    "a source more": (lambda files: rehashed(files, **{"sources/x.cu": b""}), "the same sources"),
    "a key twice in the statement": (changed_statement(b'\n[harness]\nmode = "eval"\nmode = "eval"\n'), "no claim"),
    "a statement with a mark": (changed_statement(b"\xef\xbb\xbf"), "no claim"),
    "a statement that says more": (changed_statement(b'\n[harness]\nmode = "eval"\n'), "does not state"),
    "a manifest of schema 1": (with_manifest(schema=1), "schema 2"),
    "a manifest of another claim": (with_manifest(claim="diag_matmul"), "manifest.json says diag_matmul"),
    "a manifest of another verdict": (with_manifest(verdict="confirmed"), "manifest.json says"),
    "a large manifest": (lambda files: rehashed(files, **{"manifest.json": b"[" * 300_000}), "bytes; at most"),
    "a figure of empty chunks": (with_empty_chunks, "no PNG as the figures of a report are"),
    "no figure": (lambda files: rehashed({name: data for name, data in files.items() if name != FLOORS}), "it has no"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_bundle_is_refused(timed: Files, tmp_path: Path, kind: str) -> None:
    forge, words = DAMAGE[kind]
    sentence = told(tmp_path / "x.zip", forge(timed))
    assert any(word in sentence for word in words.split("|")), sentence


SCRIPT = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
UNKNOWN = ("report.de.md", "report.ja.ja.md", "report.md.html", "report.svg", "figures/floors.svg", "figures/more.png",
           "figures/report.html", "figures/sizes.png", "index.html", "ladder.csv", "notes.md", "README", "script.js",
           "executed2.ipynb", "sources2/claimed.cu", "record.json.bak")  # fmt: skip
TWINS = ("Report.md", "REPORT.HTML", "figures/Floors.png", "Figures/floors.png", "record.JSON", "sources/Claimed.cu")
BLANKS = ("report.md ", "report.md.", "record.json\u00a0", "report.md\u200b", "re\u0301port.md", "\uff52eport.md",
          "figures/floors.png ", "sources/claimed.py.", " report.md", "report .md")  # fmt: skip


@pytest.mark.parametrize("name", [*UNKNOWN, *TWINS, *BLANKS], ids=ascii)
def test_a_file_more(files: Files, tmp_path: Path, name: str) -> None:
    sentence = told(tmp_path / "x.zip", rehashed(files, **{name: SCRIPT}))
    words = (
        "is no file|same sources" if name in UNKNOWN else "differ in case|is no file" if name in TWINS else "file name"
    )
    assert any(word in sentence for word in words.split("|")), sentence


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))


def encoded_again(png: bytes, *, level: int = 1, change: Callable[[Any], None] | None = None) -> bytes:
    """The same pixels, or others, as an encoder of another version writes them."""
    with Image.open(io.BytesIO(png)) as image:
        pixels, made = np.array(image), io.BytesIO()
        if change is not None:
            change(pixels)
        Image.fromarray(pixels).save(made, "PNG", compress_level=level, dpi=image.info["dpi"])
    return made.getvalue()


def other_digit(pixels: Any) -> None:
    pixels[40:48, 60:68, :3] = 255 - pixels[40:48, 60:68, :3]


def test_a_figure_that_shows_something_else(timed: Files, tmp_path: Path) -> None:
    own = timed[FLOORS]
    for other in (timed[WATERFALL], encoded_again(own, change=other_digit), b"", b"<svg><script/></svg>", own[:-1],
                  own + b"<script>", own[:33] + chunk(b"tEXt", b"a\0b") + own[33:],
                  own[:-12] + chunk(b"zzZz", b"<script>") + own[-12:]):  # fmt: skip
        assert FLOORS in told(tmp_path / "x.zip", rehashed(timed, **{FLOORS: other}))
    swapped = {FLOORS: timed[WATERFALL], WATERFALL: own}
    assert FLOORS in told(tmp_path / "x.zip", rehashed(timed, **swapped))


def test_a_figure_of_another_encoder_is_compared_by_its_pixels(folder: Path, tmp_path: Path) -> None:
    (one, *_) = (figure for figure in _drawn(folder) if figure.name == "floors")
    again = encoded_again(one.png)
    assert again != one.png
    here = raster.drawn_with()
    assert dict(derived.compared([one], {FLOORS: again}, here)).popitem()[1] == ""
    apart = encoded_again(one.png, change=other_digit)
    assert "drawn by elsewhere" in dict(derived.compared([one], {FLOORS: apart}, "elsewhere")).popitem()[1]
    with pytest.raises(bundle.Unsound, match="other pixels"):
        list(derived.compared([one], {FLOORS: apart}, here))


def _drawn(folder: Path) -> tuple[Figure, ...]:
    return figures.draw(judge.opened(folder / "record.json"))


def test_a_bundle_drawn_elsewhere_is_sound_and_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tuple(replace(one, png=encoded_again(one.png, change=other_digit)) for one in _drawn(folder))
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(raster, "drawn_with", lambda: "matplotlib 0")
        elsewhere.setattr(figures, "draw", lambda _: there)
        path = bundle.make(folder, out=tmp_path / "b.zip")
    found = bundle.verify(path).not_derived
    assert set(found) == {FLOORS, "executed.ipynb", "parameters.yaml"}
    assert found[FLOORS].startswith("drawn by matplotlib 0; here is matplotlib ")
    page = archive.unpack(path.read_bytes())["report.html"].replace(b"<h1", b"<h1 hidden", 1)
    assert "report.html" in told(
        tmp_path / "x.zip", rehashed(archive.unpack(path.read_bytes()), **{"report.html": page})
    )
