"""The device part for NVRTC: kernels and what they need, no header that NVRTC lacks."""

from __future__ import annotations

from audit.build.device_part import device_text
from audit.review.cuda_source import parse

SOURCE = """#include <torch/extension.h>
#include <cuda.h>
#include <mma.h>
#include <vector>
__global__ void k(float* x) { x[0] = std::max(x[0], INFINITY); }
void host(torch::Tensor x) { k<<<1, 1>>>(x.data_ptr<float>()); }
"""


def test_kernels_stay_on_their_lines_and_host_code_goes() -> None:
    head, _, body = device_text(parse(SOURCE)).partition("#line 1\n")
    assert body.splitlines()[4].startswith("__global__ void k")
    assert "host" not in body
    assert "CUFAST_STD" in head


def test_only_headers_nvrtc_reads_are_included() -> None:
    text = device_text(parse(SOURCE))
    included = [line for line in text.splitlines() if line.startswith("#include")]
    assert included == ['#include "cufast/device_prelude.h"', "#include <mma.h>"]


def test_half_precision_brings_its_header() -> None:
    text = device_text(parse("__global__ void k(__half* x, __nv_bfloat16* y) {}\n"))
    assert "#include <cuda_fp16.h>" in text
    assert "#include <cuda_bf16.h>" in text
