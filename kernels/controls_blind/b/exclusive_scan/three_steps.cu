// why fine: what is kept between calls is scratch memory, written anew in full before it is read; three kernels in order
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

constexpr int kChunk = 256;

__device__ __forceinline__ float warp_inclusive(float v, int lane) {
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const float other = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += other;
  }
  return v;
}

__global__ void chunk_sums(const float* x, float* sums, int64_t cols, int64_t chunks) {
  __shared__ float of_warp[kChunk / 32];
  const int64_t row = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
  const int64_t c = chunk * kChunk + threadIdx.x;
  float v = c < cols ? x[row * cols + c] : 0.0f;
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int i = 0; i < kChunk / 32; ++i) sum += of_warp[i];
    sums[blockIdx.x] = sum;
  }
}

__global__ void scan_sums(float* sums, int64_t rows, int64_t chunks) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float before = 0.0f;
  for (int64_t i = row * chunks; i < (row + 1) * chunks; ++i) {
    const float sum = sums[i];
    sums[i] = before;
    before += sum;
  }
}

__global__ void scan_chunks(const float* x, const float* sums, float* y, int64_t cols, int64_t chunks) {
  __shared__ float of_warp[kChunk / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t row = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
  const int64_t c = chunk * kChunk + threadIdx.x;
  const float inclusive = warp_inclusive(c < cols ? x[row * cols + c] : 0.0f, lane);
  if (lane == 31) of_warp[warp] = inclusive;
  float exclusive = __shfl_up_sync(0xffffffffu, inclusive, 1);
  if (lane == 0) exclusive = 0.0f;
  __syncthreads();
  float before = sums[blockIdx.x];
  for (int i = 0; i < warp; ++i) before += of_warp[i];
  if (c < cols) y[row * cols + c] = before + exclusive;
}

static torch::Tensor& scratch(int64_t wanted, const torch::Tensor& like) {
  static auto* kept = new torch::Tensor();
  if (!kept->defined() || kept->numel() < wanted || kept->device() != like.device()) {
    *kept = torch::empty({wanted}, like.options());
  }
  return *kept;
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2 && x.scalar_type() == torch::kFloat32, "a float32 matrix expected");
  x = x.contiguous();
  auto y = torch::empty_like(x);
  if (x.numel() == 0) return y;
  const int64_t rows = x.size(0), cols = x.size(1);
  const int64_t chunks = (cols + kChunk - 1) / kChunk;
  float* sums = scratch(rows * chunks, x).data_ptr<float>();
  auto stream = at::cuda::getCurrentCUDAStream();
  chunk_sums<<<rows * chunks, kChunk, 0, stream>>>(x.data_ptr<float>(), sums, cols, chunks);
  scan_sums<<<(rows + 127) / 128, 128, 0, stream>>>(sums, rows, chunks);
  scan_chunks<<<rows * chunks, kChunk, 0, stream>>>(x.data_ptr<float>(), sums, y.data_ptr<float>(), cols, chunks);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
