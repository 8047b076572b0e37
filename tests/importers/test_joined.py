"""Sources and headers of one kernel as one text, and an audit of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.apps import cli
from audit.claims import importers
from audit.claims.importers import bare_cu, joined
from audit.claims.importers.facts import Given
from audit.claims.importers.material import Material
from audit.model import store
from audit.model.errors import BadInput
from tests.importers import published

HEADER = "#pragma once\ntemplate <typename T> __device__ T twice(T x) { return x + x; }\n"
KERNEL = """#include <torch/extension.h>
#include "inside/twice.cuh"
#include "inside/twice.cuh"
__global__ void doubled(const float* x, float* y, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = twice(x[i]);
}
torch::Tensor doubled_cuda(torch::Tensor x) {
    auto y = torch::empty_like(x);
    doubled<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
BINDING = """#include <torch/extension.h>
torch::Tensor doubled_cuda(torch::Tensor x);
torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_contiguous(), "a contiguous tensor is needed");
    return doubled_cuda(x);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run, "twice x"); }
"""
REFERENCE = (
    "import torch\nN = 500\ndef reference(x):\n    return 2 * x\ndef get_inputs():\n    return [torch.randn(N)]\n"
)


def written(folder: Path, **files: str) -> Path:
    source = published.write(folder / "source", **files)
    (source / "inside").mkdir()
    (source / "inside" / "twice.cuh").write_text(HEADER, encoding="utf-8")
    return source


def test_a_kernel_in_three_files_is_audited_as_one(tmp_path: Path) -> None:
    source = written(tmp_path, binding__cpp=BINDING, doubled__cu=KERNEL, reference__py=REFERENCE)
    arguments = ["check", str(source), "--tolerance", "1e-6", "--device", "emulated", "--out", str(tmp_path / "out")]
    assert cli.main(arguments) == 0
    record = store.read(tmp_path / "out" / "results" / "record.json")
    assert record.verdict.name == "no defect found"
    kept = {one.file for one in record.claim.sources}
    assert kept >= {"original/doubled.cu", "original/binding.cpp", "original/inside_twice.cuh"}


def test_every_file_is_in_the_joined_one_once_and_in_its_place(tmp_path: Path) -> None:
    source = written(tmp_path, binding__cpp=BINDING, doubled__cu=KERNEL, reference__py=REFERENCE)
    claimed = importers.read([source]).claimed
    assert claimed is not None
    text = claimed.data.decode()
    assert claimed.entry == "run"
    assert claimed.added == joined.ADDED
    assert [text.count(each) for each in ("T twice(T x)", "void doubled(", "PYBIND11_MODULE(")] == [1, 1, 1]
    assert text.index("T twice") < text.index("void doubled(") < text.index("PYBIND11_MODULE(")


def test_a_header_that_is_not_included_changes_nothing(tmp_path: Path) -> None:
    source = written(tmp_path, k__cu=published.CU, reference__py=REFERENCE)
    claimed = importers.read([source]).claimed
    assert claimed is not None
    assert claimed.data == published.CU.encode()
    assert claimed.added == ""


def test_guards_decide_and_a_header_without_one_comes_again() -> None:
    guarded = '#ifndef A_H\n#define A_H\n#include "b.h"\nint a;\n#endif'
    kernel = '#include "a.h"\n#include "c.h"\n#include "c.h"\n'
    text = joined.joined({"k.cu": kernel, "a.h": guarded, "b.h": '#include "a.h"\nint b;', "c.h": "F(1)"})
    assert text.count("int a;") == 1
    assert text.count("F(1)") == 2


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"k.cu": '#include "a.h"', "a.h": '#include "a.h"'}, "a.h: includes itself in line 1, without a guard"),
        (
            {"k.cu": '#include "a.h"', "a.h": 'int a;\n#include "b.h"', "b.h": '\n\n#include "a.h"'},
            "a.h: includes itself in line 2, by way of b.h in line 3, without a guard",
        ),
        ({"k.cu": '#include "a.h"\n' * 5, "a.h": "x" * (1 << 20)}, "at most 4,194,304"),
    ],
)
def test_a_file_that_includes_itself_is_refused(files: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        joined.joined(files)
    assert message in str(refused.value)


def test_an_include_of_nothing_that_is_there_stays() -> None:
    text = joined.joined({"k.cu": '#include "cuda_fp16.h"\nint x;'})
    assert [line for line in text.splitlines() if line] == [
        '#include "cuda_fp16.h"  // k.cu, line 1',
        "// k.cu",
        "int x;",
    ]


def test_two_kernels_that_each_bind_functions_are_not_chosen_between(tmp_path: Path) -> None:
    source = written(tmp_path, a__cu=published.CU, b__cu=published.CU)
    with pytest.raises(BadInput, match=r"2 of \(a.cu, b.cu\) .cu file"):
        bare_cu.read(Material([source]), Given())


def test_the_files_of_a_solution_are_joined(tmp_path: Path) -> None:
    (first,) = published.SOLUTION_JSON["sources"]
    sources = [
        first | {"content": f'#include "more.cuh"\n{first["content"]}'},
        {"path": "src/more.cuh", "content": "struct More {};"},
    ]
    files = published.FORMATS["flashinfer_bench"] | {"solution__json": published.SOLUTION_JSON | {"sources": sources}}
    found = importers.read([published.write(tmp_path / "source", **files)])
    assert not [one for one in found.missing if one.essential]
    assert found.claimed is not None
    assert "struct More {};" in found.claimed.data.decode()
    assert joined.ADDED in found.claimed.added


def test_headers_of_libraries_stand_first_but_for_those_in_conditions() -> None:
    guarded = "#ifndef A_H\n#define A_H\n#include <vector>\n#endif\n"
    binding = '#include "a.h"\n#include <vector>\n#if defined(X)\n#include <x.h>\n#endif\nint y;\n'
    text = joined.joined({"k.cu": "#include <cuda.h>\nint x;\n", "b.cpp": binding, "a.h": guarded})
    lines = [line for line in text.splitlines() if line and not line.startswith("//")]
    assert lines[:3] == ["#include <cuda.h>", "#include <vector>", "int x;"]
    assert lines[-4:] == ["#if defined(X)", "#include <x.h>", "#endif", "int y;"]
    assert text.count("#include <vector>") == 1


def test_helpers_that_two_sources_have_alike_stand_once() -> None:
    alike = "constexpr int W = 32;\ntemplate <int N = W>\n__device__ int f(int x) {\n  return x + N;\n}\n"
    inner = "namespace n {\nint f(int x) { return x; }\n}\n"
    other = "namespace m {\nint f(int x) { return x; }\n}\n"
    second_text = "\ufeff" + alike.replace("  return", " return") + inner + other
    text = joined.joined({"a.cu": alike + inner, "b.cu": second_text})
    first, second = text.split("// b.cu")
    assert alike + inner in first
    assert second.count("\n") == second_text.count("\n") + 1
    assert second.split() == ["namespace", "n", "{", "}", *other.split()]
    other = joined.joined({"a.cu": alike, "b.cu": alike.replace("x + N", "x - N")})
    assert "#define f f_1\n// b.cu" in other and other.rstrip().endswith("#undef f")
    assert other.count("int f(int x)") == 2 and other.count("W = 32") == 1
    assert "#define" not in joined.joined({"a.cu": "void f() {}\n", "b.cu": "void f(int) {}\n"})


def test_types_of_a_header_without_a_guard_stand_once() -> None:
    header = (
        "struct params { int n; struct { float x; } inner; };\n"
        "typedef struct { float x, y; } pair;\nenum class mode { a, b };\n"
        "template <class T>\nstruct held {\n  T x;\n  T twice() { return 2 * x; }\n};\n"
    )
    later = "namespace n {\nstruct params { int n; };\n}\nstruct other { int n; };\n"
    source = '#include "k.h"\n'
    text = joined.joined({"k.h": header, "a.cu": source, "b.cpp": source + later})
    first, _, second = text.partition("// b.cpp\n")
    assert header in first
    assert second.replace("// k.h", "").replace("// b.cpp, line 2", "").strip() == later.strip()
    other = joined.joined({"a.cu": "struct params { int n; };\n", "b.cpp": "struct params { long n; };\n"})
    assert other.count("struct params {") == 2


def test_an_include_folder_of_its_own_may_be_named_in_angle_brackets() -> None:
    files = {
        "csrc/a.cu": "#include <cuda_runtime.h>\n#include <mine/twice.cuh>\nint a;\n",
        "include/mine/twice.cuh": HEADER,
    }
    text = joined.joined(files)
    assert text.startswith("#include <cuda_runtime.h>\n")
    assert "T twice(T x)" in text and "<mine/twice.cuh>" not in text
    assert joined.used(files, "csrc/a.cu") == {"include/mine/twice.cuh"}


def test_an_include_folder_that_is_named_comes_first_and_needs_a_given_file(tmp_path: Path) -> None:
    kernel = KERNEL.replace("inside/twice", "twice") + BINDING.replace(
        "torch::Tensor doubled_cuda(torch::Tensor x);", ""
    )
    source = written(tmp_path, doubled__cu=kernel, reference__py=REFERENCE)
    (source / "other").mkdir()
    (source / "other" / "twice.cuh").write_text(HEADER.replace("x + x", "3 * x"), encoding="utf-8")
    given = Given(tolerance=1e-6, flags=("-Iother", "-Iinside", "-DTILE=4"))
    found = importers.read([source], given=given)
    assert found.claimed is not None
    assert "3 * x" in found.claimed.data.decode() and "x + x" not in found.claimed.data.decode()
    assert found.flags == ("-DTILE=4",)
    assert "protocol.flags: -Iother -Iinside -DTILE=4, given by the user when it was imported" in found.choices
    with pytest.raises(BadInput, match=r"--flags -Iabsent: no file of .* is in that folder"):
        importers.read([source], given=Given(flags=("-Iabsent",)))


def test_flags_of_a_python_kernel_are_its_own(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"--flags -DX: .* is Python and passes its own flags"):
        importers.read(
            [published.write(tmp_path / "k", **published.FORMATS["plain_python"])], given=Given(flags=("-DX",))
        )


def test_a_header_that_was_named_without_its_folder_is_found() -> None:
    files = {"a.cu": '#include "../cuda/sums.h"\n#include <ATen/sums.h>\n', "sums.h": "int sums;\n"}
    lines = ["#include <ATen/sums.h>", "// a.cu", "// sums.h", "int sums;", "// a.cu, line 2", ""]
    assert joined.joined(files).splitlines() == lines


def test_a_header_that_two_folders_have_is_refused_where_quotes_ask_for_it() -> None:
    headers = {"one/twice.cuh": HEADER, "two/twice.cuh": HEADER}
    with pytest.raises(BadInput, match=r"a\.cu: includes twice\.cuh, and 2 files end so \(one/twice\.cuh, two/twice"):
        joined.joined({"a.cu": '#include "twice.cuh"\n', **headers})
    assert "#include <twice.cuh>" in joined.joined({"a.cu": "#include <twice.cuh>\n", **headers})


def test_what_was_not_found_and_what_was_left_out_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = '#include "lost.h"\n#include "cuda_runtime.h"\n' + published.CU
    files = {"scaled__cu": kernel, "unused__cuh": "int one();\n", "reference__py": published.REFERENCE}
    source = published.write(tmp_path / "alone", **files, other__py="x = 1\n")
    assert cli.main(["import", str(source), "--to", str(tmp_path / "claim")]) == 0
    said = capsys.readouterr().out
    assert '  not found: #include "lost.h" (line 1)\n' in said and "cuda_runtime.h" not in said
    assert "  left out: other.py, unused.cuh\n" in said
    several = published.write(
        tmp_path / "several", **files, other__py="x = 1\n", bind__cpp='#include "unused.cuh"\n// PYBIND11_MODULE(\n'
    )
    assert cli.main(["import", str(several), "--to", str(tmp_path / "claim_2")]) == 0
    said = capsys.readouterr().out
    assert 'not found: #include "lost.h" (scaled.cu, line 1)\n' in said and "left out: other.py\n" in said
