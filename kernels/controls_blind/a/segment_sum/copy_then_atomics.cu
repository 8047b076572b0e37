// why fine: starts from a copy of base and adds atomically; the order of additions varies, within rounding.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void add_rows(const float* __restrict__ x, const int64_t* __restrict__ index, float* out, int64_t total, int c) {
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (int64_t)gridDim.x * blockDim.x) {
    const int64_t row = i / c;
    atomicAdd(out + index[row] * c + (i - row * c), x[i]);
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor index, torch::Tensor base) {
  x = x.contiguous();
  index = index.contiguous();
  auto out = base.contiguous().clone();
  const int64_t total = x.numel();
  if (total == 0) return out;
  auto launch = [&](auto kernel, auto... args) {
    const int blocks = (int)std::min<int64_t>((total + 255) / 256, 8192);
    kernel<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(args...);
  };
  launch(add_rows, x.data_ptr<float>(), index.data_ptr<int64_t>(), out.data_ptr<float>(), total, (int)x.size(1));
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
