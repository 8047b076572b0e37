import json
import os
import signal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from audit.model import Finding, Record, store
from audit.model.errors import BadInput
from tests.conftest import finding


def test_round_trip_keeps_every_field(record: Record, tmp_path: Path) -> None:
    full = record.model_copy(update={"findings": (finding("coverage", "fail", evidence={"map": [[0.5]]}),)})
    store.write(full, tmp_path / "record.json")
    assert store.read(tmp_path / "record.json") == full


def test_top_level_keys_and_first_verdict(record: Record, tmp_path: Path) -> None:
    store.write(record, tmp_path / "record.json")
    data = json.loads((tmp_path / "record.json").read_text())
    assert (
        list(data)
        == "schema claim device secondary_devices environment findings measurements ladder generated verdict".split()
    )
    assert data["verdict"]["name"] == "incomplete"


def test_exported_schema_is_current_and_accepts_a_record(record: Record) -> None:
    exported = json.loads(store.SCHEMA_FILE.read_text(encoding="utf-8"))
    assert exported == store.json_schema(), "run: python -m audit.model.store"
    Draft202012Validator(exported).validate(record.model_dump(mode="json", by_alias=True))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"schema": 6}, "schema"),
        ({"surprise": 1}, "surprise"),
        ({"verdict": {"name": "guilty"}}, "verdict.name"),
        ({"findings": [{"probe": "order"}]}, "findings.0"),
    ],
)
def test_a_foreign_record_is_one_sentence(
    record: Record, tmp_path: Path, change: dict[str, object], place: str
) -> None:
    data = record.model_dump(mode="json", by_alias=True) | change
    (tmp_path / "record.json").write_text(json.dumps(data))
    with pytest.raises(BadInput, match=place):
        store.read(tmp_path / "record.json")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": NaN}'])
def test_broken_files_are_bad_input(tmp_path: Path, text: str) -> None:
    (tmp_path / "record.json").write_text(text)
    with pytest.raises(BadInput, match=r"record\.json"):
        store.read(tmp_path / "record.json")
    with pytest.raises(BadInput, match="cannot be read"):
        store.read(tmp_path / "absent.json")


def test_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        Finding(probe="p", target="t", outcome="pass", summary="s", seconds=float("nan"))


def test_only_failures_have_a_grade() -> None:
    for outcome, grade in (("pass", "proved"), ("fail", None), ("skip", "hint")):
        with pytest.raises(ValueError, match="grade"):
            Finding.model_validate({"probe": "p", "target": "t", "outcome": outcome, "summary": "s", "grade": grade})


def test_a_killed_writer_never_leaves_half_a_record(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    store.write(record, path)
    before = path.read_bytes()
    writer = os.fork()
    if not writer:
        try:
            os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # the new bytes are written, and not in place
            store.write(record.model_copy(update={"findings": (finding("coverage"),)}), path)
        finally:
            os._exit(0)
    _, status = os.waitpid(writer, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert path.read_bytes() == before
