"""`audit pr`: a kernel before and after a change, its three files, its gate, and one sentence for each bad input."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from audit.apps import cli
from audit.apps.pr import claim
from audit.claims.importers.facts import Given
from audit.model import store
from audit.report.formats import COMMENT_CHARACTERS
from tests.importers import published

pytestmark = pytest.mark.audits

RIGHT = published.CU
FASTER = RIGHT.replace("128", "256").replace('"forward"', '"run"')  # each side has a function of its own name
WRONG = RIGHT.replace("if (i < count)", "if (2 * i < count)")
LINE = WRONG[: WRONG.index("if (2")].count("\n") + 1


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a kernel before and after a change, and with two that are wrong."""
    monkeypatch.chdir(tmp_path)
    published.write(tmp_path, before__cu=RIGHT, after__cu=FASTER, wrong__cu=WRONG, task__py=published.REFERENCE)
    return tmp_path


def ran(*arguments: str) -> int:
    return cli.main(["pr", "--tolerance", "1e-5", "--device", "emulated", "--seed", "5", *arguments])


def test_a_right_change_ends_well_and_its_time_is_not_measured(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("before.cu", "after.cu", "task.py", "--json", "--fail-on", "wrong,undefined,slower") == 0
    (line,) = capsys.readouterr().out.splitlines()
    said = json.loads(line)
    assert said["verdict"]["name"] == "no defect found"
    assert said["against_base"] == {
        "state": "not measured",
        "sentence": "NOT MEASURED: emulated device (CPU) gives no times.",
    }
    comment = (here / "out/pr/comment.md").read_text(encoding="utf-8")
    assert "**HEAD against BASE**: NOT MEASURED" in comment
    assert len(comment) < COMMENT_CHARACTERS + 300
    record = store.read(here / "out/pr/results/record.json")
    assert {one.variant: one.state for one in record.ladder} == {"claimed": "passed", "base": "passed"}
    statement = record.claim.statement
    assert [(one.role, statement.entry_of(one)) for one in statement.variant] == [
        ("claimed", "run"),
        ("base", "forward"),
    ]


def test_a_wrong_change_fails_with_its_file_and_line(here: Path) -> None:
    assert ran("before.cu", "wrong.cu", "task.py", "--fail-on", "wrong,slower", "--out", "kept") == 3
    (run,) = json.loads((here / "kept/findings.sarif").read_text(encoding="utf-8"))["runs"]
    errors = [one for one in run["results"] if one["level"] == "error"]
    assert "coverage" in {one["ruleId"] for one in errors}
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    assert {one["artifactLocation"]["uri"] for one in places} == {"wrong.cu"}
    assert all(1 <= one["region"]["startLine"] <= WRONG.count("\n") for one in places)
    suite = ElementTree.parse(here / "kept/junit.xml").getroot()[0]
    failed = {one.get("name") for one in suite if one.find("failure") is not None}
    assert {"coverage", "agreement"} <= failed
    assert suite.find("testcase[@name='against_base']/skipped") is not None
    comment = (here / "kept/comment.md").read_text(encoding="utf-8")
    assert "**HEAD against BASE**: NOT MEASURED: HEAD is wrong (" in comment


def test_a_base_that_is_wrong_fails_nothing_and_is_said_in_one_sentence(here: Path) -> None:
    assert ran("wrong.cu", "after.cu", "task.py", "--fail-on", "wrong,cannot be built") == 0
    assert "BASE is wrong itself (" in (here / "out/pr/comment.md").read_text(encoding="utf-8").replace("\\", "")


def pair(*arguments: str) -> claim.Pair:
    """The claim folder that the command makes of both sides before it audits."""
    given = cli._parser("pr").parse_args(["pr", *arguments])
    with tempfile.TemporaryDirectory() as scratch:
        sources = claim.of(given.base, given.head, given.files, Path(scratch))
        return claim.written(sources, Given(tolerance=1e-5), Path("out"))


def test_two_folders(here: Path) -> None:
    for name, kernel in {"old": RIGHT, "new": FASTER}.items():
        published.write(here / name, kernel__cu=kernel, task__py=published.REFERENCE)
    assert pair("old", "new").kernel == "new/kernel.cu"


def git(*arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(here: Path) -> Path:
    """Two commits of `cuda/kernel.cu`; the working tree has a third state."""
    git("init", "-q", "-b", "main")
    for text in (RIGHT, FASTER):
        published.write(here / "cuda", kernel__cu=text, task__py=published.REFERENCE)
        git("add", "cuda")
        git("commit", "-q", "-m", "m")
    (here / "cuda/kernel.cu").write_text(WRONG, encoding="utf-8")
    (here / "cuda/link.cu").symlink_to("kernel.cu")
    git("add", "cuda/link.cu")
    git("commit", "-q", "-m", "link")
    return here


def test_two_revisions_of_the_same_files(repository: Path) -> None:
    folder, kernel, lines = pair("HEAD~2", "main", "--", "cuda/kernel.cu", "cuda/task.py")
    assert (folder, kernel, lines) == (Path("out/kernel"), "cuda/kernel.cu", True)
    assert (repository / folder / "claimed.cu").read_text(encoding="utf-8") == FASTER
    assert (repository / folder / "base.cu").read_text(encoding="utf-8") == RIGHT


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("HEAD~2", "main"), "HEAD~2: no such file; of two git revisions, name the files too"),
        (("HEAD~2", "mian", "cuda/kernel.cu"), "mian: no such file, and no revision of a git repository here"),
        (("--output=x", "main", "cuda/kernel.cu"), "--output"),
        (("HEAD~2", "main", "cuda/other.cu"), "cuda/other.cu: not in HEAD~2"),
        (("main", "main", "cuda/link.cu"), "cuda/link.cu: no plain file in main"),
        (("main", "main", "cuda"), "cuda: no plain file in main"),
        (("main", "main", "cuda/kernel.cu", "cuda/task.py"), "the same kernel in BASE and in HEAD"),
        (("HEAD~1", "before.cu", "task.py"), "HEAD~1: no such file; BASE and HEAD are two paths or two revisions"),
    ],
)
def test_a_revision_that_cannot_be_read(
    repository: Path, arguments: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(*arguments) == 2
    assert sentence in capsys.readouterr().err
    assert not (repository / "out").exists()


def refused(*arguments: str) -> int:
    try:
        return ran(*arguments)
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("before.cu", "before.cu", "task.py"), "before.cu: the same kernel in BASE and in HEAD"),
        (("before.cu", "missing.cu", "task.py"), "missing.cu: no such file; BASE and HEAD are two paths"),
        (("before.cu", "after.cu"), "HEAD, after.cu: no audit is possible"),
        (
            ("before.cu", "after.cu", "task.py", "--fail-on", "slowr"),
            "--fail-on slowr: no verdict; did you mean slower?",
        ),
        (("before.cu", "after.cu", "task.py", "--shape", "N=x"), "--shape x: no number above zero"),
    ],
)
def test_bad_input_is_one_sentence(
    here: Path, arguments: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(*arguments) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert not (here / "out").exists()
