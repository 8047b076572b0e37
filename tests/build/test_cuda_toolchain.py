"""A toolchain whose parts do not go together is refused before anything is compiled."""

from pathlib import Path
from typing import Any

import pytest

from audit import claims
from audit.build.cuda import gpu, toolchain
from audit.build.device import choose
from audit.model.errors import BadInput

H100 = gpu.Gpu("NVIDIA H100", 90, "580.159.04", 81559, (13, 0))
CLAIM = claims.load("triangular_mm").claim
NVCC = "Cuda compilation tools, release {release}, V{release}.88"


def a_machine(monkeypatch: pytest.MonkeyPatch, folder: Path, *, torch_cuda: Any, release: str | None) -> None:
    """A machine with that torch and an nvcc of that release."""
    monkeypatch.setattr(toolchain, "torch_release", lambda: ("2.11.0", torch_cuda))
    if release is not None:
        nvcc = folder / "bin" / "nvcc"
        nvcc.parent.mkdir()
        nvcc.write_text(f"#!/bin/sh\necho '{NVCC.format(release=release)}'\n")
        nvcc.chmod(0o755)
    monkeypatch.setattr(toolchain, "cuda_home", lambda: folder if release else None)


def test_parts_that_go_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    a_machine(monkeypatch, tmp_path, torch_cuda=(13, 2), release="13.0")
    found = toolchain.find(H100)
    assert (found.nvcc, found.torch_cuda) == ("nvcc 13.0.88", (13, 2))
    assert (found.ninja / "ninja").exists()


@pytest.mark.parametrize(
    ("torch_cuda", "release", "words"),
    [
        (None, "13.0", "built without CUDA"),
        ((14, 0), "14.0", "update the driver"),
        ((13, 0), None, "nvcc is missing"),
        ((13, 0), "12.8", "nvcc is of CUDA 12.8 and torch 2.11.0 of 13.0"),
    ],
)
def test_what_is_missing_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, torch_cuda: Any, release: str | None, words: str
) -> None:
    a_machine(monkeypatch, tmp_path, torch_cuda=torch_cuda, release=release)
    with pytest.raises(BadInput, match=words):
        toolchain.find(H100)


def test_an_nvcc_that_tells_no_version_is_refused() -> None:
    assert toolchain.parse_nvcc(NVCC.format(release="12.8")) == ((12, 8), "12.8.88")
    with pytest.raises(BadInput, match="does not tell its version"):
        toolchain.parse_nvcc("Segmentation fault")


def test_torchs_own_cuda_is_read_without_importing_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "version.py").write_text("__version__ = '2.11.0'\ncuda: Optional[str] = '12.8'\nhip = None\n")
    spec = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    monkeypatch.setattr("importlib.util.find_spec", lambda _: spec)
    assert toolchain.torch_release()[1] == (12, 8)


def test_auto_falls_back_and_cuda_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert choose("auto", CLAIM).describe().kind == "emulated"
    with pytest.raises(BadInput, match="no NVIDIA driver here"):
        choose("cuda", CLAIM)


def test_an_unknown_device_lists_the_known_ones() -> None:
    with pytest.raises(BadInput, match="unknown; known: auto, cuda, emulated"):
        choose("rocm", CLAIM)
