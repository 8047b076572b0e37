"""Every format, as its authors write it: recognised, kept byte for byte, a claim folder that loads. Nothing runs."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from audit import claims
from audit.apps import cli
from audit.claims import importers
from audit.claims.importers import entries, writer
from audit.claims.importers.facts import Given, Imported
from audit.claims.importers.material import Material
from audit.model import Harness
from audit.run.sessions.oracle import load_reference
from tests.importers import published

CLAIMED = {
    "kernelbench": ("claimed.py", "forward", {"batch_size": 4096, "features": 24}, 1e-2),
    "archive": ("claimed.cu", "forward", {"batch_size": 4096, "features": 24}, 1e-2),
    "robust_kbench": ("claimed.cu", "forward", {"batch_size": 4096, "features": 24}, 1e-5),
    "cuda_l1": ("claimed.py", "forward", {"batch_size": 4096, "features": 24}, 1e-2),
    "kernelbench_com": ("claimed.py", "forward", {"batch_size": 4096, "features": 24}, 1e-3),
    "kernelagent": ("claimed.py", "forward", {"batch_size": 4096, "features": 24}, 1e-2),
    "cuda_l2": ("claimed.cu", "audited_entry", {"M": 16, "N": 8, "K": 24}, 1e-2),
    "popcorn": ("claimed.py", "audited_entry", {"rows": 4096, "features": 24}, 1e-4),
    "flashinfer_bench": ("claimed.py", "audited_entry", {"rows": 4096}, 1e-2),
    "sol_execbench": ("claimed.cu", "forward", {"rows": 4096}, 1e-3),
    "notebook": ("claimed.cu", "forward", {"rows": 4096}, 1e-4),
    "hugging_face": ("claimed.py", "audited_entry", {"workload": 2}, 1e-2),
    "bare_cu": ("claimed.cu", "forward", {"rows": 4096}, 1e-4),
    "plain_python": ("claimed.py", "kernel", {"rows": 4096}, 1e-4),
}
HARNESS = {
    "cuda_l1": Harness(mode="eval"),
    "cuda_l2": Harness(destination=3),
    "kernelbench_com": Harness(mode="eval"),
    "kernelagent": Harness(mode="eval", dtype="bfloat16"),
}
FORMATS = pytest.mark.parametrize("name", published.FORMATS)


def imported(name: str, folder: Path, **given: Any) -> Imported:
    return importers.read([published.write(folder / name, **published.FORMATS[name])], given=Given(**given))


def poisoned(value: Any, mark: Path) -> Any:
    """Every Python source in a fixture, made to leave a file behind and to raise as soon as it is run."""
    trap = f"open({str(mark)!r}, 'w').close()\nraise SystemExit('ran')\nimport torch\n"
    if isinstance(value, str):
        try:
            return json.dumps(poisoned(json.loads(value), mark)) + "\n"
        except ValueError:
            return value.replace("import torch\n", trap)
    if isinstance(value, dict):
        return {key: poisoned(one, mark) for key, one in value.items()}
    if isinstance(value, list):
        alone = ["import torch" if one == "import torch\n" else one for one in value]
        return [trap if one == "import torch" else poisoned(one, mark) for one in alone]
    return value


@FORMATS
def test_the_mode_of_the_published_evaluation_is_stated(name: str, tmp_path: Path) -> None:
    folder = writer.write(imported(name, tmp_path), tmp_path / "claim")
    assert claims.load(str(folder)).claim.harness == HARNESS.get(name, Harness())


def test_every_importer_has_a_fixture_here() -> None:
    assert set(published.FORMATS) == set(importers.IMPORTERS) == set(CLAIMED)


@FORMATS
def test_the_content_tells_the_format(name: str, tmp_path: Path) -> None:
    folder = published.write(tmp_path, **published.FORMATS[name])
    assert importers.sniff(Material([folder])) == name
    assert importers.sniff(Material(sorted(folder.iterdir()))) == name


@FORMATS
def test_it_becomes_a_claim_that_loads(name: str, tmp_path: Path) -> None:
    found = imported(name, tmp_path)
    assert [str(one) for one in found.missing if one.essential] == []
    loaded = claims.load(str(writer.write(found, tmp_path / "claim")))
    file, entry, shape, relative = CLAIMED[name]
    claim = loaded.claim
    assert claim.claimed is not None
    assert (claim.claimed.file, claim.entry) == (file, entry)
    assert dict(claim.shapes.claimed) == shape
    assert claim.tolerance.relative == relative
    assert claim.source.fidelity == ("verbatim" if found.url else "given")
    assert found.provenance.split(" ", maxsplit=1)[0].rstrip(":") in claim.source.note


@FORMATS
def test_a_complete_source_lacks_what_the_importer_says(name: str, tmp_path: Path) -> None:
    assert {one.key for one in imported(name, tmp_path).missing} == set(importers.IMPORTERS[name].LACKS)


@FORMATS
def test_sources_are_kept_byte_for_byte(name: str, tmp_path: Path) -> None:
    found = imported(name, tmp_path)
    folder = writer.write(found, tmp_path / "claim")
    assert found.originals
    for original in claims.load(str(folder)).claim.original:
        data = (folder / original.file).read_bytes()
        assert hashlib.sha256(data).hexdigest() == original.sha256
        assert original.published_as
    kept = b"".join(one.data for one in found.originals)
    assert published.KERNEL.encode() in kept
    claimed = (folder / CLAIMED[name][0]).read_bytes()
    assert published.KERNEL.partition("\n\n")[2].encode() in claimed, "its includes may stand further above"
    if found.claimed is not None and not found.claimed.added:
        assert claimed in [one.data for one in found.originals]


@FORMATS
def test_nothing_of_it_is_run(name: str, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    files = poisoned(published.FORMATS[name], mark)
    assert str(mark) in str(files) or "import torch\n" not in str(published.FORMATS[name])
    found = importers.read([published.write(tmp_path / "source", **files)])
    folder = writer.write(found, tmp_path / "claim")
    claims.load(str(folder))
    load_reference(str(folder / "reference.py"))
    assert not mark.exists()


def test_importing_never_loads_torch(tmp_path: Path) -> None:
    folder = published.write(tmp_path / "source", **published.FORMATS["kernelbench"])
    code = (
        "import sys; from pathlib import Path; "
        "from audit.claims import importers; from audit.claims.importers import entries, writer; "
        "writer.write(importers.read([Path(sys.argv[1])]), Path(sys.argv[2])); "
        "sys.exit(bool({'torch', 'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code, folder, tmp_path / "claim"], check=False).returncode == 0


def test_the_command_says_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = published.write(tmp_path / "source", **published.FORMATS["archive"])
    target = tmp_path / "claim"
    assert cli.main(["import", str(source), "--to", str(target), "--gpu", "NVIDIA H100 80GB HBM3"]) == 0
    result = capsys.readouterr().out
    for words in ("level_1.jsonl row 1: archive ->", "sha256", "kernel: 0.012 ms on H100",
                  "the first of them alone (batch_size = 256, features = 24)",
                  "missing: reference.py cost", f"next: audit run {target} --device emulated"):  # fmt: skip
        assert words in result
    text = (target / "claim.toml").read_text(encoding="utf-8")
    assert "# chosen: shapes.emulated: 9 candidates" in text
    assert "# missing: reference.py cost" in text
    claim = claims.load(str(target)).claim
    assert claim.speedup[0].ratio == 2.58
    assert (claim.observation[0].kernel_ms, claim.observation[0].baseline_ms) == (0.012, 0.031)
    assert "µs would be shorter than the launch" in claim.observation[0].note
    assert [claim.stated_by_authors(one) for one in (claim.speedup[0], claim.observation[0])] == [True, True]


def test_what_lacks_something_essential_says_so_and_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "scaled.cu").write_text(published.CU)
    found = importers.read([tmp_path / "source"])
    assert not found.auditable
    folder = writer.write(found, tmp_path / "claim")
    head = (folder / "claim.toml").read_text(encoding="utf-8")
    assert "# MISSING, no audit without it: reference.py: no task was found" in head
    assert "# MISSING, no audit without it: tolerance" in head
    with pytest.raises(importers.BadInput, match="key tolerance"):
        claims.load(str(folder))


HELPER = "torch::Tensor twice(torch::Tensor x);\ntorch::Tensor twice(torch::Tensor x) { return x + x; }\n"


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        (published.KERNEL + published.RETURNING, "scaled"),
        (published.KERNEL + HELPER + published.RETURNING.replace("empty_like(x)", "empty_like(twice(x))"), "scaled"),
        (published.KERNEL + HELPER + published.RETURNING, None),
        (published.KERNEL + published.WRITING, None),
        ((published.KERNEL + published.RETURNING).replace("torch/extension.h", "torch/torch.h"), "scaled"),
    ],
    ids=["one", "one calls the other", "two", "none", "another header of torch"],
)
def test_the_only_function_that_returns_tensors_is_bound(text: str, bound: str | None, tmp_path: Path) -> None:
    folder = published.write(tmp_path / "source", scaled__cu=text, task__py=published.REFERENCE)
    found = importers.read([folder])
    assert found.claimed is not None
    assert found.claimed.entry == (bound or "forward")
    assert (f"&{bound});" in found.claimed.data.decode()) is found.auditable is (bound is not None)


def test_a_text_for_load_inline_gets_its_headers_and_a_binding() -> None:
    plain = (published.KERNEL + published.RETURNING).replace("#include <torch/extension.h>\n", "")
    lines = entries.with_binding(plain.encode(), "scaled").decode().splitlines()
    assert lines[0] == "#include <torch/types.h>"
    assert [line for line in lines if "extension.h" in line] == lines[-2:-1]
    of_torch = entries.with_binding(b"#include <ATen/ATen.h>\n" + plain.encode(), "scaled").decode()
    assert "types.h" not in of_torch and of_torch.count("extension.h") == 1


MACRO = "#define TEXT(name) #name\n#define BIND(name) \\\n  m.def({}, &name, {});\n"
MODULE = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { BIND(scaled) BIND(twice) }\n"


@pytest.mark.parametrize("text", ["#name", "TEXT(name)"])
def test_functions_that_a_macro_binds_are_bound(text: str) -> None:
    source = published.KERNEL + published.RETURNING + HELPER + MACRO.format(text, text) + MODULE
    assert entries.bound(source) == ["scaled", "twice"]
    assert entries.bound(source.replace("m.def(", "m.def(PREFIX ")) == []


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    found = imported("bare_cu", tmp_path)
    writer.write(found, tmp_path / "claim")
    with pytest.raises(importers.BadInput, match="is there already"):
        writer.write(found, tmp_path / "claim")
    with pytest.raises(importers.BadInput, match="letters, digits and underscores only"):
        writer.write(found, tmp_path / "A-Claim")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_type_names_of_a_leaderboard_are_there_for_its_submissions(tmp_path: Path) -> None:
    import torch

    from audit.build.python.load import function_of

    source = tmp_path / "audited.py"
    source.write_text("from task import input_t\n\n\ndef forward(x: input_t) -> input_t:\n    return x * 2\n")
    assert function_of(source, "forward", init_inputs=(), device="cpu", harness=Harness())(torch.ones(1)).item() == 2
    source.write_text("from task import *\n\n\ndef forward(x):\n    return x * 3\n")
    assert function_of(source, "forward", init_inputs=(), device="cpu", harness=Harness())(torch.ones(1)).item() == 3


def test_constants_of_the_task_that_a_solution_uses_stand_behind_it(tmp_path: Path) -> None:
    """KernelBench runs both files in one namespace."""
    task = published.TASK.replace("import torch\n", "import math\nimport torch\n", 1)
    solution = published.SOLUTION + "\n\ndef rows():\n    return math.ceil(batch_size) + features_of + len([])\n"
    folder = published.write(tmp_path / "source", **(published.FORMATS["kernelbench"] | {"task__py": task}))
    name = next(one.name for one in folder.iterdir() if "ModelNew" in one.read_text())
    (folder / name).write_text(solution)
    found = importers.read([folder])
    assert found.claimed is not None
    own, _, added = found.claimed.data.decode().partition(entries.MARK)
    assert (own, added) == (solution, "import math\nbatch_size = 4096\n"), "features_of is bound nowhere"
    assert found.claimed.added.startswith("math, batch_size of the task")
    assert next(one for one in found.originals if one.file == "solution.py").data == solution.encode()
