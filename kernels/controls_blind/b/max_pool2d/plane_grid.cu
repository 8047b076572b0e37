// mechanism: planes are counted by the y axis of the grid, which ends at 65,535; the claimed size has more
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void max_pool_plane(const float* __restrict__ x, float* __restrict__ y, int h, int w, int oh, int ow) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= oh * ow) return;
  const size_t plane = blockIdx.y;
  const int p = at / ow, q = at % ow;
  const float* in = x + plane * h * w;
  float best = -INFINITY;
  for (int r = 2 * p - 1; r <= 2 * p + 1; ++r) {
    if (r < 0 || r >= h) continue;
    for (int s = 2 * q - 1; s <= 2 * q + 1; ++s) {
      if (s < 0 || s >= w) continue;
      const float v = in[r * w + s];
      if (v > best || v != v) best = v;
    }
  }
  y[plane * oh * ow + at] = best;
}

torch::Tensor forward(torch::Tensor x) {
  x = x.contiguous();
  const int n = x.size(0), c = x.size(1), h = x.size(2), w = x.size(3);
  const int oh = (h + 1) / 2, ow = (w + 1) / 2;
  auto y = torch::empty({n, c, oh, ow}, x.options());
  const dim3 grid((oh * ow + 127) / 128, n * c);
  max_pool_plane<<<grid, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), h, w, oh, ow);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
