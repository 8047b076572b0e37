// why fine: a table of two kernels, with 32-bit and with 64-bit indices, chosen by size; a generic lambda launches
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename Index>
__global__ void max_pool(const float* __restrict__ x, float* __restrict__ y, int64_t total_, int h, int w, int oh, int ow) {
  const Index total = static_cast<Index>(total_);
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int q = i % ow;
  const int p = (i / ow) % oh;
  const Index plane = i / (static_cast<Index>(oh) * ow);
  const float* in = x + plane * h * w;
  float best = in[static_cast<Index>(2 * p) * w + 2 * q];
#pragma unroll
  for (int dr = -1; dr <= 1; ++dr) {
#pragma unroll
    for (int ds = -1; ds <= 1; ++ds) {
      const int r = 2 * p + dr, s = 2 * q + ds;
      if (r < 0 || r >= h || s < 0 || s >= w) continue;
      const float v = in[static_cast<Index>(r) * w + s];
      best = (v > best || isnan(v)) ? v : best;
    }
  }
  y[i] = best;
}

using Kernel = void (*)(const float*, float*, int64_t, int, int, int, int);
static const Kernel kernels[] = {max_pool<unsigned int>, max_pool<int64_t>};

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 4 && x.scalar_type() == torch::kFloat32, "(n, c, h, w) in float32 expected");
  x = x.contiguous();
  const int h = x.size(2), w = x.size(3);
  const int oh = (h + 1) / 2, ow = (w + 1) / 2;
  auto y = torch::empty({x.size(0), x.size(1), oh, ow}, x.options());
  const int64_t total = y.numel();
  if (total == 0) return y;
  const int wide = x.numel() >= (int64_t{1} << 31) ? 1 : 0;
  auto launch = [&](auto kernel, auto threads) {
    kernel<<<(total + threads - 1) / threads, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), total, h, w, oh, ow);
  };
  launch(kernels[wide], total < 4096 ? 64 : 256);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
