"""A `.py` variant built for the emulated device, and what of a GPU's build needs no GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.build.cache import SEAL
from audit.build.cuda.gpu import Gpu
from audit.build.cuda.toolchain import CudaToolchain
from audit.build.emulated.device import EmulatedDevice, EmulatedVariant
from audit.build.python.cuda import PythonBuilder
from audit.build.settings import CudaPythonSettings, EmulatedPythonSettings
from audit.model import Variant
from audit.model.errors import CompileError, Unsupported

FOLDER = claims.load("controls_python")
GPU = Gpu("Tesla T4", 75, "580", 15360, (13, 0))
TOOLS = CudaToolchain(Path("/nowhere"), "nvcc 13.0.88", "2.11.0", (13, 0), Path("/nowhere"))
PLAIN = "def forward(x):\n    return x * 2\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A claim folder with a reference."""
    (tmp_path / "reference.py").write_text("def get_init_inputs():\n    return [3, 0.5]\n")
    return tmp_path


def written(folder: Path, text: str) -> Path:
    (folder / "claimed.py").write_text(text)
    return folder / "claimed.py"


def variant(file: str = "claimed.py") -> Variant:
    return Variant(file=file, role="claimed", technique="t")


def emulated(source: Path) -> EmulatedVariant:
    built = EmulatedDevice().build(source, variant(source.name), optimisation="O2")
    assert isinstance(built, EmulatedVariant)
    return built


def loaded(built: EmulatedVariant) -> EmulatedPythonSettings:
    assert isinstance(built.loaded, EmulatedPythonSettings)
    return built.loaded


def test_plain_torch_is_built_without_a_compiler(folder: Path) -> None:
    built = emulated(written(folder, PLAIN))
    assert (built.note.outcome, built.note.header_set, built.note.compiler) == ("built", "python", None)
    assert (built.orders, built.checks_accesses, built.tensor_device) == (("forward",), False, "cpu")
    asked = built.settings(memory="reuse", order="forward", check=False)
    assert isinstance(asked, EmulatedPythonSettings)
    assert (asked.kind, asked.libraries, asked.triton) == ("emulated_python", {}, False)
    assert asked.configuration.allocator == "reuse"


def test_the_copy_that_runs_has_no_reference_beside_it(folder: Path) -> None:
    built = emulated(written(folder, PLAIN))
    source = loaded(built).python
    assert source.read_text() == PLAIN
    assert {path.name for path in source.parent.iterdir()} == {"claimed.py", SEAL}


def test_arguments_of_a_module_come_from_the_reference(folder: Path) -> None:
    text = "class ModelNew: ...\ndef get_init_inputs():\n    return [1]\n"
    assert loaded(emulated(written(folder, text))).init_inputs == [3, 0.5]


