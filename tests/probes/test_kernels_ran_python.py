"""Whose kernels ran, for sources written in Python."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from audit.build.settings import EmulatedPythonSettings
from audit.model import Finding
from audit.model.errors import Unsupported
from audit.probes import kernels_ran
from audit.probes.concluding.answer import ask
from audit.probes.observing.called import Call
from audit.probes.observing.target import Target

TRITON = "import triton\n@triton.jit\ndef scale(x): ...\n"
INLINE = (
    "from torch.utils.cpp_extension import load_inline\nload_inline('m', '', '__global__ void twice(float* x) {}')\n"
)
INTERPRETED = EmulatedPythonSettings.model_construct(triton=True)
FAILED = {"kind": "interpreter-failed", "kernel": "scale", "message": "raised ValueError: no", "line": 7}


class Apart:
    """A device that does not run host code apart from its kernels."""

    @staticmethod
    def call(*_: Any, **__: Any) -> None:
        raise Unsupported("host code apart")


def asked(folder: Path, source: str, *kernels: str, claimed: int = 8, counts: bool = True, **event: Any) -> Finding:
    (folder / "claimed.py").write_text(source)
    launches = [{"kernel": kernel, "grid": [1], "block": [], "refused": None} for kernel in kernels]
    call = Call({"returned": "Tensor", "launches": launches, **event}, folder / "0.bin")
    target = SimpleNamespace(
        largest=SimpleNamespace(label="N=8", shape={"N": 8}, counts=True, launches=None),
        cases=(SimpleNamespace(label="N=8", shape={"N": 8}, counts=counts, launches=None),),
        is_reference=False,
        built=SimpleNamespace(
            traced_memory="plain",
            tensor_device="cpu",
            checks_accesses=False,
            defines=lambda _: False,
            note=SimpleNamespace(optimisation="O2"),
            settings=lambda **_: INTERPRETED,
        ),
        references=Apart(),
        folder=folder,
        workers=SimpleNamespace(call=Apart.call),
        claim=SimpleNamespace(shapes=SimpleNamespace(claimed={"N": claimed}, others=[], module=()), speedup=[]),
        reference=folder / "reference.py",
        variant=SimpleNamespace(file="claimed.py", name="claimed"),
        call=lambda case, mode: call,  # noqa: ARG005
    )
    return ask(kernels_ran, cast(Target, target))


@pytest.mark.parametrize(("source", "kernel"), [(TRITON, "scale"), (INLINE, "twice")])
def test_a_kernel_of_the_source_passes_and_its_absence_fails(tmp_path: Path, source: str, kernel: str) -> None:
    assert asked(tmp_path, source, kernel, "other").outcome == "pass"
    found = asked(tmp_path, source, "other")
    assert found.fails_kernel
    assert f"none of the source's kernels ran ({kernel})" in found.summary


def test_a_source_without_kernels_is_a_hint(tmp_path: Path) -> None:
    found = asked(tmp_path, "def forward(x): return x * 2\n")
    assert (found.outcome, found.grade) == ("fail", "hint")
    assert "no kernel of its own; a library did the work" in found.summary


def test_what_the_interpreter_could_not_run_fails_no_kernel(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"scale: raised ValueError: no \(line 7\)"):
        asked(tmp_path, TRITON, reports=[FAILED])


@pytest.mark.parametrize(("test", "grade"), [("x.numel() < 4096", "hint"), ("x.dim() == 2", "proved")])
def test_a_smaller_shape_proves_nothing_where_sizes_are_compared(tmp_path: Path, test: str, grade: str) -> None:
    source = f"{TRITON}def forward(x): return x * 2 if {test} else scale[(1,)](x)\n"
    assert asked(tmp_path, source, "other", claimed=4096).grade == grade
    assert asked(tmp_path, source, "other").grade == "proved"


REFUSED = (
    "from torch.utils.cpp_extension import load_inline\n"
    "def build():\n"
    "    text = '__global__ void twice(float* x) {{}}'\n"
    "    return load_inline('m', {cpp}, text, functions=['twice'])\n"
    "def forward(x): return x * 2 if x.numel() < 4096 else build().twice(x)\n"
)


def test_what_torch_cannot_build_runs_at_no_size(tmp_path: Path) -> None:
    found = asked(tmp_path, REFUSED.format(cpp="''"), claimed=4096, counts=False)
    assert (found.grade, found.claimed) == ("proved", True)
    assert "torch cannot build this extension: its cpp_sources declare no twice" in found.summary
    declared = asked(tmp_path, REFUSED.format(cpp="'void twice();'"), claimed=4096, counts=False)
    assert (declared.grade, declared.claimed) == ("hint", False)
    unknown = REFUSED.format(cpp="''").replace("'__global__ void twice(float* x) {}'", "open('k').read()")
    assert asked(tmp_path, TRITON + unknown, claimed=4096, counts=False).grade == "hint"
    both = f"{TRITON}{REFUSED.format(cpp=repr(''))}"
    assert not asked(tmp_path, both, claimed=4096, counts=False).claimed
