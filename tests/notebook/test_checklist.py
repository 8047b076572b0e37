"""What a notebook's user expects, where no other test of this folder holds it.

Rows of the acceptance checklist, and where they are held: 1, 2, 3, 5 test_format; 4 test_colab; 6 test_form; 7
test_preflight; 8, 16, 24 test_runs; 9 tests/test_progress; 10 tests/test_bad_kernels; 11, 12, 21
tests/report/test_browser; 13 tests/explore; 18 tests/batch; 19 test_claim; the rest here.
"""

from __future__ import annotations

import csv
import io
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from audit import claims
from audit.apps import bundle
from audit.apps.batch import parameters
from audit.apps.notebook.claim import ClaimForm, cut_network
from audit.apps.notebook.form import LEAST_ROUNDS, MOST_ROUNDS
from audit.apps.notebook.shown import MOST_BYTES, MOST_ROWS, fetched, offer, table
from audit.apps.pages import tables
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.model import store
from audit.model.errors import BadInput
from audit.report import safe_csv
from audit.report.progress import Progress
from audit.run.processes.pool import Workers
from tests.conftest import some

ROOT = Path(__file__).resolve().parents[2]
RUN = {"notebook": "audit_claim", "where": "Tesla T4", "runtime": "", "date": "2026-11-21", "seconds": 61.4}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a server over an empty folder's files `kernel.cu` and `large.cu`."""
    (tmp_path / "kernel.cu").write_text("// a kernel\n")
    (tmp_path / "large.cu").write_bytes(b"/" * (MOST_BYTES + 1))
    with ThreadingHTTPServer(("127.0.0.1", 0), lambda *result: Quiet(*result, directory=str(tmp_path))) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()
        thread.join()


def test_row_5_a_kernel_by_its_address(server: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert fetched(f"{server}/kernel.cu?raw=1", out) == out / "kernel.cu"
    assert (out / "kernel.cu").read_text() == "// a kernel\n"
    assert fetched("here.cu", out) == Path("here.cu")
    for place, words in (
        ("none.cu", "cannot be fetched .*404"),
        ("large.cu", "over 1,048,576 bytes"),
        ("..%2Fup.cu", "must be the name of a .cu or .py file; it is '../up.cu'"),
        ("page", "must be the name"),
    ):
        with pytest.raises(BadInput, match=words):
            fetched(f"{server}/{place}", out)
    assert sorted(path.name for path in out.iterdir()) == ["kernel.cu"]


def test_row_5_rounds_are_held_to_the_slider() -> None:
    assert ClaimForm.read(claim="x").rounds == LEAST_ROUNDS
    for rounds in (LEAST_ROUNDS - 1, MOST_ROUNDS + 1):
        with pytest.raises(BadInput, match=r"parameter rounds: .*; it is"):
            ClaimForm.read(claim="x", rounds=rounds)


def test_row_14_a_long_table_is_cut_and_its_file_is_not(tmp_path: Path) -> None:
    rows = [(f"row {number}", f"{number}") for number in range(MOST_ROWS + 5)]
    result = table(("A", "B"), rows, numeric=(1,), file=tmp_path / "a table.csv")
    assert len([line for line in result.splitlines() if line.startswith("| row")]) == MOST_ROWS
    assert f"[all 25 rows as CSV](<{str(tmp_path).replace(' ', '%20')}/a%20table.csv>)" in result
    read = list(csv.reader((tmp_path / "a table.csv").open(encoding="utf-8")))
    assert read == [["A", "B"], *map(list, rows)]
    with pytest.raises(BadInput, match=r"no/t\.csv: cannot be written"):
        table(("A",), [("a",)], file=tmp_path / "no" / "t.csv")


def test_row_14_no_cell_is_a_formula() -> None:
    cells = ["=1+1", "+a", "-b", "@c", "-1.5", "+inf", "a=b", "two\nlines", "\x1b[31mred"]
    (read,) = list(csv.reader(io.StringIO(safe_csv.text(("A",), [cells]))))[1:]
    assert read == ["'=1+1", "'+a", "'-b", "'@c", "-1.5", "+inf", "a=b", "two lines", "red"]


def test_row_15_without_a_browser_the_place_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, kept = tmp_path / "b.zip", tmp_path / "kept"
    file.write_bytes(b"12345")
    kept.mkdir()
    offer(file, ClaimForm.read(claim="x", copy_to=str(kept)))
    assert f"{file} (5 bytes)" in capsys.readouterr().out
    assert (kept / "b.zip").read_bytes() == b"12345"
    for place, why in ((tmp_path / "no" / "such", "No such file or directory"), (tmp_path, "are the same file")):
        with pytest.raises(BadInput, match=rf"parameter copy_to: .*cannot be written \(.*{why}\)"):
            offer(file, ClaimForm.read(claim="x", copy_to=str(place)))


def test_row_20_after_the_cut_nothing_has_a_network() -> None:
    tries = (
        "import os, socket, subprocess, sys, threading\n"
        "from audit.apps.notebook.claim import cut_network\n"
        "there = socket.create_server(('127.0.0.1', 0))\n"
        "cut_network()\n"
        "def tried(family):\n"
        "    try: socket.socket(family).close()\n"
        "    except PermissionError: return 'refused'\n"
        "    return 'open'\n"
        "told = [tried(one) for one in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX)]\n"
        "threading.Thread(target=lambda: told.append(tried(socket.AF_INET))).start()\n"
        "child = 'import socket; socket.socket()'\n"
        "told.append(subprocess.run([sys.executable, '-c', child], stderr=subprocess.DEVNULL).returncode)\n"
        "there.settimeout(0.0)\n"
        "try: there.accept()\n"
        "except BlockingIOError: told.append('still there')\n"
        "print(told)\n"
    )
    done = subprocess.run([sys.executable, "-c", tries], check=True, capture_output=True, text=True)
    assert done.stdout == "['refused', 'refused', 'open', 'refused', 1, 'still there']\n"


def test_row_20_a_machine_it_is_not_known_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "abacus")
    with pytest.raises(BadInput, match="parameter network_off: not known how on abacus"):
        cut_network()
    with socket.socket():
        pass


