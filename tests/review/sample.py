"""One source with many constructs, and ways to spoil it."""

from __future__ import annotations

import random
from collections.abc import Iterator

SAMPLE = r"""// a kernel<<<1, 2>>>(in a comment)
#include <torch/extension.h>
#include "cuda_runtime.h"
#define LAUNCH(K, n) \
  /* through a macro */ \
  K<<<(n + 31) / 32, \
      32>>>(a, b)
#define TILE(T, name) __shared__ T name[32][33]
#define DEVICE __device__ __forceinline__
extern __shared__ __align__(16) char raw[];
__shared__ float scratch[32];
DEVICE float twice(float x) { return 2 * x; }
const char* text = "k<<<1, 2>>>(3); asm(\"\") // ";
namespace ns {
template <typename T, int N>
__global__ void __launch_bounds__(256, 2) k(const T* __restrict__ a, T* b, int n = 3) {
  __shared__ float t[32][N + 1], u, *p;
  __shared__ volatile int v[2];
  volatile __shared__ int w[2];
  static __shared__ float4 four[N];
  float __shared__ late[32];
  __shared__ std::pair<int, float> pairs[2];
  __shared__ struct { int a; float c; } both;
#pragma unroll
  __shared__ __align__(16) float aligned[2];
  alignas(16) __shared__ T first[sizeof(T) > 4 ? 2 : N];
  extern __shared__ unsigned char bytes[];
  extern volatile __shared__ float rows[][32];
  TILE(float, tile);
  scratch[threadIdx.x] = raw[0];
}
}  // namespace ns
torch::Tensor f(torch::Tensor a) {
  TORCH_CHECK(a.type().is_cuda(), "not \"CUDA\" 'x");
  auto c = torch::empty({1'000}, a.options().device("cuda"));
  (ns::k<float, 3>)<<<g, b>>>(a.data_ptr<float>(), 0);
  ns::k<float, (3 >> 1)><<<(n + (1 << 3)) >> 3, b, 0, stream>>>(x, NULL);
  ::ns::k
     <float, 2> <<< // grid
    n >> 3, dim3(1, 2) /* , */>>>
    (x);
  AT_DISPATCH_FLOATING_TYPES(a.type(), "f", ([&] {
    k<scalar_t, B<3>::v><<<grid, block>>>(
       a, b);
  }));
  pointer<<<1, 2>>>(a);
  LAUNCH(plain, 1024);
  return c;
}
#if 0
dead<<<1, 2>>>(a);
#endif
"""


def spoiled() -> Iterator[str]:
    """Sources that no compiler takes: cut short, with lost, doubled and foreign characters."""
    yield from ("", "\0", "\n", "<<<", ">>>(", "k<<<", "k<<<>>>()", "__shared__", "__shared__ ;", "extern __shared__")
    yield from ("#define", "#define X \\", "#if 0", "#if 0\nk<<<1,2>>>(3);", 'R"(', "/*", "'", '"', "\\", "}" * 50)
    yield from (
        "(" * 3000,
        "a+" * 3000,
        "{" * 3000,
        "<" * 3000,
        "k<" * 500 + "<<<1, 2>>>(3)",
        "Ein Text, kein Code: äöü €",
    )
    yield "__global__ void k(float* a) { a[" + "(" * 800 + "blockIdx.y" + ")" * 800 + "] = 0; }"
    yield (
        "__global__ void k(float* a) { a["
        + "blockIdx.y + " * 1500
        + "threadIdx.y] = 0; }\nvoid f() { k<<<1, 2>>>(a); }"
    )
    source = random.Random(1)
    for _ in range(60):
        start = source.randrange(len(SAMPLE))
        end = min(len(SAMPLE), start + source.randrange(1, 60))
        yield SAMPLE[:start]
        yield SAMPLE[:start] + SAMPLE[end:]
        yield (
            SAMPLE[:start]
            + source.choice(["\0", "'", '"', "{", "}", ")", "<<<", ">>>", "/*", "\\\n", "é", ";"])
            + SAMPLE[start:]
        )
