"""What nvcc and torch's builder say against a source; only their word makes a claim one that cannot be built."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from audit import claims
from audit.apps import cli
from audit.build import second_compiler
from audit.build.cuda import toolchain
from audit.build.cuda.compile import HEADER_SET
from audit.build.notes import failed_note
from audit.model import store
from audit.model.errors import CompileError
from audit.sandbox import command

KERNEL = """__global__ void twice(float* a, int n) {{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{ a[i] = 2.0f * {factor}; }}
}}
"""
BAD, GOOD = KERNEL.format(factor="factor"), KERNEL.format(factor="a[i]")
needs_nvcc = pytest.mark.skipif(toolchain.cuda_home() is None, reason="no nvcc here")


def said(folder: Path, text: str, *, name: str = "claimed.cu") -> second_compiler.Refusal | None:
    source = folder / name
    source.write_text(text, encoding="utf-8")
    return second_compiler.of_nvcc(source, compute_capability=75)


@needs_nvcc
def test_a_source_that_nvcc_refuses_too_comes_with_its_words_and_version(tmp_path: Path) -> None:
    found = said(tmp_path, BAD)
    assert found is not None
    assert 'claimed.cu(3): error: identifier "factor" is undefined' in found.log
    assert found.compiler.startswith("nvcc ")
    assert "torch" in found.compiler
    assert str(tmp_path) not in found.log


@needs_nvcc
def test_torchs_cuda_headers_are_read_where_torch_is_for_the_cpu(tmp_path: Path) -> None:
    found = said(tmp_path, f"#include <c10/cuda/CUDAMacros.h>\n{BAD}")
    assert found is not None
    assert 'claimed.cu(4): error: identifier "factor" is undefined' in found.log


@needs_nvcc
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("extern __constant__ float w[];\n" + KERNEL.format(factor="w[i]"), "Unresolved extern variable 'w'"),
        ("__global__ void big(int i) { volatile __shared__ char s[1 << 16]; s[i] = 1; }\n", "too much shared data"),
    ],
)
def test_what_the_assembler_alone_refuses_is_refused(text: str, words: str, tmp_path: Path) -> None:
    found = said(tmp_path, text)
    assert found is not None
    assert words in found.log


@needs_nvcc
@pytest.mark.parametrize(
    ("text", "passes"),
    [
        (BAD, 1),
        (f"{GOOD}int two = ;\n", 1),
        (f"{GOOD}void change(const int n) {{ n = 2; }}\n", 1),
        (f"#ifndef __CUDA_NO_HALF_OPERATORS__\n{BAD}#else\n{GOOD}#endif\n", 2),
        ("#include <cuda_fp16.h>\n__device__ __half operator+(const __half& a, const __half& b) { return a; }\n", 2),
    ],
    ids=["undefined", "unfinished", "read-only", "asks for the macros", "its own operator"],
)
def test_nvcc_is_asked_once_where_torchs_macros_cannot_make_a_difference(
    text: str, passes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    run = command.run

    def counted(words: Any, **more: Any) -> Any:
        calls.append(words)
        return run(words, **more)

    monkeypatch.setattr(command, "run", counted)
    refused = said(tmp_path, text) is not None
    assert refused is (passes == 1)
    assert sum("--version" not in words for words in calls) == passes


NEWER = """__global__ void later() { asm volatile("wgmma.fence.sync.aligned;\\n" ::: "memory"); }\n"""
WITHOUT_OPERATORS = """#include <cuda_fp16.h>
struct Half {
    __device__ operator float() const { return 0.0f; }
    __device__ operator __half() const { return __half(); }
};
__global__ void larger(const Half* a, bool* b) { *b = a[0] > a[1]; }
"""
WITH_OPERATORS = "#include <cuda_fp16.h>\n__global__ void sum(__half* a) { a[0] = a[0] + a[1]; }\n"
TAKEN = {
    "taken": GOOD,
    "a header missing here": f'#include "absent.h"\n{BAD}',
    "another target": NEWER,
    "taken as torch builds it": WITHOUT_OPERATORS,
    "taken as nvcc alone builds it": WITH_OPERATORS,
}


@needs_nvcc
@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN)
def test_what_nvcc_takes_or_cannot_judge_is_no_refusal(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, text) is None


def test_without_nvcc_and_without_one_text_to_ask_about_there_is_no_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said(tmp_path, "import torch\n", name="claimed.py") is None
    assert said(tmp_path, "def (:\n", name="claimed.py") is None
    monkeypatch.setattr(second_compiler, "cuda_home", lambda: None)
    assert said(tmp_path, BAD) is None


@pytest.mark.parametrize(
    ("log", "refused"),
    [
        ("claimed.cu(3): error: identifier is undefined", True),
        ("audited.so: undefined symbol: _Z7forward", True),
        ("error: the build had not ended after 600 s", False),
        ("error: the compiler was ended: it needed too much memory", False),
        ("claimed.cu:5: fatal error: secret: Permission denied", False),
        ("claimed.cu:1: fatal error: cutlass/cutlass.h: No such file or directory", False),
        ("error: built for sm_90, not for sm_75", False),
        (
            'error: no suitable conversion function from "const at::DeprecatedTypeProperties" to "c10::ScalarType"\n'
            '1 error detected in the compilation of "claimed.cu".',
            False,
        ),
        ("", False),
    ],
)
def test_the_words_of_torchs_builder_count_where_the_source_explains_them(log: str, refused: bool) -> None:
    found = second_compiler.of_torch(log)
    assert (found is not None) is refused
    assert found is None or found.log in log


def test_on_a_gpu_only_the_build_as_published_counts_and_only_of_the_claimed_kernel(tmp_path: Path) -> None:
    claim = claims.load("library_call").claim
    claimed, repair = claim.variant[:2]
    error = CompileError("claimed.cu(3): error: no", header_set=HEADER_SET)
    published = failed_note(claimed, "published", error, tmp_path)
    fast = failed_note(claimed, "fast", CompileError("claimed.cu(3): error: no", header_set="fast"), tmp_path)
    found = second_compiler.refusal_of(published, claimed, tmp_path, kind="cuda")
    assert found == second_compiler.Refusal("torch's extension builder", "claimed.cu(3): error: no")
    assert second_compiler.refusal_of(fast, claimed, tmp_path, kind="cuda") is None
    assert second_compiler.refusal_of(published, repair, tmp_path, kind="cuda") is None


@pytest.mark.parametrize("refuses", [True, False])
def test_only_the_second_compiler_makes_it_a_verdict(
    tmp_path: Path, refuses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = second_compiler.Refusal("nvcc 13.0.88", "claimed.cu(1): error: nonsense")
    monkeypatch.setattr(second_compiler, "of_nvcc", lambda _, **__: found if refuses else None)
    folder = Path(shutil.copytree(claims.KERNELS / "library_call", tmp_path / "library_call"))
    text = (folder / "claim.toml").read_text(encoding="utf-8")
    head, claimed, *_ = text.split("[[variant]]")
    (folder / "claim.toml").write_text(f"{head}[[variant]]{claimed}", encoding="utf-8")
    (folder / "claimed.cu").write_text("nonsense;\n", encoding="utf-8")
    assert cli.main(["run", str(folder), "--device", "emulated", "--out", str(tmp_path / "out")]) == 0
    verdict = store.read(tmp_path / "out" / "record.json").verdict
    assert verdict.name == ("cannot be built" if refuses else "undecided")
    assert any("nvcc 13.0.88 refuses it" in text for text in verdict.reasons) is refuses


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("", "Python's import refuses it: error: the source binds no function for Python"),
        ("int lanes() { return warpSize; }\n", "Python's import refuses it: error: host code uses warpSize: undefined"),
        ('const char* words = "one\ntwo";\n', 'every C++ compiler refuses it: error: line 19: missing terminating " '),
    ],
)
def test_what_the_text_alone_shows_cannot_be_built(own: str, said: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(claims.KERNELS / "library_call", tmp_path / "library_call"))
    text = (folder / "claim.toml").read_text(encoding="utf-8")
    head, claimed, *_ = text.split("[[variant]]")
    (folder / "claim.toml").write_text(f"{head}[[variant]]{claimed}", encoding="utf-8")
    published = (folder / "claimed.cu").read_text(encoding="utf-8")
    (folder / "claimed.cu").write_text(published + own if own else GOOD, encoding="utf-8")
    assert cli.main(["run", str(folder), "--device", "emulated", "--out", str(tmp_path / "out")]) == 0
    verdict = store.read(tmp_path / "out" / "record.json").verdict
    assert verdict.name == "cannot be built"
    assert said in verdict.reasons[0]
