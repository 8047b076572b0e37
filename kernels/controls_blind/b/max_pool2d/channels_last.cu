// why fine: the result lies channels-last in memory, its values and sizes are right; printing is switched off by a macro
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <algorithm>
#include <cstdio>

#ifdef POOL_DEBUG
#define TRACE(...) printf(__VA_ARGS__)
#else
#define TRACE(...) ((void)0)
#endif

__global__ void pool(const float* x, float* y, int64_t total, int channels, int h, int w, int oh, int ow) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const int c = i % channels;
    const int q = (i / channels) % ow;
    const int p = (i / (static_cast<int64_t>(channels) * ow)) % oh;
    const int64_t n = i / (static_cast<int64_t>(channels) * ow * oh);
    const float* plane = x + (n * channels + c) * h * w;
    float best = -INFINITY;
    for (int r = max(2 * p - 1, 0); r < min(2 * p + 2, h); ++r) {
      for (int s = max(2 * q - 1, 0); s < min(2 * q + 2, w); ++s) {
        const float v = plane[r * w + s];
        if (v > best || v != v) best = v;
      }
    }
    TRACE("%d %d %d: %f\n", c, p, q, best);
    y[i] = best;
  }
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 4, "(n, c, h, w) expected");
  x = x.contiguous();
  const int64_t n = x.size(0);
  const int c = x.size(1), h = x.size(2), w = x.size(3);
  const int oh = (h - 1) / 2 + 1, ow = (w - 1) / 2 + 1;
  auto y = torch::empty({n, oh, ow, c}, x.options());
  const int64_t total = y.numel();
  if (total > 0) {
    const int blocks = static_cast<int>(std::min<int64_t>((total + 255) / 256, 16384));
    pool<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), total, c, h, w, oh, ow);
  }
  return y.permute({0, 3, 1, 2});
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
