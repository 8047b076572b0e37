"""Small collections to screen, and stages that answer as a test says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from audit.apps.batch.command import NOTEBOOK
from audit.apps.batch.items import Collection, Item, Reader
from audit.apps.batch.screening import Asked, Screen
from audit.apps.batch.state import Attempt, Outcome, StageName

CLAIM = """name = "{name}"
title = "a test"
task = "y = 2x"
dtype = "float32"
baseline = "x * 2"
source = {{ title = "t", authors = "a", published = "2026", url = "u", fidelity = "verbatim", note = "n" }}
protocol = {{ steps = ["none"] }}
tolerance = {{ relative = 1e-5, reason = "one multiplication" }}
shapes = {{ claimed = {{ N = 1000 }}, others = [], emulated = [{{ N = 33 }}, {{ N = 700 }}] }}
{more}
[[variant]]
file = "claimed.cu"
role = "{role}"
technique = "t"
"""
OBSERVED = 'observation = [{ gpu = "T4", kernel_ms = 1e-9, baseline_ms = 1.0 }]\n'
CLAIMED_FOR = 'speedup = [{ gpu = "T4", ratio = 2.0 }]\n'
REFERENCE = """import torch
def inputs(shape, generator): return [torch.randn(shape["N"], generator=generator)]
def reference(x): return 2 * x
def oracle(x): return 2 * x.double()
def cost(shape): return {"flops": 1.0 * shape["N"], "bytes": 8.0 * shape["N"]}
"""
KERNEL = """#include <torch/extension.h>
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
UNDERLAUNCHED = KERNEL.replace("(n + 255) / 256, 256", "1, 256")


def claim(root: Path, name: str, *, source: str = KERNEL, more: str = "", role: str = "claimed") -> Path:
    """A claim folder."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "claim.toml").write_text(CLAIM.format(name=name, more=more, role=role), encoding="utf-8")
    (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
    (folder / "claimed.cu").write_text(source, encoding="utf-8")
    return folder


def collection(place: Path, **given: str) -> Collection:
    """A collection as `--screen` reads it; folders for rows are made beside it."""
    return Reader(NOTEBOOK, {}, place.parent / "made", **given).read([str(place)])


def items(*names: str) -> Collection:
    """Items without folders, for stages that look at none."""
    return Collection("made", tuple(Item(name, Path(name), f"{name}-files") for name in names))


class Answering:
    """A stage that settles items as told, passes on the others, and keeps whom it was asked about."""

    def __init__(self, name: StageName, settled: Mapping[str, str], *, hints: Mapping[str, int] | None = None) -> None:
        self.asked: list[str] = []
        self.stage = Screen(name, self._ask)
        self._settled, self._hints = settled, hints or {}

    def _ask(self, asked: Asked) -> Attempt:
        name = asked.item.name
        self.asked.append(name)
        verdict = self._settled.get(name, "")
        outcome: Outcome = "settled" if verdict else "passed on"
        hints = self._hints.get(name, 0)
        return Attempt(stage=self.stage.name, outcome=outcome, verdict=verdict, reasons=("r",), hints=hints)
