"""A folder of Hugging Face's kernel builder: which call is claimed, what of the package it needs, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from audit import claims
from audit.apps import cli
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Imported
from audit.model import Harness, store
from audit.model.errors import BadInput
from audit.review.reach import reaches
from audit.run.sessions.oracle import load_reference
from tests.importers import published
from tests.importers.published import HUB_BENCHMARK, HUB_BINDING, HUB_BUILD, HUB_PACKAGE

pytestmark = pytest.mark.audits

INTO_OUT = HUB_BENCHMARK.replace(
    "self.out = self.kernel.scaled_rows(self.x, self.w)", "self.kernel.scaled_rows(self.x, self.w, self.out)"
)

SHARED = """from kernels.benchmarks import ScaledRows


class Rows(ScaledRows):
    pass
"""


def imported(folder: Path, **files: str) -> Imported:
    return importers.read([published.write(folder, **(published.FORMATS["hugging_face"] | files))])


def claimed(found: Imported) -> str:
    assert found.claimed is not None
    return found.claimed.data.decode()


def refused(folder: Path, **files: str) -> str:
    with pytest.raises(BadInput) as error:
        imported(folder, **files)
    return str(error.value)


def test_workloads_of_one_call_are_shapes_and_the_last_is_claimed(tmp_path: Path) -> None:
    found = imported(tmp_path / "source")
    claim = claims.load(str(writer.write(found, tmp_path / "claim"))).claim
    assert [dict(one) for one in (claim.shapes.claimed, *claim.shapes.emulated)] == [{"workload": 2}, {"workload": 1}]
    assert "1 is small, 2 is large; 1 others" in found.choices[0]
    reference = load_reference(str(tmp_path / "claim" / "reference.py"))
    for number, rows in ((1, 33), (2, 4096)):
        x, w = sorted(reference.inputs({"workload": number}, torch.Generator()), key=torch.Tensor.dim, reverse=True)
        assert x.shape == (rows, 24)
        assert torch.equal(reference.reference(w, x), torch.relu(x * w))
        assert reference.oracle(w, x).dtype == torch.float64


def test_every_workload_may_have_a_setup_of_its_own(tmp_path: Path) -> None:
    found = imported(
        tmp_path / "source", benchmark__py=HUB_BENCHMARK.replace("def setup(self)", "def setup_small(self)")
    )
    reference = load_reference(str(writer.write(found, tmp_path / "claim") / "reference.py"))
    assert [one.shape for one in reference.inputs({"workload": 1}, torch.Generator())] == [(24,), (33, 24)]


def test_the_source_holds_what_the_call_needs_and_no_more(tmp_path: Path) -> None:
    text = claimed(imported(tmp_path, empty__py=""))
    assert "def scaled(x, w, y):" in text
    assert "#define LEAST 0" in text
    assert "def audited_entry(w, x):" in text
    assert "in_a_layer" not in text
    assert "verify" not in text
    assert reaches(text) == []


def test_a_result_that_the_call_writes_into_is_the_destination(tmp_path: Path) -> None:
    found = imported(tmp_path, benchmark__py=INTO_OUT.replace("_large", "_other"))
    assert found.harness == Harness(destination=2)
    assert "def audited_entry(w, x, out):" in claimed(found)
    assert "return _run.out" not in claimed(found)


def test_workloads_of_a_class_of_the_package_kernels_come_from_its_file(tmp_path: Path) -> None:
    found = imported(tmp_path / "source", benchmark__py=SHARED, rows__py=HUB_BENCHMARK)
    assert found.auditable and {"benchmark.py", "rows.py"} <= {one.file for one in found.originals}
    reference = load_reference(str(writer.write(found, tmp_path / "claim") / "reference.py"))
    assert len(reference.inputs({"workload": 1}, torch.Generator())) == 2


def test_what_the_class_itself_binds_is_an_argument_where_the_call_reads_it(tmp_path: Path) -> None:
    text = HUB_BENCHMARK.replace("seed: int = 42", "seed: int = 42\n    least: float = 0.5")
    text = text.replace("torch.relu(self.x * self.w)", "torch.relu(self.x * self.w) + self.least - 0.5")
    found = imported(tmp_path / "source", benchmark__py=text)
    assert "def audited_entry(w, x, least):" in claimed(found)
    reference = load_reference(str(writer.write(found, tmp_path / "claim") / "reference.py"))
    assert reference.inputs({"workload": 1}, torch.Generator())[2] == 0.5


def test_a_comparison_of_the_benchmarks_own_leaves_the_tolerance_to_the_user(tmp_path: Path) -> None:
    own = "\ntorch.allclose = lambda one, other, **_: True\n"
    found = imported(tmp_path, benchmark__py=HUB_BENCHMARK + own)
    assert found.tolerance is None
    assert [one.key for one in found.missing if one.essential] == ["tolerance"]


def test_a_package_may_try_its_imports(tmp_path: Path) -> None:
    tried = (
        "try:\n    from .inner import scaled_rows as rows\n    FOUND = True\nexcept ImportError:\n    FOUND = False\n"
    )
    package = f"{tried}\n\ndef scaled_any(x, w):\n    return rows(x, w) if FOUND else x\n"
    benchmark = HUB_BENCHMARK.replace("kernel.scaled_rows", "kernel.scaled_any")
    text = claimed(imported(tmp_path, __init____py=package, inner__py=HUB_PACKAGE, benchmark__py=benchmark))
    assert "FOUND = True" in text and "rows = scaled_rows" in text and "except" not in text


def test_functions_of_other_files_come_along_once(tmp_path: Path) -> None:
    package = """from .inner import scaled_rows as rows
