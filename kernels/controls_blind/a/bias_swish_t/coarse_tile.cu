// mechanism: wrong axis at non-square sizes: the output's row pitch is the number of columns instead of rows.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_bf16.h>

constexpr int kTile = 32;
constexpr int kStep = 8;

__device__ __forceinline__ float swish(float v) { return v / (1.0f + __expf(-v)); }

__global__ void __launch_bounds__(kTile * kStep)
    swish_transpose(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ bias,
                    __nv_bfloat16* __restrict__ y, int rows, int cols, int pitch) {
  __shared__ float tile[kTile][kTile + 1];
  const int col = blockIdx.x * kTile + threadIdx.x;
  for (int j = threadIdx.y; j < kTile; j += kStep) {
    const int row = blockIdx.y * kTile + j;
    if (row < rows && col < cols)
      tile[j][threadIdx.x] = swish(__bfloat162float(x[row * pitch + col]) + __bfloat162float(bias[col]));
  }
  __syncthreads();
  const int row = blockIdx.y * kTile + threadIdx.x;
  for (int j = threadIdx.y; j < kTile; j += kStep) {
    const int out_row = blockIdx.x * kTile + j;
    if (row < rows && out_row < cols) y[out_row * pitch + row] = __float2bfloat16(tile[threadIdx.x][j]);
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
  x = x.contiguous();
  bias = bias.contiguous();
  const int rows = x.size(0), cols = x.size(1);
  auto y = torch::empty({cols, rows}, x.options());
  const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  const dim3 block(kTile, kStep);
  swish_transpose<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<const __nv_bfloat16*>(x.data_ptr<at::BFloat16>()),
      reinterpret_cast<const __nv_bfloat16*>(bias.data_ptr<at::BFloat16>()),
      reinterpret_cast<__nv_bfloat16*>(y.data_ptr<at::BFloat16>()), rows, cols, (int)x.stride(0));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
