"""A bundle is sound as made, and whatever is changed in it is told in one sentence."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from audit import claims, judge
from audit.apps import bundle, cli
from audit.apps.bundle import archive
from audit.apps.bundle.make import complete, sources
from audit.model import SCHEMA, Finding, Record, store
from audit.model.errors import BadInput
from audit.probes import CONCLUSIONS
from audit.probes.concluding import answer
from audit.report.figures import raster
from tests.bundle.forging import Files, edited, rehashed, told

pytestmark = pytest.mark.audits

REPORTS = Path(__file__).resolve().parents[2] / "reports" / "triangular_mm"


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an audit with measured times leaves: a published one, as if made from the claim's files of today."""
    folder = Path(shutil.copytree(REPORTS / "h100", tmp_path_factory.mktemp("audited") / "h100"))
    old = store.read(folder / "record.json")
    record = old.model_copy(update={"claim": claims.load("triangular_mm").audited, "schema_": SCHEMA})
    follows = [one for found in old.findings if (one := concluded(found)) is not None]
    record = record.model_copy(update={"findings": tuple(follows)})
    rungs = judge.ladder(record.claim.statement, record.findings, record.measurements)
    record = record.model_copy(update={"ladder": rungs})
    store.write(record.model_copy(update={"verdict": judge.judge(record)}), folder / "record.json")
    return folder


def concluded(found: Finding) -> Finding | None:
    """What follows today from the observations of a finding; None where its schema held too little."""
    if found.probe not in CONCLUSIONS:
        return found if found.probe != "timed_outputs" else None
    try:
        again = answer.finding(found.probe, found.target, dict(found.evidence), CONCLUSIONS[found.probe])
    except KeyError:
        return None
    return again.model_copy(update={"device": found.device, "confirmed": found.confirmed}) if found.evidence else None


@pytest.fixture(scope="module")
def files(audited: Path) -> Files:
    """What is in its bundle."""
    path = bundle.make(audited, out=audited.parent / "first.zip")
    return archive.unpack(path.read_bytes())


def small(record: Record) -> Files:
    """A finished record without reports and pictures."""
    finished = record.model_copy(update={"ladder": judge.ladder(record.claim.statement, ())})
    finished = finished.model_copy(update={"verdict": judge.judge(finished)})
    text = json.dumps(finished.model_dump(mode="json", by_alias=True)).encode()
    return complete(finished, {"record.json": text, **sources(finished, None)})


def test_the_same_audit_gives_the_same_bytes_anywhere(audited: Path, files: Files, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(audited, tmp_path / "elsewhere"))
    os.utime(moved / "record.json", (0, 0))
    (moved / "executed.ipynb").write_text("{}")
    (moved / ".hidden.md").write_text("not for others")
    path = bundle.make(moved / "record.json", claim=claims.KERNELS / "triangular_mm")
    assert path == tmp_path / "elsewhere.zip"
    assert bundle.verify(path).record == store.read(audited / "record.json")
    assert set(archive.unpack(path.read_bytes())) - set(files) == {"executed.ipynb"}
    (moved / "executed.ipynb").unlink()
    raster.png.cache_clear()
    assert bundle.make(moved).read_bytes() == archive.pack(files)


