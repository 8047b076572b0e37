"""Whose kernels ran, for sources written in Python."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from audit.errors import Unsupported
from audit.model import Finding
from audit.probes import kernels_ran
from audit.probes.called import Call
from audit.probes.target import Target

TRITON = "import triton\n@triton.jit\ndef scale(x): ...\n"
INLINE = (
    "from torch.utils.cpp_extension import load_inline\nload_inline('m', '', '__global__ void twice(float* x) {}')\n"
)
FAILED = {"kind": "interpreter-failed", "kernel": "scale", "message": "raised ValueError: no", "line": 7}


def asked(folder: Path, source: str, *kernels: str, **event: Any) -> Finding:
    (folder / "claimed.py").write_text(source)
    launches = [{"kernel": kernel, "grid": [1], "block": [], "refused": None} for kernel in kernels]
    call = Call({"returned": "Tensor", "launches": launches, **event}, folder / "0.bin")
    target = SimpleNamespace(
        largest=SimpleNamespace(label="N=8", shape={"N": 8}),
        built=SimpleNamespace(traced_memory="plain"),
        reference=folder / "reference.py",
        variant=SimpleNamespace(file="claimed.py", name="claimed"),
        session=lambda runs, *, cases, memory: [call],  # noqa: ARG005
    )
    return kernels_ran.run(cast(Target, target))


@pytest.mark.parametrize(("source", "kernel"), [(TRITON, "scale"), (INLINE, "twice")])
def test_a_kernel_of_the_source_passes_and_its_absence_convicts(tmp_path: Path, source: str, kernel: str) -> None:
    assert asked(tmp_path, source, kernel, "other").outcome == "pass"
    found = asked(tmp_path, source, "other")
    assert found.convicts
    assert f"none of the source's kernels ran ({kernel})" in found.summary


def test_a_source_without_kernels_is_a_hint(tmp_path: Path) -> None:
    found = asked(tmp_path, "def forward(x): return x * 2\n")
    assert (found.outcome, found.grade) == ("fail", "hint")
    assert "no kernel of its own; a library did the work" in found.summary


def test_what_the_interpreter_could_not_run_accuses_nobody(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"scale: raised ValueError: no \(line 7\)"):
        asked(tmp_path, TRITON, reports=[FAILED])
