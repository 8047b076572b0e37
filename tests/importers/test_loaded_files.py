"""A Python kernel that loads C++ and CUDA files by `load`: their texts stand in its place, or one sentence names the
line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from audit.claims import importers
from audit.model.errors import BadInput
from tests.importers import published

HEAD = "import os\nimport torch\nfrom torch.utils.cpp_extension import load\nHERE = os.path.dirname(__file__)\n"
CALL = "\n\ndef kernel(x):\n    return ext.forward(x)\n"
CU = '#include <torch/extension.h>\n#include "twice.cuh"\n__global__ void k(float* y) { y[0] = twice(y[0]); }\n'
CUH, CPP = "__device__ float twice(float x) { return 2 * x; }\n", "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n"
NATIVE = {"k.cu": CU, "twice.cuh": CUH, "bind.cpp": CPP}


def written(folder: Path, load: str, native: dict[str, str]) -> list[Path]:
    texts = {"kernel.py": HEAD + load + CALL, "reference.py": published.REFERENCE, **native}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


@pytest.mark.parametrize(
    "load",
    [
        'ext = load(name="ext", sources=[os.path.join(HERE, "k.cu"), HERE + "/bind.cpp"], extra_cuda_cflags=["-O3"])',
        'ext = load("ext", [f"{HERE}/" + "k.cu", "csrc/bind.cpp"], None, ["-O3"])',
    ],
)
def test_what_a_kernel_loads_stands_in_it(load: str, tmp_path: Path) -> None:
    found = importers.read(written(tmp_path, load, NATIVE))
    assert found.format == "plain_python" and found.claimed is not None and found.auditable
    assert {one.published_as for one in found.originals} == {"kernel.py", "reference.py", *NATIVE}
    text = found.claimed.data.decode()
    assert text.index("twice(float x)") < text.index("void k(") < text.index("PYBIND11_MODULE")
    call = next(one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call) and "load" in ast.unparse(one))
    named = {one.arg: ast.unparse(one.value) for one in call.keywords}
    assert named["cuda_sources"] == "_SIDECAR_1" and named["extra_cuda_cflags"] == "['-O3']"
    assert "load(" not in text.replace("load_inline(", "")


@pytest.mark.parametrize(
    ("load", "native"),
    [
        ('ext = load(name="ext", sources=["k.cu"])', {}),
        ('ext = load(name="ext", sources=[HERE + "/k" + ".cu"])', {"k.cu": CU}),
        ('ext = load(name="ext", sources=["k.cu", "other.cu"])', {"k.cu": CU}),
        ('ext = build(os.path.join(HERE, "k.cu"))', {"k.cu": CU}),
    ],
)
def test_a_load_that_is_not_read_is_told_by_its_line(load: str, native: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^kernel\.py: line 5 loads a file that was not given, or in a way that is not"):
        importers.read(written(tmp_path, load, native))


def test_a_kernel_that_loads_nothing_stays_as_it_is(tmp_path: Path) -> None:
    files = written(tmp_path, "weights = torch.load('w.pt', 'cpu')\n", {})
    found = importers.read(files)
    assert found.claimed is not None and found.claimed.data == files[0].read_bytes() and not found.claimed.added
