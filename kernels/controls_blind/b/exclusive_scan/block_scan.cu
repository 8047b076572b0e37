// why fine: CUB scans a tile at a time with a carry that every thread keeps, a barrier before the storage is used again
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cub/block/block_scan.cuh>

template <int Threads>
__global__ void __launch_bounds__(Threads) scan_rows(const float* in, float* out, int64_t cols) {
  using Scan = cub::BlockScan<float, Threads>;
  __shared__ typename Scan::TempStorage storage;
  const int64_t base = static_cast<int64_t>(blockIdx.x) * cols;
  float carry = 0.0f;
  for (int64_t start = 0; start < cols; start += Threads) {
    const int64_t c = start + threadIdx.x;
    const float value = c < cols ? in[base + c] : 0.0f;
    float before, total;
    Scan(storage).ExclusiveSum(value, before, total);
    if (c < cols) out[base + c] = carry + before;
    carry += total;
    __syncthreads();
  }
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2, "a matrix expected");
  const c10::cuda::CUDAGuard guard(x.device());
  x = x.contiguous();
  auto y = torch::empty_like(x);
  if (x.numel() == 0) return y;
  void (*kernel)(const float*, float*, int64_t) = scan_rows<64>;
  int threads = 64;
  if (x.size(1) > 128) {
    kernel = scan_rows<256>;
    threads = 256;
  }
  kernel<<<x.size(0), threads, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
