// why fine: CUB sorts every row, an own kernel takes the first eight of each; slower than needed, but right
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cub/device/device_segmented_radix_sort.cuh>

constexpr int K = 8;

__global__ void row_starts(int* starts, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= rows) starts[i] = i * cols;
}

__global__ void take_first(const float* sorted, float* out, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * K) out[i] = sorted[static_cast<size_t>(i / K) * cols + i % K];
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2 && x.size(1) >= K, "a matrix of at least 8 columns expected");
  TORCH_CHECK(x.numel() < (1LL << 31), "too many elements for 32-bit offsets");
  x = x.contiguous();
  const int rows = x.size(0), cols = x.size(1);
  auto out = torch::empty({rows, K}, x.options());
  if (rows == 0) return out;
  auto stream = at::cuda::getCurrentCUDAStream().stream();

  auto starts = torch::empty({rows + 1}, x.options().dtype(torch::kInt32));
  int* at = starts.data_ptr<int>();
  row_starts<<<rows / 256 + 1, 256, 0, stream>>>(at, rows, cols);

  auto sorted = torch::empty_like(x);
  size_t bytes = 0;
  cub::DeviceSegmentedRadixSort::SortKeysDescending(
      nullptr, bytes, x.data_ptr<float>(), sorted.data_ptr<float>(), rows * cols, rows, at, at + 1, 0, 32, stream);
  auto scratch = torch::empty({static_cast<int64_t>(bytes) + 1}, x.options().dtype(torch::kUInt8));
  cub::DeviceSegmentedRadixSort::SortKeysDescending(
      scratch.data_ptr<uint8_t>(), bytes, x.data_ptr<float>(), sorted.data_ptr<float>(), rows * cols, rows, at, at + 1, 0, 32,
      stream);

  take_first<<<(rows * K + 255) / 256, 256, 0, stream>>>(sorted.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
