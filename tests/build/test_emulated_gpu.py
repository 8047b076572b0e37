"""The GPU that the emulated device stands for: the one that the claim names."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.build.device import choose
from audit.build.emulated.device import capability_named
from audit.model import Claim, Variant
from audit.model.claim import Speedup
from audit.report.messages import Recorded
from audit.report.translation import worded

CLAIM = claims.load("triangular_mm").claim
SOURCE = """
#include <torch/extension.h>
__global__ void k(float* out) {
#if __CUDA_ARCH__ >= 900
  out[0] = 9;
#elif __CUDA_ARCH__ >= 800
  out[0] = 8;
#else
  out[0] = not_on_a_t4;
#endif
}
torch::Tensor forward(torch::Tensor x) { k<<<1, 1>>>(x.data_ptr<float>()); return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def naming(*gpus: str) -> Claim:
    return CLAIM.model_copy(update={"observation": (), "speedup": tuple(Speedup(gpu=one, ratio=2.0) for one in gpus)})


@pytest.mark.parametrize(
    ("gpus", "capability"),
    [((), 75), (("H100",), 90), (("H100", "A100"), 80), (("L4", "B200"), 89), (("a GPU of no table",), 75)],
)
def test_the_oldest_known_gpu_counts(gpus: tuple[str, ...], capability: int) -> None:
    assert capability_named(naming(*gpus)) == capability


def test_a_source_is_read_for_that_gpu_and_the_report_says_so(tmp_path: Path) -> None:
    (tmp_path / "claimed.cu").write_text(SOURCE, encoding="utf-8")
    variant = Variant(file="claimed.cu", role="claimed", technique="t")
    device = choose("emulated", naming("A100"))
    built = device.build(tmp_path / "claimed.cu", variant, optimisation="O2")
    assert "__CUDA_ARCH__=800" in built.note.flags
    stated = variant.model_copy(update={"compute_capability": 90})
    newer = device.build(tmp_path / "claimed.cu", Variant.model_validate(stated.model_dump()), optimisation="O2")
    assert "__CUDA_ARCH__=900" in newer.note.flags
    about = device.describe()
    assert about.compute_capability == 80
    assert "the launch rules of compute capability 8.0" in about.note
    assert worded(Recorded(about.note), "ja").startswith("無変更のソースを、compute capability 8.0 の起動規則")
