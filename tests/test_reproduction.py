"""The lines under "How to reproduce", typed as they are printed: in another folder, where the named files lie.

Of a claim of the kit, `test_wheel.py` types it elsewhere.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from audit import claims
from audit.apps import cli
from audit.model import Record, store
from tests.importers import published

pytestmark = pytest.mark.audits

FILES = {"half_scaled__cu": published.CU.replace("if (i < count)", "if (2 * i < count)"),
         "my_task__py": published.REFERENCE}  # fmt: skip


def typed(folder: Path, command: str, patch: pytest.MonkeyPatch) -> None:
    patch.chdir(folder)
    program, *words = shlex.split(command)
    assert program == "audit"
    assert cli.main(words) == 0


def printed(report: Path) -> list[str]:
    section = report.read_text(encoding="utf-8").partition("## How to reproduce")[2].partition("\n## ")[0]
    return re.findall(r"^- `(audit [^`]+)`$", section, re.MULTILINE)


def observed(record: Record) -> dict[str, object]:
    """The verdict, and what the probes saw, but for addresses and orders that a run draws anew."""
    steady = ("agreement", "coverage", "inherited", "order")
    return {"verdict": record.verdict.name} | {
        one.probe: one.summary for one in record.findings if one.probe in steady and one.target == "claimed"
    }


def reproduced(first: Path, other: Path, patch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Type both printed lines: the audit in the other folder, the report beside its record. Return what each saw."""
    (found,) = first.rglob(store.RECORD)
    run, render = printed(found.with_name("report.md"))
    typed(other, run, patch)
    (again,) = other.rglob(store.RECORD)
    before = again.with_name("report.md").read_bytes()
    again.with_name("report.md").unlink()
    typed(again.parent, render, patch)
    assert again.with_name("report.md").read_bytes() == before
    return [observed(store.read(one)) for one in (found, again)]


def test_of_names_with_blanks_and_unicode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files lie in a folder beside, which the line names; the copy lies in a folder of another name."""
    named = dict(zip(("a folder ü/my kernel 核.cu", "a folder ü/-the task é.py"), FILES.values(), strict=True))
    here, there = tmp_path / "mein Ordner 核", tmp_path / "un autre dossier"
    for name, text in named.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text, encoding="utf-8")
    shutil.copytree(here, there)
    files = shlex.join(named)
    typed(
        here,
        f"audit check {files} --tolerance 1e-5 --shape rows=512 --device emulated --out 'die Ergebnisse'",
        monkeypatch,
    )
    assert (here / "die Ergebnisse" / "results" / "report.html").is_file()
    one, two = reproduced(here, there, monkeypatch)
    assert one == two
    assert (one["verdict"], len(one)) == ("wrong", 5)
    monkeypatch.chdir(here / "a folder ü")
    assert claims.shown(here / "a folder ü" / "-the task é.py") == "./-the task é.py"


def test_of_an_imported_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = published.write(tmp_path / "here", **FILES), tmp_path / "there"
    typed(here, "audit import half_scaled.cu my_task.py --tolerance 1e-5", monkeypatch)
    shutil.copytree(here / "kernels", there / "kernels")
    typed(here, "audit run kernels/half_scaled --device emulated", monkeypatch)
    one, two = reproduced(here, there, monkeypatch)
    assert one == two
    assert (one["verdict"], len(one)) == ("wrong", 5)
