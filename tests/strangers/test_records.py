"""A record of somebody else's: read or refused in one sentence; what was read is judged and shown."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import claims, judge
from audit.apps import cli
from audit.apps.bundle import Unsound, derived, verify
from audit.apps.notebook import maps
from audit.apps.notebook import records as explored
from audit.model import Finding, Record, store
from audit.model.base import MOST_CHARACTERS
from audit.model.errors import BadInput
from audit.report import content, figures, markdown
from tests.strangers.hostile import unseen

PUBLISHED = claims.KERNELS.parent / "reports" / "diag_matmul" / "h100" / "record.json"
TEXTS = st.sampled_from(["", "x", "claimed", "eager", "\ud800", "\x1b[2J", "\u202e", "fail", "proved", "1"])
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), TEXTS, st.lists(st.integers(0, 9), max_size=2),
    st.dictionaries(TEXTS, st.integers(0, 9), max_size=2),
)  # fmt: skip
TREES = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
CHANGES = st.lists(
    st.tuples(st.lists(st.integers(0, 10**6), min_size=1, max_size=7), st.sampled_from(["same", "any", "out", "twice"]),
              VALUES), min_size=1, max_size=3,
)  # fmt: skip


def small() -> dict[str, Any]:
    """A published record with times, its maps and most of its findings and timings left out."""
    document: dict[str, Any] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    document["findings"] = document["findings"][::6]
    document["measurements"] = document["measurements"][::8]
    for finding in document["findings"]:
        finding["evidence"].pop("map", None)
    return document


SMALL = json.dumps(small())


def changed(document: Any, path: list[int], how: str, value: Any) -> None:
    """Changes one place of a JSON document: the path is taken as far as it leads."""
    at, key = document, None
    for step in path:
        if not isinstance(at, dict | list) or not at:
            break
        holder, key = at, (list(at)[step % len(at)] if isinstance(at, dict) else step % len(at))
        at = holder[key]
    if how == "out":
        del holder[key]
    elif how == "twice" and isinstance(holder, list):
        holder.append(at)
    elif how == "any" or type(at) is type(value):
        holder[key] = value


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(CHANGES)
def test_any_mutation_of_a_record_is_judged_or_refused(changes: list[tuple[list[int], str, Any]]) -> None:
    document = json.loads(SMALL)
    for path, how, value in changes:
        changed(document, path, how, value)
    try:
        record = store.parse(json.dumps(document).encode(), "x")
    except BadInput as error:
        assert str(error).startswith("x: ")
        return
    judge.judge(record)
    judge.ladder(record.claim.statement, record.findings, record.measurements)
    json.loads(derived.statistics(record, derived.samples(record)))


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(TREES, TEXTS)
def test_what_a_finding_takes_every_reader_takes(value: Any, text: str) -> None:
    try:
        finding = Finding(probe="p", target="t", outcome="pass", summary=text, evidence={"value": value})
    except ValueError:
        return
    assert Finding.model_validate_json(json.dumps(finding.model_dump(mode="json"), allow_nan=False)) == finding


def leaves(value: Any, new: Any, depth: int) -> Any:
    """The value with everything so deep in it replaced."""
    if depth == 0:
        return new
    if isinstance(value, dict):
        return {name: leaves(one, new, depth - 1) for name, one in value.items()}
    return [leaves(one, new, depth - 1) for one in value[:4]] if isinstance(value, list) else new


@pytest.mark.parametrize(("depth", "value"), [(1, {}), (2, 1e308), (2, [{}]), (3, "x"), (3, None), (3, 2**62)])
def test_evidence_of_any_form_is_shown(depth: int, value: Any) -> None:
    document = small()
    for finding in document["findings"]:
        finding["evidence"] = {key: leaves(one, value, depth - 1) for key, one in finding["evidence"].items()}
    text, drawn = shown(store.parse(json.dumps(document).encode(), "x"))
    assert not unseen(text)
    assert drawn == 4


@pytest.mark.parametrize("times", [(0.0,), (5e-324, 1.0), (1e9, 1e-9)])
def test_times_at_the_ends_are_judged_and_shown(times: tuple[float, ...]) -> None:
    document = small()
    for one in document["measurements"]:
        one["samples_ms"] = [times[place % len(times)] for place in range(len(one["samples_ms"]))]
    record = store.parse(json.dumps(document).encode(), "x")
    text, drawn = shown(record)
    assert judge.judge(record).name != "wrong", "times alone prove no values wrong"
    assert json.loads(derived.statistics(record, derived.samples(record)))
    assert not unseen(text)
    assert drawn == 4


def shown(record: Record) -> tuple[str, int]:
    """The report, and how many figures of what can be picked in it were drawn."""
    text = markdown.render(content.build(record, figures.draw(record)), figures="figures")
    return text, len(explored.figures(record, maps.first(record)))


def with_(key: str, value: Any) -> Callable[[], bytes]:
    return lambda: json.dumps(json.loads(SMALL) | {key: value}).encode()


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "findings": (with_("findings", [0] * 30_000), "findings is a list of 30,000"),
    "samples": (with_("measurements", [{"samples_ms": [-1] * 500_000}]), "values; at most"),
    "timings": (with_("measurements", [{"samples_ms": [-1]}]), "measurements"),
    "keys": (with_("device", {str(number): 0 for number in range(3000)}), "an object of 3,000 keys"),
    "deep": (lambda: b"[" * 100_000, "RecursionError"),
    "deep objects": (lambda: b'{"a":' * 100_000, "RecursionError"),
    "twice": (lambda: SMALL.replace('"schema":', '"schema": 1, "schema":', 1).encode(), "'schema' is there twice"),
    "digits": (lambda: SMALL.replace('"schema":', f'"schema": {"2" * 9000}, "x":', 1).encode(), "ValueError"),
    "NaN": (lambda: SMALL.replace('"evidence": {', '"evidence": {"n": NaN, ', 1).encode(), "NaN is no number"),
    "nothing": (lambda: b"\0" * 100, "not JSON"),
    "bytes": (lambda: b'{"a": "\xff"}', "UnicodeDecodeError"),
    "too large": (lambda: b" " * (store.MOST_BYTES + 1), "a record has at most"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_record_in_one_sentence(name: str) -> None:
    made, why = REFUSED[name]
    with pytest.raises(BadInput, match=why) as error:
        store.parse(made(), "x")
    assert len(str(error.value)) < 300 and "\n" not in str(error.value)


@pytest.mark.parametrize("command", ["report", "compare", "bundle", "verify", "self-test --against"])
@pytest.mark.parametrize("kind", ["2 GB", "pipe", "folder", "no end"])
def test_commands_say_one_sentence(command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = Path("/dev/zero") if kind == "no end" else tmp_path / "record.json"
    if kind == "2 GB":
        with place.open("wb") as file:
            file.truncate(2 << 30)
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    assert cli.main([*command.split(), str(place)]) in (1, 2)
    out, err = capsys.readouterr()
    assert not out and len(err.splitlines()) == 1


def test_a_bundle_of_broken_documents_is_unsound(tmp_path: Path) -> None:
    place = tmp_path / "b.zip"
    from audit.apps.bundle.archive import pack

    for text in (b"[" * 100_000, b'{"kit": 1, "kit": 2}', b"[]"):
        place.write_bytes(pack({"manifest.json": text, "record.json": text}))
        with pytest.raises(Unsound) as error:
            verify(place)
        assert "\n" not in str(error.value)


def test_texts_of_a_finding_are_bounded_and_whole() -> None:
    finding = Finding(
        probe="p", target="t", outcome="pass", summary="\ud800" + "x" * 10**6, evidence={"\udfff": "\ud800"}
    )
    assert len(finding.summary) == MOST_CHARACTERS
    assert (finding.summary[:2], finding.evidence) == ("?x", {"?": "?"})