def test_lines_of_a_change_follow_from_the_sources_in_the_bundle(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert b"dim3 threads(16, 16);" in files["report.md"]
    path = tmp_path / "b.zip"
    path.write_bytes(archive.pack(files))
    monkeypatch.setattr(claims, "KERNELS", tmp_path / "none")
    assert bundle.verify(path).record.claim.statement.name == "triangular_mm"
    other = files["report.md"].replace(b"dim3 threads(16, 16);", b"dim3 threads(32, 32);")
    assert "report.md does not follow" in told(path, rehashed(files, **{"report.md": other}))


def test_a_changed_byte_is_told_wherever_it_lies(record: Record, tmp_path: Path) -> None:
    data = archive.pack(small(record))
    tail = range(len(data) - 300, len(data))
    for place in (*random.Random(1).sample(range(len(data)), 600), *random.Random(2).sample(tail, 200)):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        assert told(tmp_path / "x.zip", bytes(changed)), place
    for cut in (0, 1, 30, len(data) // 2, len(data) - 1):
        assert told(tmp_path / "x.zip", data[:cut]), cut
    assert told(tmp_path / "x.zip", data + b"x")
    assert told(tmp_path / "x.zip", b"x" + data)


def without(name: str) -> Callable[[Files], bytes]:
    return lambda files: archive.pack({other: data for other, data in files.items() if other != name})


def with_samples_too(files: Files) -> bytes:
    """The forger edits a sample in both places that hold it, and leaves what was derived from it."""
    data = json.loads(files["record.json"])
    (first,) = [one for one in data["measurements"] if one["variant"] == "baseline:eager"][:1]
    old, first["samples_ms"][0] = first["samples_ms"][0], 99.5
    table = files["samples.csv"].replace(repr(old).encode(), b"99.5", 1)
    return rehashed(files, **{"record.json": json.dumps(data).encode(), "samples.csv": table})


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (lambda files: archive.pack({**files, "more.md": b"x"}), "more.md is in the bundle and not in its manifest"),
        (without("samples.csv"), "samples.csv is in the manifest and not in the bundle"),
        (without("manifest.json"), "no manifest.json"),
        (lambda files: archive.pack({**files, "report.md": b"x"}), "report.md has SHA-256"),
        (lambda files: rehashed(files, **{"manifest.json": b"{}"}), "manifest.json is"),
        (edited(lambda data: data["verdict"].update(name="confirmed")), "verdict.name: \"confirmed\" in the bundle"),
        (edited(lambda data: data["verdict"].update(scope="everywhere")), "verdict.scope"),
        (edited(lambda data: data["ladder"][-1].update(median_ms=0.01)), "ladder"),
        (edited(lambda data: data["findings"][0].update(outcome="perhaps")), "not a record"),
        (edited(lambda data: data["measurements"][0]["samples_ms"].__setitem__(0, 9.0)), "samples.csv|times.png"),
        (edited(lambda data: data["claim"]["statement"].update(title="Faster")), "statistics.json|claim.toml does"),
        (edited(lambda data: data["claim"]["sources"].pop()), "do not hold the same sources"),
        (with_samples_too, "statistics.json does not follow|waterfall.png does not show"),
        (lambda files: rehashed(files, **{"sources/claimed.cu": b"// other"}), "not the file that was audited"),
        (lambda files: rehashed(files, **{"test-result.json": b"{}"}), "test-result.json does not follow"),
        (lambda files: rehashed(files, **{"ro-crate-metadata.json": b"no"}), "does not follow"),
    ],
)  # fmt: skip
def test_what_was_forged_is_told(files: Files, tmp_path: Path, forge: Callable[[Files], bytes], words: str) -> None:
    sentence = told(tmp_path / "x.zip", forge(files))
    assert any(one in sentence for one in words.split("|")), sentence


def test_an_older_record_is_judged_again_and_keeps_the_verdict_it_was_published_with(tmp_path: Path) -> None:
    place = Path(__file__).resolve().parents[1] / "older" / "wmma_vs_cublas" / "h100"
    path = bundle.make(place, out=tmp_path / "old.zip")
    verdict = bundle.verify(path).record.verdict
    assert (verdict.name, verdict.first_judged) == ("reduced precision", "wrong")
    assert json.loads(archive.unpack(path.read_bytes())["record.json"])["verdict"]["name"] == "wrong"
    older = archive.unpack(path.read_bytes())
    data = json.loads(older["record.json"])
    data["findings"] = [one for one in data["findings"] if one["probe"] != "order"]
    assert "its record undecided" in told(
        tmp_path / "x.zip", rehashed(older, **{"record.json": json.dumps(data).encode()})
    )


