// mechanism: misaligned vector access: float4 on rows whose start is not a multiple of 16 bytes unless cols % 4 == 0.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

constexpr int kThreads = 128;

template <typename Op>
__device__ float reduce(float v, Op op) {
  __shared__ float part[kThreads / 32];
  for (int d = 16; d > 0; d >>= 1) v = op(v, __shfl_xor_sync(0xffffffffu, v, d));
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
  __syncthreads();
  v = part[0];
  for (int w = 1; w < kThreads / 32; ++w) v = op(v, part[w]);
  __syncthreads();
  return v;
}

struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Add { __device__ float operator()(float a, float b) const { return a + b; } };

__device__ __forceinline__ float4 add4(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void softmax_vec4(const float* __restrict__ x, const float* __restrict__ mask, float* __restrict__ y, int cols) {
  const size_t base = (size_t)blockIdx.x * cols;
  const int quads = cols / 4;
  const float4* x4 = reinterpret_cast<const float4*>(x + base);
  const float4* m4 = reinterpret_cast<const float4*>(mask + base);
  float4* y4 = reinterpret_cast<float4*>(y + base);

  float top = -INFINITY;
  for (int q = threadIdx.x; q < quads; q += kThreads) {
    const float4 v = add4(x4[q], m4[q]);
    top = fmaxf(top, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  for (int c = quads * 4 + threadIdx.x; c < cols; c += kThreads) top = fmaxf(top, x[base + c] + mask[base + c]);
  top = reduce(top, Max());

  float sum = 0.0f;
  for (int q = threadIdx.x; q < quads; q += kThreads) {
    const float4 v = add4(x4[q], m4[q]);
    sum += expf(v.x - top) + expf(v.y - top) + expf(v.z - top) + expf(v.w - top);
  }
  for (int c = quads * 4 + threadIdx.x; c < cols; c += kThreads) sum += expf(x[base + c] + mask[base + c] - top);
  const float scale = 1.0f / reduce(sum, Add());

  for (int q = threadIdx.x; q < quads; q += kThreads) {
    const float4 v = add4(x4[q], m4[q]);
    y4[q] = make_float4(expf(v.x - top) * scale, expf(v.y - top) * scale, expf(v.z - top) * scale, expf(v.w - top) * scale);
  }
  for (int c = quads * 4 + threadIdx.x; c < cols; c += kThreads) y[base + c] = expf(x[base + c] + mask[base + c] - top) * scale;
}

torch::Tensor forward(torch::Tensor x, torch::Tensor mask) {
  x = x.contiguous();
  mask = mask.contiguous();
  auto y = torch::empty_like(x);
  softmax_vec4<<<x.size(0), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), mask.data_ptr<float>(), y.data_ptr<float>(), (int)x.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
