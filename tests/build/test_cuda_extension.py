"""Flags, cache keys, the builder's child process and what it leaves; a compiler is not needed."""

from dataclasses import replace
from pathlib import Path

import pytest

from audit.build.cache import SEAL
from audit.build.cuda import compile, extension, gpu
from audit.build.cuda.extension import copied
from audit.build.cuda.toolchain import CudaToolchain, ninja_folder
from audit.model.errors import BadInput, CompileError

H100 = gpu.Gpu("NVIDIA H100", 90, "580", 81559, (13, 0))
T4 = gpu.Gpu("Tesla T4", 75, "580", 15360, (13, 0))
TOOLS = CudaToolchain(Path("/nowhere"), "nvcc 13.0.88", "2.11.0", (13, 0), ninja_folder())
CHILD = """
import json, pathlib, sys, time
request = json.loads(sys.argv[1])
{work}
"""


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))


def test_published_flags_pass_as_written() -> None:
    flags = ("-O3", "--use_fast_math", "-std=c++17", "-Xptxas=-v", "--maxrregcount=64", "-DN=4")
    assert compile.checked_flags(flags) == flags


@pytest.mark.parametrize(
    "flag",
    [
        "-arch=sm_80",
        "-gencode=arch=compute_75,code=sm_75",
        "-code=sm_80",
        "--gpu-code=sm_80",
    ],
)
def test_a_flag_that_would_change_the_target_is_refused(flag: str) -> None:
    with pytest.raises(BadInput, match=r"protocol\.flags: .*target"):
        compile.checked_flags(("-O3", flag))


@pytest.mark.parametrize("flag", ["-isystem=/usr/include", "-O3; touch x", '-DNAME="a"', "$(id)", "O3", ""])
def test_a_flag_with_a_path_or_for_a_shell_is_refused(flag: str) -> None:
    with pytest.raises(BadInput, match=r"protocol\.flags"):
        compile.checked_flags((flag,))


@pytest.fixture
def tools(tmp_path: Path) -> CudaToolchain:
    """A toolkit whose nvcc lists dependencies as g++ finds them."""
    nvcc = tmp_path / "toolkit/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    folders, read = 'exec g++ -E -v -x c++ "$last"', 'exec g++ -M -MF "$3" $places -x c++ "$last"'
    named = 'case "$last" in -I*) places="$places $last" ;; esac'
    nvcc.write_text(f'#!/bin/sh\nfor last; do {named}; done\n[ "$1" = -E ] && {folders}\n{read}\n')
    nvcc.chmod(0o755)
    return replace(TOOLS, cuda_home=tmp_path / "toolkit")


def key(source: Path, tools: CudaToolchain, *flags: str, card: gpu.Gpu = H100) -> str:
    own = copied(source, flags, arch=card.arch, toolchain=tools)
    return extension.build_key(own, flags, gpu=card, toolchain=tools)


def test_folders_of_the_claim_are_searched_and_the_copy_has_what_was_read(tmp_path: Path, tools: CudaToolchain) -> None:
    source = tmp_path / "claim/claimed.cu"
    for folder in ("research", "other"):
        (source.parent / folder).mkdir(parents=True)
        (source.parent / folder / "tiles.cuh").write_text(f"// {folder}\n")
    source.write_text("#include <tiles.cuh>\n")
    own = [copied(source, flags, arch="9.0", toolchain=tools) for flags in (("-Iresearch",), ("-Iother", "-Iresearch"))]
    assert [[one.file for one in each.reads] for each in own] == [
        ["claimed.cu", "research/tiles.cuh"],
        ["claimed.cu", "other/tiles.cuh"],
    ]
    assert key(source, tools, "-Iother") != key(source, tools, "-Iresearch")


def test_the_builder_gets_the_folders_of_the_copy_and_the_other_flags_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tools: CudaToolchain
) -> None:
    source = tmp_path / "claim/k.cu"
    (source.parent / "research").mkdir(parents=True)
    (source.parent / "research/tiles.cuh").write_text("// tiles\n")
    source.write_text("#include <tiles.cuh>\n")
    work = "here = [pathlib.Path(one, 'tiles.cuh').read_text() for one in request['includes']]; "
    fake_builder(monkeypatch, tmp_path, work + "print('error:', request['flags'], here); sys.exit(1)")
    with pytest.raises(CompileError) as caught:
        extension.build(source, ("-O3", "-Iresearch"), gpu=H100, toolchain=tools)
    assert caught.value.log == "error: ['-O3'] ['// tiles\\n']"


def test_the_key_changes_with_all_a_build_depends_on(tmp_path: Path, tools: CudaToolchain) -> None:
    source, header = tmp_path / "claim/claimed.cu", tmp_path / "claim/tiles.cuh"
    source.parent.mkdir()
    source.write_text('#define TILES "tiles.cuh"\n#include TILES\n')
    header.write_text("#define TILE 16\n")
    first = key(source, tools, "-O3")
    assert first == key(source, tools, "-O3")
    assert len({first, key(source, tools), key(source, tools, "-O2"), key(source, tools, "-O3", card=T4)}) == 4
    header.write_text("#define TILE 32\n")
    second = key(source, tools, "-O3")
    source.write_text('#include "tiles.cuh"\n')
    assert len({first, second, key(source, tools, "-O3")}) == 3
    (source.parent / "notes.md").touch()
    source.write_text('#define TILES "tiles.cuh"\n#include TILES\n')
    assert key(source, tools, "-O3") == second


