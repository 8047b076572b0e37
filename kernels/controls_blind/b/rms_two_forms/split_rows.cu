// mechanism: sums are added to a global workspace that nobody initialises
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

constexpr int kThreads = 256;

__global__ void sum_squares(const float* x, const float* r, float* sums, int rows, int cols) {
  const int row = blockIdx.x;
  const int c = blockIdx.y * kThreads + threadIdx.x;
  float a = 0.0f, b = 0.0f;
  if (c < cols) {
    const float v = x[(size_t)row * cols + c];
    const float s = v + r[(size_t)row * cols + c];
    a = v * v;
    b = s * s;
  }
  for (int d = 16; d > 0; d >>= 1) {
    a += __shfl_down_sync(0xffffffff, a, d);
    b += __shfl_down_sync(0xffffffff, b, d);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums[row], a);
    atomicAdd(&sums[rows + row], b);
  }
}

__global__ void apply(const float* x, const float* r, const float* w, const float* sums, float* out, int rows, int cols) {
  const int row = blockIdx.x;
  const int c = blockIdx.y * kThreads + threadIdx.x;
  if (c >= cols) return;
  const size_t at = (size_t)row * cols + c;
  const float scale_x = rsqrtf(sums[row] / cols + 1e-6f);
  const float scale_s = rsqrtf(sums[rows + row] / cols + 1e-6f);
  out[at] = (x[at] + r[at]) * scale_s * w[c];
  out[(size_t)rows * cols + at] = r[at] + x[at] * scale_x * w[c];
}

torch::Tensor forward(torch::Tensor x, torch::Tensor residual, torch::Tensor weight) {
  auto xs = x.contiguous();
  auto rs = residual.contiguous();
  auto ws = weight.contiguous();
  const int rows = xs.size(0), cols = xs.size(1);
  auto out = torch::empty({2, rows, cols}, xs.options());
  auto sums = torch::empty({2, rows}, xs.options());
  const dim3 grid(rows, (cols + kThreads - 1) / kThreads);
  auto stream = at::cuda::getCurrentCUDAStream();
  sum_squares<<<grid, kThreads, 0, stream>>>(xs.data_ptr<float>(), rs.data_ptr<float>(), sums.data_ptr<float>(), rows, cols);
  apply<<<grid, kThreads, 0, stream>>>(xs.data_ptr<float>(), rs.data_ptr<float>(), ws.data_ptr<float>(),
                                       sums.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