def test_row_22_an_audit_that_breaks_off_leaves_its_report(tmp_path: Path, workers: Workers) -> None:
    place = shutil.copytree(claims.KERNELS / "library_call", tmp_path / "library_call")
    text = (place / "reference.py").read_text(encoding="utf-8")
    (place / "reference.py").write_text(f"{text}\nraise MemoryError('no room')\n", encoding="utf-8")
    out = tmp_path / "out"
    folder = claims.load(str(place))
    with Audit(folder, EmulatedDevice(), out, workers=workers, progress=Progress(io.StringIO())) as audit:
        audit.review()
        with pytest.raises(BadInput, match=r"reference\.py: .*no room"):
            audit.prepare()
    result = store.read(out / "record.json")
    assert result.verdict.name == "incomplete"
    assert result.findings, "what was found before is in it"
    for name in ("report.md", "report.html"):
        assert "INCOMPLETE: this audit was cut short" in (out / name).read_text(encoding="utf-8"), name


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([], "on a T4 and in Colab: NOT MEASURED."),
        ([{**RUN, "where": "2 cores without a GPU"}],
         "61 s on 2 cores without a GPU (2026-11-21); on a T4 and in Colab: NOT MEASURED."),
        ([RUN], "61 s on Tesla T4 (2026-11-21); in Colab: NOT MEASURED."),
        ([{**RUN, "runtime": "release-colab-2026.08"}],
         "61 s on Tesla T4 in Colab, release-colab-2026.08 (2026-11-21)."),
        ([{**RUN, "notebook": "batch"}], "on a T4 and in Colab: NOT MEASURED."),
    ],
)  # fmt: skip
def test_row_23_the_stamp_says_what_was_run_and_what_was_not(runs: list[dict[str, object]], words: str) -> None:
    assert tables.line("audit_claim", runs) == words


def test_row_23_every_notebook_has_been_run_and_bears_its_stamp() -> None:
    run = {one["notebook"] for one in tables.runs(ROOT)}
    for path in some((ROOT / "notebooks").glob("*.ipynb")):
        assert path.stem in run
        assert f'"{tables.BEGIN}' in path.read_text(encoding="utf-8"), "tests/pages holds what follows"


def again(folder: Path) -> parameters.Values:
    """Row 17: the parameters an audit left, as the form takes them, with its seed in them and in its bundle."""
    values: parameters.Values = parameters.table(folder / "parameters.yaml")
    form = ClaimForm.read(**values)
    record = store.read(folder / "record.json")
    assert (form.seed,) == record.environment.seeds
    assert form.device == record.device.kind
    assert "parameters.yaml" in {one.file for one in bundle.verify(folder.with_suffix(".zip")).manifest.files}
    return values
