"""Names, folders, folders of folders and lists; what is none of them is one sentence."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from audit.apps import cli
from audit.apps.batch.items import Item, Reader
from audit.apps.batch.parameters import Values
from audit.model.errors import BadInput
from tests.batch import made, tiny


def items(*places: object, common: Values | None = None) -> tuple[Item, ...]:
    with tempfile.TemporaryDirectory() as folder:
        notebook = tiny.notebook(Path(folder) / "n.ipynb")
        return Reader(notebook, common or {}, Path(folder)).read([str(place) for place in places]).items


def test_every_form_of_a_collection(tmp_path: Path) -> None:
    for name in ("one", "two"):
        made.claim(tmp_path / "claims", name)
    lists = {
        "l.txt": "claims/one  # the first\n\nclaims/two\n",
        "l.yaml": "- claims/one\n- claim: claims/two\n",
        "l.toml": 'claims = ["claims/one", {claim = "claims/two"}]\n',
        "l.yml": "- claims\n",
    }
    for file, text in lists.items():
        (tmp_path / file).write_text(text)
    for place in ("claims", *lists):
        assert [item.name for item in items(tmp_path / place)] == ["one", "two"], place
    assert [item.name for item in items("triangular_mm", tmp_path / "claims" / "one")] == ["triangular_mm", "one"]


def test_a_collection_is_called_as_its_places(tmp_path: Path) -> None:
    reader = Reader(tiny.notebook(tmp_path / "n.ipynb"), {}, tmp_path)
    for name in ("one", "two", "three", "four"):
        made.claim(tmp_path / "claims", name)
    places = [str(tmp_path / "claims" / name) for name in ("one", "two", "three", "four")]
    assert reader.read([str(tmp_path / "claims")]).name == "claims"
    assert reader.read(places).name == "one, two, three and 1 more"


def test_a_list_sets_parameters_and_names(tmp_path: Path) -> None:
    made.claim(tmp_path, "one")
    (tmp_path / "l.yaml").write_text(
        "- {claim: one, name: as_it_is}\n- {claim: one, name: on_cpu, device: emulated, version: '2.10'}\n"
    )
    first, second = items(tmp_path / "l.yaml", common={"version": "7"})
    assert (first.name, first.values) == ("as_it_is", {"version": "7"})
    assert (second.name, second.values) == ("on_cpu", {"version": "2.10", "device": "emulated"})
    assert first.folder == second.folder


def test_a_broken_claim_is_told_in_its_place(tmp_path: Path) -> None:
    made.claim(tmp_path, "good")
    (made.claim(tmp_path, "bad") / "claimed.cu").unlink()
    long = made.claim(tmp_path, "long") / "claim.toml"
    long.write_text(long.read_text().replace("claimed.cu", f"{'x' * 300}.cu"))  # no file system takes such a name
    bad, good, named = items(tmp_path)
    assert good.known is None
    assert named.known is not None
    assert (named.known.outcome, "File name too long" in named.known.reason) == ("bad input", True)
    assert bad.known is not None
    assert "bad/claimed.cu: the file is missing" in bad.known.reason


ENTRIES = {
    "2.1": ("2.10", "entry 1: claim is 2.1, and must be text"),
    "version": ("{claim: one, name: version, version: 2.10}", "entry 2: parameter version is 2.1"),
    "twice_wrong": (
        "{claim: one, name: twice_wrong, verson: '1', seconds: soon}",
        "entry 3: unknown parameter verson; the notebook knows device, version, seconds; parameter seconds is 'soon'",
    ),
    "out": ("{claim: one, name: out, out: here}", "entry 4: unknown parameter out"),
    "one": ("{claim: one, name: ../x}", "entry 5: name '../x' cannot name a folder"),
    "absent": ("absent", "absent: no claim of this name"),
    "named": ("{claim: gone/absent, name: named}", "gone/absent: no claim of this name"),
    "l.yaml": ("l.yaml", "l.yaml: the list names itself"),
    "broken.yaml": ("broken.yaml", "broken.yaml: not valid YAML"),
    "empty": ("empty", "empty: no claim in it"),
    "x" * 80: ("x" * 300, "File name too long"),
    "entry": ("{name: 7}", "entry 12: claim is None, and must be text: quote it; name is 7, and must be text"),
}
"""Entries of a list that cannot be audited, by how their row is called."""


def test_a_bad_entry_is_its_own_row_and_stops_no_other(tmp_path: Path) -> None:
    for name in ("one", "two"):
        made.claim(tmp_path, name)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.yaml").write_text("- [\n")
    lines = [entry for entry, _ in ENTRIES.values()]
    (tmp_path / "l.yaml").write_text("".join(f"- {line}\n" for line in (*lines, "two", "two", "one")))
    *bad, two, again, last = items(tmp_path / "l.yaml")
    for (name, (_, words)), item in zip(ENTRIES.items(), bad, strict=True):
        assert item.known is not None, name
        assert (item.known.outcome, words in item.known.reason) == ("bad input", True), (name, item.known.reason)
        assert "\n" not in item.known.reason
        assert item.name.startswith(name.replace(".", "_")[:40]), item.name
    assert two.known is None
    assert again.known is not None
    assert (again.name, "two claims of the collection would share" in again.known.reason) == ("two-2", True)
    assert (last.name, last.known) == ("one", None)
    assert len({item.name for item in (*bad, two, again, last)}) == len(lines) + 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- absent\n- {claim: one, verson: '1'}\n", ("absent: no claim of this name", "unknown parameter verson")),
        ("claims: one\n", ("must hold a list",)),
        ("[]\n", ("no claim in it",)),
        ("- [\n", ("not valid YAML",)),
    ],
)
def test_where_nothing_can_be_run_every_reason_is_told(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    made.claim(tmp_path, "one")
    (tmp_path / "l.yaml").write_text(text)
    with pytest.raises(BadInput) as error:
        items(tmp_path / "l.yaml")
    assert all(word in str(error.value) for word in words)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["absent"], "known: cached_results, "),
        (["triangular_mm", "--out", "/proc/x"], "cannot be written"),
        (["triangular_mm", "--device", "emulated", "--gpus", "0"], "--gpus 0"),
        (["absent", "also_absent"], "also_absent: no claim of this name"),
        (["triangular_mm", "--notebook", "README.md"], "cannot be read as a notebook"),
    ],
)
def test_bad_usage_is_exit_2(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tiny.ROOT)
    own = [] if "--out" in arguments else ["--out", str(tmp_path / "out")]
    assert cli.main(["batch", *arguments, *own]) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1