def test_cuda_texts_are_compiled_and_their_kernels_run_in_every_order() -> None:
    source = FOLDER.path / "silent_fallback_good.py"
    built = emulated(source)
    assert built.orders == ("forward", "reverse", "random")
    assert built.checks_accesses
    assert loaded(built).exact_lines
    assert built.note.compiler is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import torch\nf = torch.compile(max)\n", r"torch.compile, .* \(line 2\)"),
        ("import torch\ng = torch.cuda.CUDAGraph()\n", r"CUDA graphs \(line 2\)"),
        ("from torch import cuda\nwith cuda.stream(cuda.Stream()): ...\n", r"streams of its own \(line 2\)"),
        ("from torch.cuda import Event as E\ne = E()\n", r"CUDA events \(line 2\)"),
        ("from torch.utils.cpp_extension import load\nm = load('m', ['k.cu'])\n", r"other files \(line 2\)"),
        ("import torch\nfrom numba import cuda\n", r"kernels compiled by Numba, .* \(line 2\)"),
        ("import torch\nimport cuda.tile as ct\n", r"kernels compiled by cuTile, .* \(line 2\)"),
        ("import cuda.tile\n", r"kernels compiled by cuTile, .* \(line 1\)"),
        ("from cuda import tile\n", r"kernels compiled by cuTile, .* \(line 1\)"),
        ("import cutlass.cute as cute\n", r"kernels compiled by CuTe DSL or CUTLASS, .* \(line 1\)"),
        ("import helion.language as hl\n", r"kernels compiled by Helion, .* \(line 1\)"),
        ("from triton.experimental import gluon\n", r"kernels compiled by Gluon, .* \(line 1\)"),
        ("from triton.experimental.gluon import language\n", r"kernels compiled by Gluon, .* \(line 1\)"),
        ("from hip import hiprtc\n", r"kernels compiled by HIP, .* \(line 1\)"),
        ("import mojo.importer\n", r"kernels compiled by Mojo, .* \(line 1\)"),
        ("from tilelang import language as T\n", r"kernels compiled by TileLang, .* \(line 1\)"),
        (
            "from torch.utils.cpp_extension import load_inline\nload_inline('m', '', open('k').read())\n",
            r"not made of constants \(line 2\)",
        ),
    ],
)
def test_what_exists_on_a_gpu_only_is_not_supported(folder: Path, text: str, words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        emulated(written(folder, text))


def test_triton_where_there_is_none_is_not_supported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.build.python.emulated.find_spec", lambda _: None)
    with pytest.raises(Unsupported, match="triton is not installed"):
        emulated(written(folder, "import triton\n@triton.jit\ndef k(): ...\n"))


def test_a_source_that_is_no_python_does_not_compile(folder: Path) -> None:
    with pytest.raises(CompileError, match="line 1: error"):
        emulated(written(folder, "def forward(x:\n"))


def test_a_cuda_text_that_does_not_compile_is_told_in_the_compilers_words(folder: Path) -> None:
    text = "from torch.utils.cpp_extension import load_inline\nload_inline('m', '', 'int f() { return undeclared; }')\n"
    with pytest.raises(CompileError, match="undeclared"):
        emulated(written(folder, text))


def test_macros_of_nvccs_flags_count(folder: Path) -> None:
    text = """from torch.utils.cpp_extension import load_inline
source = '#if SCALE != 3\\n#error no scale\\n#endif\\nint f() { return SCALE; }'
module = load_inline('m', 'int f();', source, functions=['f'], extra_cuda_cflags=['-O3', FLAG])
forward = module.f
"""
    assert emulated(written(folder, text.replace("FLAG", "'-DSCALE=3'"))).note.outcome == "built"
    with pytest.raises(CompileError, match="no scale"):
        emulated(written(folder, text.replace("FLAG", "'-DSCALE=4'")))


@pytest.mark.parametrize(
    ("cpp", "cuda"),
    [
        (
            "#include <torch/extension.h>\\nlong f();",
            "#include <ATen/cuda/CUDAContext.h>\\nlong f() { return torch::cuda::getCurrentCUDAStream().id(); }",
        ),
        ("long g(); long f() { torch::cuda::synchronize(); return g(); }", "long g() { return 0; }"),
    ],
)
def test_each_text_sees_the_headers_that_torch_puts_before_it(folder: Path, cpp: str, cuda: str) -> None:
    head = "from torch.utils.cpp_extension import load_inline\nmodule = load_inline('m', "
    text = f"{head}'{cpp}', '{cuda}', functions=['f'])\nforward = module.f\n"
    assert emulated(written(folder, text)).note.outcome == "built"


def test_a_cuda_text_with_the_extensions_header_has_torchs_own_namespace(folder: Path) -> None:
    cuda = "#include <torch/extension.h>\\nlong f() { return torch::cuda::getCurrentCUDAStream().id(); }"
    text = (
        f"from torch.utils.cpp_extension import load_inline\nload_inline('m', 'long f();', '{cuda}', functions=['f'])\n"
    )
    with pytest.raises(CompileError, match="is not a member of ‘torch::cuda’"):
        emulated(written(folder, text))


def test_a_gpu_needs_no_build_of_a_source_without_extensions(folder: Path) -> None:
    builder = PythonBuilder(GPU, TOOLS)
    built = builder.build(written(folder, PLAIN), variant(), FOLDER.claim, level="fast")
    asked = built.settings(memory="plain", order="forward", check=False)
    assert isinstance(asked, CudaPythonSettings)
    assert (asked.extensions, asked.init_inputs) == (None, [3, 0.5])
    assert asked.environment["TORCH_CUDA_ARCH_LIST"] == "7.5"
    assert (built.note.optimisation, built.note.header_set, built.checks_accesses) == ("fast", "python", False)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("import no_such_package\n", Unsupported, "No module named 'no_such_package'"),
        ("raise SystemExit(0)\n", CompileError, "its process ended with code 0"),
    ],
)
def test_a_source_that_does_not_load_says_why(folder: Path, text: str, error: type[Exception], words: str) -> None:
    source = written(folder, f"import torch.utils.cpp_extension\n{text}{PLAIN}")
    with pytest.raises(error, match=words):
        PythonBuilder(GPU, TOOLS).build(source, variant(), FOLDER.claim, level="fast")
