"""What the guides show is what works: the claim in `add_a_claim.md` loads, the probe in `add_a_probe.md` asks."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest

from audit import claims
from audit.apps import cli
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.lint.floors import floors
from audit.probes import PROBES
from audit.probes.observing import runner
from audit.report.progress import Progress
from audit.review.hints import Source, reviewed
from audit.run.processes.pool import Workers

pytestmark = pytest.mark.audits

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
FILES = {"toml": "claim.toml", "python": "reference.py", "cuda": "claimed.cu"}


def blocks(name: str) -> dict[str, str]:
    """The code blocks of a guide by their language."""
    found = BLOCK.findall((DOCS / name).read_text(encoding="utf-8"))
    assert len({language for language, _ in found}) == len(found)
    return dict(found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kernels") / "row_sum"
    place.mkdir()
    for language, text in blocks("add_a_claim.md").items():
        (place / FILES[language]).write_text(text, encoding="utf-8")
    return place


def test_the_claim_of_the_guide_loads(folder: Path) -> None:
    loaded = claims.load(str(folder))
    assert loaded.claim.name == folder.name
    assert loaded.claim.claimed is not None
    elements = 4096 * 4096
    (floor,) = floors(loaded.claim, {"flops": float(elements), "bytes": 4.0 * (elements + 4096)})
    assert floor.target == "T4"
    text = loaded.source_of(loaded.claim.claimed).read_text(encoding="utf-8")
    assert not [one.probe for one in reviewed(Source(text, target="claimed")) if one.outcome == "error"]


def test_the_probe_of_the_guide_asks_about_the_claim_of_the_guide(
    folder: Path, tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = types.ModuleType("audit.probes.fixed_sign")
    exec(compile(blocks("add_a_probe.md")["python"], "add_a_probe.md", "exec"), probe.__dict__)  # the guide's own text
    monkeypatch.setitem(sys.modules, probe.__name__, probe)
    monkeypatch.setattr(runner, "PROBES", {"contract": PROBES["contract"], probe.NAME: probe})
    with Audit(claims.load(str(folder)), EmulatedDevice(), tmp_path, workers=workers, progress=Progress()) as audit:
        for stage in (audit.prepare, audit.build, audit.verify):
            stage()
        found = {finding.probe: finding for finding in audit.record.findings}
    assert found["contract"].outcome == "pass", found["contract"].summary
    assert found["fixed_sign"].outcome == "pass", found["fixed_sign"].summary
    assert "0 of 33 elements have another sign than they must" in found["fixed_sign"].summary


@pytest.mark.parametrize("name", ["add_a_claim.md", "add_a_probe.md", "faq_for_authors.md"])
def test_commands_and_files_that_are_named_exist(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    known = capsys.readouterr().out
    for command in re.findall(r"`?audit (run|import|compare|verify|self-test|bundle)\b", text):
        assert re.search(rf"^    {command}\b", known, re.MULTILINE), command
    for path in re.findall(r"`((?:audit|kernels|tests|notebooks)/[\w/.]+\.(?:py|toml|ipynb))`", text):
        made_here = "row_sum" in path or "fixed_sign" in path
        assert made_here or (DOCS.parent / path).exists(), path
    if name.startswith("add_a"):
        assert len(re.findall(r"^## \d\. ", text, re.MULTILINE)) == 5