def test_a_record_of_today_has_no_earlier_verdict(files: Files, tmp_path: Path) -> None:
    forged = edited(lambda data: data["verdict"].update(first_judged="confirmed"))
    assert "verdict.first_judged" in told(tmp_path / "x.zip", forged(files))


def test_an_archive_too_large_is_not_opened(tmp_path: Path) -> None:
    with (tmp_path / "x.zip").open("wb") as file:
        file.truncate(archive.MOST_BYTES + 1)
    with pytest.raises(BadInput, match="at most"):
        bundle.verify(tmp_path / "x.zip")


def test_the_statement_and_the_crate_are_what_their_specifications_ask(files: Files) -> None:
    text = {"type": "string"}
    descriptor = {"type": "object", "required": ["name", "digest"]}
    predicate = {
        "type": "object",
        "required": ["result", "configuration"],
        "properties": {
            "result": {"enum": ["PASSED", "WARNED", "FAILED"]},
            "configuration": {"type": "array", "items": descriptor, "minItems": 1},
            **{key: {"type": "array", "items": text} for key in ("passedTests", "warnedTests", "failedTests")},
        },
    }
    statement = json.loads(files["test-result.json"])
    Draft202012Validator(predicate).validate(statement["predicate"])
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicate"]["result"] == "FAILED"
    assert "claimed: coverage (cuda)" in statement["predicate"]["failedTests"]
    crate = {one["@id"]: one for one in json.loads(files["ro-crate-metadata.json"])["@graph"]}
    assert crate["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert {"name", "description", "datePublished", "license"} <= set(crate["./"])
    parts = {one["@id"] for one in crate["./"]["hasPart"]}
    assert parts == set(crate) - {"./", "ro-crate-metadata.json"}
    assert parts == set(files) - {"ro-crate-metadata.json", "manifest.json"}


def test_commands(audited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "e.zip"
    assert cli.main(["bundle", str(audited), "--out", str(path)]) == 0
    digest = capsys.readouterr().out.split()[-1]
    assert cli.main(["verify", str(path), "--sha256", digest.upper()]) == 0
    assert "triangular_mm: wrong, derived again from" in capsys.readouterr().out
    assert cli.main(["verify", str(path), "--sha256", "0" * 64]) == 1
    path.write_bytes(path.read_bytes()[:-1])
    assert cli.main(["verify", str(path)]) == 1
    assert capsys.readouterr().err.count("\n") == 2
    assert cli.main(["verify", str(tmp_path / "absent.zip")]) == 2


def test_what_cannot_be_bundled(audited: Path, record: Record, tmp_path: Path) -> None:
    store.write(record, tmp_path / "record.json")
    with pytest.raises(BadInput, match="has not finished"):
        bundle.make(tmp_path)
    with pytest.raises(BadInput, match="cannot be read"):
        bundle.make(tmp_path / "absent")
    with pytest.raises(BadInput, match="--claim"):
        bundle.make(audited, claim=tmp_path, out=tmp_path / "x.zip")
    changed = Path(shutil.copytree(claims.KERNELS / "triangular_mm", tmp_path / "changed"))
    (changed / "claimed.cu").write_text("// changed")
    with pytest.raises(BadInput, match="changed since the audit"):
        bundle.make(audited, claim=changed, out=tmp_path / "x.zip")
    moved = Path(shutil.copytree(audited, tmp_path / "moved"))
    for name in ("Copy of audit (1).ipynb", "ladder.csv", "écrit.md"):
        (moved / name).write_text("{}")
    (moved / "report.md").write_text("CONFIRMED")
    assert bundle.make(moved).read_bytes() == bundle.make(audited, out=tmp_path / "x.zip").read_bytes()
    with pytest.raises(BadInput, match="cannot be written"):
        bundle.make(audited, out=Path("/proc/x.zip"))
