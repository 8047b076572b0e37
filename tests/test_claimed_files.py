"""The files that a claim is audited from: headers named by macros are compiled, recorded and bundled as they are."""

from __future__ import annotations

import hashlib
import io
import shutil
from pathlib import Path

import pytest

from audit import claims
from audit.apps import bundle
from audit.apps.bundle import archive
from audit.audit import Audit
from audit.build.emulated.device import EmulatedDevice
from audit.model import Record, SourceFile, store
from audit.model.errors import BadInput
from audit.record_writer import RecordWriter
from audit.report.progress import Progress
from audit.run.processes.pool import Workers
from audit.scheduler import places
from tests.hostile.conftest import CLAIM, VARIANT

pytestmark = pytest.mark.audits

PUBLISHED = Path(__file__).parents[1] / "reports/triangular_mm/h100/record.json"
INCLUDE = '#define IMPL "factor.h"\n#include IMPL\n'


def claim_with(root: Path, factor: str) -> Path:
    """A claim whose kernel multiplies by the factor that a header of its own gives."""
    folder = Path(shutil.copytree(CLAIM, root / f"times_{factor[0]}/hostile"))
    text = (folder / "twice.cu").read_text(encoding="utf-8").replace("2.0f", "FACTOR")
    (folder / "twice.cu").write_text(INCLUDE + text, encoding="utf-8")
    (folder / "factor.h").write_text(f"#define FACTOR {factor}\n", encoding="utf-8")
    with (folder / "claim.toml").open("a", encoding="utf-8") as file:
        file.write(VARIANT.format(file="twice.cu", role="claimed"))
    return folder


def audited(folder: Path, workers: Workers) -> Record:
    out = folder.parent / "out"
    progress = Progress(io.StringIO())
    with Audit(claims.load(str(folder)), EmulatedDevice(), out, entropy=3, workers=workers, progress=progress) as one:
        return one.run()


def test_one_source_with_two_headers_is_two_kernels(tmp_path: Path) -> None:
    right, wrong = claim_with(tmp_path, "2.0f"), claim_with(tmp_path, "3.0f")
    with Workers(places(1)) as workers:
        records = {folder: audited(folder, workers) for folder in (right, wrong)}
    assert [rung.state for rung in records[right].ladder] == ["passed"]
    assert records[wrong].verdict.name == "wrong"
    for folder, record in records.items():
        data = (folder / "factor.h").read_bytes()
        (header,) = [one for one in record.claim.sources if one.file == "factor.h"]
        assert header.sha256 == hashlib.sha256(data).hexdigest()
        assert {one.file for one in record.environment.builds[0].reads} == {"twice.cu", "factor.h"}
        made = bundle.make(folder.parent / "out", claim=folder)
        assert archive.unpack(made.read_bytes())["sources/factor.h"] == data
        assert bundle.verify(made).record.verdict.name == record.verdict.name
    (wrong / "factor.h").write_text("#define FACTOR 2.0f\n")
    with pytest.raises(BadInput, match=r"factor\.h: changed since the audit"):
        bundle.make(wrong.parent / "out", claim=wrong)


def test_a_file_that_changes_during_an_audit_ends_it(tmp_path: Path) -> None:
    record = store.read(PUBLISHED)
    writer = RecordWriter(record, tmp_path / "record.json", command="audit run")
    note = record.environment.builds[0]
    header = SourceFile(file="factor.h", sha256="0" * 64, size_bytes=1)
    writer.add_build(note.model_copy(update={"reads": (header, record.claim.sources[0])}))
    assert writer.record.claim.sources == (*record.claim.sources, header)
    with pytest.raises(BadInput, match=r"factor\.h: changed during the audit; run it again"):
        writer.add_build(note.model_copy(update={"reads": (header.model_copy(update={"sha256": "1" * 64}),)}))