def test_a_build_sees_what_the_compiler_named_and_nothing_else(tmp_path: Path, tools: CudaToolchain) -> None:
    source = tmp_path / "claim/claimed.cu"
    (source.parent / "below").mkdir(parents=True)
    source.write_text('#include "below/tiles.cuh"\n#include <cstdio>\n')
    for name in ("below/tiles.cuh", "other.cuh"):
        (source.parent / name).write_text("#define TILE 16\n")
    own = copied(source, (), arch="9.0", toolchain=tools)
    there = {path.relative_to(own.source.parent).as_posix() for path in own.source.parent.rglob("*.cu*")}
    assert {one.file for one in own.reads} == there == {"claimed.cu", "below/tiles.cuh"}
    source.write_text('#include "absent.h"\n')
    with pytest.raises(CompileError, match=r"absent\.h: No such file"):
        copied(source, (), arch="9.0", toolchain=tools)


def fake_builder(monkeypatch: pytest.MonkeyPatch, folder: Path, work: str) -> None:
    """A Python that runs `work` instead of torch's builder."""
    script = folder / "child.py"
    script.write_text(CHILD.format(work=work))
    python = folder / "bin/python"  # what lies beside a program's folder can be read by it
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nshift 2\nexec "{compile.PYTHON}" {script} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(compile, "PYTHON", str(python))


WRITES = "pathlib.Path(request['folder'], request['name'] + '.so').write_text('x')"


def test_a_build_is_made_once_and_leaves_only_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tools: CudaToolchain
) -> None:
    source = tmp_path / "k.cu"
    source.write_text("// a kernel\n")
    fake_builder(monkeypatch, tmp_path, WRITES)
    first = extension.build(source, ("-O3",), gpu=H100, toolchain=tools)
    again = extension.build(source, ("-O3",), gpu=H100, toolchain=tools)
    assert (first.from_cache, again.from_cache, first.library) == (False, True, again.library)
    assert {path.name for path in first.library.parent.iterdir()} == {f"{first.module}.so", "built.json", SEAL}
    assert first.flags == ("-O3", "TORCH_CUDA_ARCH_LIST=9.0a")
    assert first.module.isidentifier()


def test_the_child_is_told_the_one_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "7.0;8.0+PTX")
    result = compile.environment("9.0", TOOLS)
    assert result["TORCH_CUDA_ARCH_LIST"] == "9.0"
    assert result["PATH"].startswith(str(TOOLS.ninja))


def test_what_the_compiler_says_is_the_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tools: CudaToolchain
) -> None:
    source = tmp_path / "k.cu"
    source.write_text("x")
    fake_builder(monkeypatch, tmp_path, "print('/a/b/k.cu(3): error: identifier \"y\" is undefined'); sys.exit(1)")
    with pytest.raises(CompileError) as caught:
        extension.build(source, (), gpu=H100, toolchain=tools)
    assert caught.value.log == 'k.cu(3): error: identifier "y" is undefined'
    assert caught.value.header_set == "published"
    assert not [path for path in (tmp_path / "cache" / "cuda").iterdir() if path.is_dir()]


def test_a_build_that_does_not_end_is_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tools: CudaToolchain
) -> None:
    source = tmp_path / "k.cu"
    source.write_text("x")
    copied(source, (), arch=H100.arch, toolchain=tools)
    monkeypatch.setattr(compile, "BUILD_LIMIT_S", 0.5)
    fake_builder(monkeypatch, tmp_path, "time.sleep(60)")
    with pytest.raises(CompileError, match=r"had not ended after 0\.5 s"):
        extension.build(source, (), gpu=H100, toolchain=tools)


def test_a_log_keeps_the_compilers_words_only() -> None:
    log = (
        "Error building extension 'audited_1': [1/2] /usr/local/cuda/bin/nvcc -O3 -c /srv/k.cu -o k.o\n"
        "FAILED: [code=2] k.cuda.o\n/usr/local/cuda/bin/nvcc -O3 -c /srv/k.cu -o k.o\n"
        '/srv/kernels/k.cu(4): error: identifier "y" is undefined\n\n'
        '1 error detected in the compilation of "/srv/kernels/k.cu".\nninja: build stopped: subcommand failed.\n'
    )
    words = compile.compiler_words(log)
    assert words.splitlines()[0] == 'k.cu(4): error: identifier "y" is undefined'
    assert "/work" not in words
    assert compile.compiler_words("ninja: fatal: disk full") == "ninja: fatal: disk full"


def test_the_target_of_a_library_is_checked() -> None:
    listing = "ELF file    1: audited.1.sm_90.cubin\nELF file    2: audited.2.sm_90a.cubin\n"
    assert extension.target_note(listing, 90) == ""
    assert "no device code" in extension.target_note("", 90)
    with pytest.raises(CompileError, match="built for sm_90, not for sm_75"):
        extension.target_note(listing, 75)
