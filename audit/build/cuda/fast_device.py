"""The device part of a CUDA source for NVRTC, and the names of what must be in it."""

from __future__ import annotations

import re

from audit.build.device_part import device_part
from audit.review.cuda_source import CudaSource

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?P<header>[^>"\n]*)[>"][^\n]*$', re.MULTILINE)
_HALF = re.compile(r"half|HALF|fp16")
_BFLOAT = re.compile(r"bfloat16|BFLOAT16|bf16")
_CCCL = re.compile(r"cooperative_groups|cuda/|cuda_pipeline|nv/target")
# Headers NVRTC reads; of the others it has the content built in, or device code has no use for them.
_READ = re.compile(r"mma\.h|cooperative_groups|cuda_(?:fp|bf)\d+\.h|cuda/|cuda_pipeline|nv/target|math_constants\.h")


def device_text(source: CudaSource) -> str:
    """Text for NVRTC. Its lines are those of the source."""
    cut = device_part(source).partition("#line 1\n")[2]
    headers = [match["header"] for match in _INCLUDE.finditer(cut)]
    body = _INCLUDE.sub(lambda match: match.group() if _READ.match(match["header"]) else "", cut)
    head = ["#define CUFAST_CCCL\n"] if any(_CCCL.match(header) for header in headers) else []
    head += ["#define CUFAST_STD\n"] if re.search(r"\bstd\b", source.masked) else []
    head += ['#include "cufast/device_prelude.h"\n']
    head += ["#include <cuda_fp16.h>\n"] if _HALF.search(source.masked) else []
    head += ["#include <cuda_bf16.h>\n"] if _BFLOAT.search(source.masked) else []
    return "".join((*head, "#line 1\n", body))
