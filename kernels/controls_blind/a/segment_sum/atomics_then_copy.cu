// mechanism: input mutated: the rows are added into base itself, and only then is it copied.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void add_rows(const float* __restrict__ x, const int64_t* __restrict__ index, float* sums, int n, int c) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= n) return;
  float* target = sums + index[row] * c;
  for (int column = threadIdx.x; column < c; column += blockDim.x) atomicAdd(target + column, x[(size_t)row * c + column]);
}

torch::Tensor forward(torch::Tensor x, torch::Tensor index, torch::Tensor base) {
  x = x.contiguous();
  index = index.contiguous();
  auto sums = base.contiguous();
  const int n = x.size(0), c = x.size(1);
  add_rows<<<(n + 7) / 8, dim3(32, 8), 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), index.data_ptr<int64_t>(),
                                                                             sums.data_ptr<float>(), n, c);
  return sums.clone();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