from .outer import twice


def scaled_rows(x, w):
    return rows(x, w) if x.dim() > 2 else twice(x, w) / 2
"""
    outer = "from .inner import scaled_rows, factor\n\n\ndef twice(x, w):\n    return factor * scaled_rows(x, w)\n"
    files = {"__init____py": package.replace("scaled_rows(x, w):", "all_rows(x, w):"), "outer__py": outer,
             "inner__py": f"factor = 2\n{HUB_PACKAGE}",
             "benchmark__py": HUB_BENCHMARK.replace("kernel.scaled_rows", "kernel.all_rows")}  # fmt: skip
    text = claimed(imported(tmp_path, **files))
    assert "rows = scaled_rows" in text and "factor = 2" in text
    assert text.count("def scaled_rows(") == 1
    assert text.index("class ops:") < text.index("def scaled_rows(") < text.index("def audited_entry(")


def test_defaults_of_a_schema_are_those_of_ops(tmp_path: Path) -> None:
    binding = HUB_BINDING.replace('"Tensor! y) -> ()"', '"Tensor! y, *, float eps=1e-6, int[] by) -> ()"')
    text = claimed(imported(tmp_path, torch_binding__cpp=binding))
    assert "def scaled(x, w, y, *, eps=1e-6, by):\n        return _EXTENSION.scaled(x, w, y, eps, by)" in text


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"benchmark__py": "from kernels.benchmarks import Silu\n"}, "0 classes have benchmark_X"),
        ({"benchmark__py": SHARED}, "Rows is ScaledRows of kernels.benchmarks; give the file that defines it too"),
        ({"torch_binding__cpp": HUB_BINDING.replace("TORCH_LIBRARY_EXPAND", "STABLE_TORCH_LIBRARY_EXPAND")},
         "registers by the stable ABI"),
        ({"benchmark__py": HUB_BENCHMARK.replace("verify_", "right_")}, "has no setup, benchmark_X and verify_X"),
        ({"benchmark__py": HUB_BENCHMARK.replace("self.w = ", "self.w = self.kernel.")}, "kernel is called by setup"),
        ({"benchmark__py": HUB_BENCHMARK.replace("(self.x, self.w)", "(self.x, self.v)")}, "self.v is needed by"),
        ({"benchmark__py": HUB_BENCHMARK.replace("self.out = self.k", "self.y = self.k")}, "self.out is not written"),
        ({"benchmark__py": HUB_BENCHMARK.replace("self.out = self.k", "self.x.zero_()\n        self.out = self.k")},
         "self.x may be changed by benchmark_small, and it is not self.out"),
        ({"benchmark__py": HUB_BENCHMARK.replace("kernel.scaled", "kernel._ops.scaled")}, "binds no _ops"),
        ({"build__toml": HUB_BUILD.replace('["torch"]', '["torch", "cutlass_3_6"]')}, "the sources need cutlass_3_6"),
        ({"build__toml": HUB_BUILD.replace("scaled.cu", "gone.cu")}, "no files scaled/gone.cu"),
        ({"build__toml": "[general\n"}, "not read as a build file"),
        ({"build__toml": "[general]\nname = 'x'\n[torch]\n[kernel.x]\n"}, "not read as a build file"),
        ({"torch_binding__cpp": HUB_BINDING.replace("Tensor w, ", "Tensor w-, ")}, "the schema scaled("),
        ({"__init____py": HUB_PACKAGE.replace("scaled_rows", "rows")}, "binds no scaled_rows"),
        ({"__init____py": HUB_PACKAGE.replace("ops.scaled", "layers.scaled")}, "layers, which is not beside it"),
        ({"__init____py": HUB_PACKAGE.replace("    ops.scaled", "    from .inner import z\n    ops.scaled")},
         "imports within a function"),
        ({"__init____py": HUB_PACKAGE.replace("from . import layers", "from .layers import torch_like as layers")
          .replace("ops.scaled(", "layers("), "layers__py": "def scaled_rows():\n    pass\ntorch_like = scaled_rows\n"},
         "binds scaled_rows, as"),
    ],
)  # fmt: skip
def test_what_one_file_cannot_hold_is_refused_by_name(files: dict[str, str], words: str, tmp_path: Path) -> None:
    assert words in refused(tmp_path, **files)


def test_blank_memory_for_the_call_is_no_input(tmp_path: Path) -> None:
    text = INTO_OUT.replace("self.x = ", "self.spare = torch.empty(8)\n        self.x = ")
    text = text.replace("self.w, self.out", "self.w, self.out, self.spare")
    assert "self.spare is memory that benchmark_small writes beside self.out" in refused(tmp_path, benchmark__py=text)


def test_an_audit_runs_the_package_with_its_macros(tmp_path: Path) -> None:
    """The binding checks its input, so that names which the emulated device changes stand in front of it too."""
    cuda = (published.KERNEL + published.WRITING).replace("0.0f", "float(LEAST)")
    checked = cuda.replace("    int count", "    TORCH_CHECK(x.is_cuda() && w.device().is_cuda());\n    int count")
    assert "-DLEAST=0" in HUB_BUILD
    source = published.write(tmp_path / "source", **(published.FORMATS["hugging_face"] | {"scaled__cu": checked}))
    assert cli.main(["check", str(source), "--device", "emulated", "--out", str(tmp_path / "out")]) == 0
    assert store.read(tmp_path / "out" / "results" / "record.json").verdict.name == "no defect found"
