"""What the emulated device cannot show is skipped there, never passed; what it does show still fails."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from audit.build.settings import Configuration, EmulatedPythonSettings
from audit.model import Tolerance
from audit.model.errors import Unsupported
from audit.probes import current_stream, late_writes, precision
from audit.probes.observing.called import Call
from audit.probes.observing.cases import Case
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target

RIGHT = np.linspace(1.0, 2.0, 64)
CASE = Case({"N": 64}, Path("0.inputs.pt"), RIGHT, "float32")
BITS = {"fp32": 23.0, "tf32": 11.0, "fp16": 11.0, "bf16": 8.0}
KERNEL = "__global__ void k(float* x) { x[0] = 1; }\n"
LIBRARY = f"{KERNEL}void with_library(float* x) {{ cublasSetMathMode(h, CUBLAS_TENSOR_OP_MATH); }}\n"
TRITON = "import triton\nimport triton.language as tl\n@triton.jit\ndef k(a, b):\n    c = tl.dot(a, b)\n"


class Answer(Call):
    """A call that returned these numbers."""

    def values(self) -> Any:
        return np.asarray(self.event["value"], dtype=np.float32)


def target(
    folder: Path,
    source: str,
    *,
    device: str = "cpu",
    is_reference: bool = False,
    declared: str = "fp32",
    capability: int = 75,
) -> Target:
    configuration = Configuration.model_construct(compute_capability=capability)
    settings = EmulatedPythonSettings.model_construct(configuration=configuration)
    name = "claimed.py" if "import" in source else "claimed.cu"
    (folder / name).write_text(source)
    found = SimpleNamespace(
        variant=SimpleNamespace(name="claimed", file=name, precision=declared),
        built=SimpleNamespace(tensor_device=device, settings=lambda **_: settings, note=SimpleNamespace(reads=())),
        _compared={},
        tolerance=Tolerance(relative=1e-2, reason="a test"),
        reference=folder / "reference.py",
        claim=SimpleNamespace(entry_of=lambda _: "forward"),
        is_reference=is_reference,
        cases=(CASE,),
    )
    found.compared_within = lambda *given, **more: Target.compared_within(cast(Target, found), *given, **more)
    found.compared = lambda *given, **more: Target.compared(cast(Target, found), *given, **more)
    return cast(Target, found)


def asked(value: Any, late: int = 0) -> dict[str, Asked]:
    event = {"value": value, "digest": str(value), "dtype": "float32", "shape": [64], "late": late}
    return {"first": Asked("first", CASE, Answer(event, Path("0.bin")), "")}


def test_streams_are_skipped(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="streams"):
        current_stream.observe(target(tmp_path, KERNEL))


@pytest.mark.parametrize(
    ("source", "device", "is_reference", "late", "outcome"),
    [
        (KERNEL, "cpu", False, 0, "skip"),
        (KERNEL, "cpu", False, 8, "fail"),  # a thread of the host was late
        (KERNEL, "cpu", True, 0, "pass"),
        (KERNEL, "cuda", False, 0, "pass"),
        (TRITON, "cpu", False, 0, "skip"),
        ("import torch\n", "cpu", False, 0, "pass"),
    ],
)
def test_late_writes_of_a_kernel_are_not_shown(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    source: str,
    device: str,
    is_reference: bool,
    late: int,
    outcome: str,
) -> None:
    monkeypatch.setattr(late_writes, "at_largest", lambda _: asked(RIGHT, late))
    subject = target(tmp_path, source, device=device, is_reference=is_reference)
    if outcome == "skip":
        with pytest.raises(Unsupported, match="a launch ends here before it returns"):
            late_writes.observe(subject)
    else:
        assert late_writes.conclude(late_writes.observe(subject)).outcome == outcome


@pytest.mark.parametrize(
    ("source", "device", "declared", "is_reference", "error", "outcome"),
    [
        (TRITON, "cpu", "fp32", False, 0.0, "skip"),
        (TRITON, "cpu", "fp32", False, 2e-3, "fail"),
        (TRITON, "cuda", "fp32", False, 0.0, "pass"),
        (TRITON, "cpu", "tf32", False, 0.0, "pass"),
        (TRITON, "cpu", "fp32", True, 0.0, "pass"),
        (TRITON.replace("tl.dot(a, b)", "a + b"), "cpu", "fp32", False, 0.0, "pass"),
        ("import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n", "cpu", "fp32", False, 0.0, "skip"),
        ("import torch\ntorch.set_float32_matmul_precision('high')\n", "cpu", "fp32", False, 0.0, "skip"),
        (KERNEL, "cpu", "fp32", False, 0.0, "pass"),
        (f"{KERNEL}// cublasSetMathMode(h, CUBLAS_TENSOR_OP_MATH);\n", "cpu", "fp32", False, 0.0, "skip"),
        (f"{KERNEL}// cublasSetMathMode(h, CUBLAS_DEFAULT_MATH);\n", "cpu", "fp32", False, 0.0, "pass"),
        (f"{LIBRARY}void forward(float* x) {{ k<<<1, 1>>>(x); }}\n", "cpu", "fp32", False, 0.0, "pass"),
        (f"{LIBRARY}void forward(float* x) {{ with_library(x); }}\n", "cpu", "fp32", False, 0.0, "skip"),
    ],
)
def test_tf32_that_only_a_gpu_has_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    source: str,
    device: str,
    declared: str,
    is_reference: bool,
    error: float,
    outcome: str,
) -> None:
    noise = error * np.cos(np.arange(64.0))
    monkeypatch.setattr(precision, "at_largest", lambda _: asked(RIGHT + noise))
    monkeypatch.setattr(precision, "wanted", lambda _: SimpleNamespace(largest=SimpleNamespace(bits=BITS)))
    subject = target(tmp_path, source, device=device, declared=declared, is_reference=is_reference)
    if outcome == "skip":
        with pytest.raises(Unsupported, match="TF32, which a GPU may take for float32"):
            precision.observe(subject)
    else:
        assert precision.conclude(precision.observe(subject)).outcome == outcome


def test_a_product_of_triton_is_shown_where_the_claims_gpu_rounds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(precision, "at_largest", lambda _: asked(RIGHT))
    monkeypatch.setattr(precision, "wanted", lambda _: SimpleNamespace(largest=SimpleNamespace(bits=BITS)))
    assert precision.conclude(precision.observe(target(tmp_path, TRITON, capability=80))).outcome == "pass"
