// mechanism: out-of-bounds read: whole tiles of 32 keys and values are loaded without a guard, past the end of the last head.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>

constexpr int kTile = 32;
constexpr int kThreads = 64;

template <int D>
__global__ void __launch_bounds__(kThreads)
    attend(const __half* __restrict__ q, const __half* __restrict__ k, const __half* __restrict__ v,
           const int* __restrict__ lengths, __half* __restrict__ out, int s, float scale) {
  __shared__ __half ks[kTile][D];
  __shared__ __half vs[kTile][D];
  const size_t base = (size_t)blockIdx.y * s * D;
  const int query = blockIdx.x * kThreads + threadIdx.x;
  const int length = lengths[blockIdx.y];
  const bool live = query < s;

  float own[D], acc[D];
#pragma unroll
  for (int c = 0; c < D; ++c) {
    own[c] = live ? __half2float(q[base + (size_t)query * D + c]) * scale : 0.0f;
    acc[c] = 0.0f;
  }
  float top = -INFINITY, sum = 0.0f;
  for (int key0 = 0; key0 < s; key0 += kTile) {
    for (int e = threadIdx.x; e < kTile * D; e += kThreads) {
      ks[e / D][e % D] = k[base + (size_t)key0 * D + e];
      vs[e / D][e % D] = v[base + (size_t)key0 * D + e];
    }
    __syncthreads();
    for (int j = 0; j < kTile && key0 + j < length; ++j) {
      float dot = 0.0f;
#pragma unroll
      for (int c = 0; c < D; ++c) dot = fmaf(own[c], __half2float(ks[j][c]), dot);
      const float higher = fmaxf(top, dot);
      const float keep = __expf(top - higher), p = __expf(dot - higher);
      sum = sum * keep + p;
#pragma unroll
      for (int c = 0; c < D; ++c) acc[c] = acc[c] * keep + p * __half2float(vs[j][c]);
      top = higher;
    }
    __syncthreads();
  }
  if (!live) return;
#pragma unroll
  for (int c = 0; c < D; ++c) out[base + (size_t)query * D + c] = __float2half(acc[c] / sum);
}

torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v, torch::Tensor lengths) {
  q = q.contiguous();
  k = k.contiguous();
  v = v.contiguous();
  const int b = q.size(0), s = q.size(1), d = q.size(2);
  TORCH_CHECK(d == 32 || d == 64, "d must be 32 or 64");
  auto out = torch::empty_like(q);
  const dim3 grid((s + kThreads - 1) / kThreads, b);
  auto run = [&](auto kernel) {
    kernel<<<grid, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        reinterpret_cast<const __half*>(q.data_ptr<at::Half>()), reinterpret_cast<const __half*>(k.data_ptr<at::Half>()),
        reinterpret_cast<const __half*>(v.data_ptr<at::Half>()), lengths.data_ptr<int>(),
        reinterpret_cast<__half*>(out.data_ptr<at::Half>()), s, 1.0f / sqrtf((float)d));
  };
  if (d == 64)
    run(attend<64>);
  else
    run(attend<32>);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
