// Ways of writing that published extensions share; each must get through the front end and give the right numbers.
#include <torch/extension.h>
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <ATen/cuda/DeviceUtils.cuh>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <cfloat>
#include <limits>
#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)
#define CUDA_CHECK(call)                                                                 \
  do {                                                                                   \
    cudaError_t status = call;                                                           \
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));     \
  } while (0)
#define LAUNCH(T, N) softmax_kernel<T, N><<<rows, N, 0, stream>>>(x.data_ptr<T>(), y.data_ptr<T>(), columns)
#define DIV_UP(a, b) (((a) + (b)-1) / (b))
#define FULL_MASK 0xffffffff

template <typename T>
__device__ __forceinline__ T warp_max(T value) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value = max(value, __shfl_xor_sync(FULL_MASK, value, offset));
  return value;
}
template <typename T>
__inline__ __device__ T warp_sum(T value) {
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_down_sync(FULL_MASK, value, offset);
  return value;
}

template <typename scalar_t, int BLOCK>
__global__ void softmax_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, const int columns) {
  __shared__ scalar_t partial[BLOCK / 32], total;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const scalar_t* row = x + blockIdx.x * columns;
  scalar_t largest = -std::numeric_limits<scalar_t>::infinity();
  for (int i = threadIdx.x; i < columns; i += BLOCK) largest = max(largest, __ldg(row + i));
  largest = warp_max(largest);
  if (lane == 0) partial[warp] = largest;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < BLOCK / 32; ++w) partial[0] = fmax(partial[0], partial[w]);
    total = partial[0];
  }
  __syncthreads();
  largest = total;
  scalar_t sum = 0;
  for (int i = threadIdx.x; i < columns; i += BLOCK) sum += exp(row[i] - largest);
  sum = warp_sum(sum);
  __syncthreads();
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < BLOCK / 32 ? partial[lane] : scalar_t(0);
    sum = warp_sum(sum);
    if (lane == 0) total = sum;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += BLOCK) y[blockIdx.x * columns + i] = exp(row[i] - largest) / total;
}
torch::Tensor softmax(torch::Tensor x) {
  CHECK_INPUT(x);
  const int rows = x.size(0), columns = x.size(1);
  auto y = torch::empty(x.sizes(), torch::TensorOptions().dtype(x.dtype()).device(torch::kCUDA));
  const auto one = torch::ones({1}, torch::kUInt32).cuda();
  CHECK_INPUT(one);
  cudaStream_t stream = at::cuda::getCurrentCUDAStream().stream();
  AT_DISPATCH_FLOATING_TYPES(x.type(), "softmax", [&] { LAUNCH(scalar_t, 128); });
  CUDA_CHECK(cudaGetLastError());
  const auto side = at::cuda::getStreamFromPool();
  c10::cuda::CUDACachingAllocator::recordStream(y.storage().data_ptr(), side);
  at::cuda::CUDAEvent done;
  done.record(side);
  done.block(at::cuda::getCurrentCUDAStream());
  return y;
}

struct Pair {
  float value;
  int index;
};
__global__ void argmin_kernel(const float* x, int64_t* out, size_t n) {
  extern __shared__ __align__(16) unsigned char raw[];
  Pair* best = reinterpret_cast<Pair*>(raw);
  Pair mine{FLT_MAX, -1};
  for (size_t i = threadIdx.x; i < n; i += blockDim.x)
    if (x[blockIdx.x * n + i] < mine.value) mine = {x[blockIdx.x * n + i], static_cast<int>(i)};
  best[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (threadIdx.x < s && best[threadIdx.x + s].value < best[threadIdx.x].value) best[threadIdx.x] = best[threadIdx.x + s];
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = best[0].index;
}
at::Tensor argmin(const at::Tensor& x) {
  auto out = at::empty({x.size(0)}, x.options().dtype(at::kLong));
  const dim3 blocks(x.size(0)), threads(64);
  argmin_kernel<<<blocks, threads, threads.x * sizeof(Pair)>>>(x.data_ptr<float>(), out.data_ptr<int64_t>(), x.size(1));
  return out;
}

__device__ inline float gelu(float x) { return 0.5f * x * (1.0f + erff(x * M_SQRT1_2)); }
__device__ int2 place(const uint3& block, const dim3 dim, uint3 thread) {
  return make_int2(block.x * dim.x + thread.x, block.y * dim.y + thread.y);
}
template <typename F>
__global__ void map_kernel(const float* x, float* y, int rows, int columns, F f) {
  const int2 at = place(blockIdx, blockDim, threadIdx);
  if (at.x < columns && at.y < rows) y[at.y * columns + at.x] = f(x[at.y * columns + at.x]);
}
struct Gelu {
  __host__ __device__ float operator()(float x) const { return gelu(x); }
};
at::Tensor map(at::Tensor x) {
  at::Tensor y = at::zeros_like(x);
  const int rows = x.size(0), columns = x.size(1);
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  const int width = std::min(properties.maxThreadsPerBlock, 32);
  dim3 block(width, 4);
  dim3 grid{static_cast<unsigned>(DIV_UP(columns, width)), static_cast<unsigned>(DIV_UP(rows, 4))};
  map_kernel<<<grid, block>>>(x.data_ptr<float>(), y.mutable_data_ptr<float>(), rows, columns, Gelu());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

__global__ void half_sum_kernel(const __half* x, float* out, int n) {
  float sum = 0.f;
  for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
    float2 two = __half22float2(reinterpret_cast<const __half2*>(x)[i]);
    sum += two.x + two.y;
  }
  double exact = warp_sum(static_cast<double>(sum));
  if (threadIdx.x == 0) atomicAdd(out, static_cast<float>(exact));
  if (threadIdx.x == 0 && isnan(sum)) printf("NaN in thread %d\n", threadIdx.x);
}
at::Tensor half_sum(at::Tensor x) {
  auto out = torch::zeros({}, x.options().dtype(torch::kFloat));
  half_sum_kernel<<<1, 32>>>((const __half*)x.data_ptr<at::Half>(), out.data_ptr<float>(), (int)x.numel());
  return out;
}

template <typename T>
__global__ void cached_kernel(const T* x, T* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = __ldg(x + threadIdx.x);
}
at::Tensor cached(at::Tensor x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "cached", [&] {
    cached_kernel<scalar_t><<<1, 64>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
  });
  return y;
}

__constant__ float weights[9];
template <int R>
__global__ void conv_kernel(const float* x, float* y, int h, int w) {
  __shared__ float tile[8 + 2 * R][8 + 2 * R];
  const int x0 = blockIdx.x * 8 - R, y0 = blockIdx.y * 8 - R;
  for (int i = threadIdx.y * 8 + threadIdx.x; i < (8 + 2 * R) * (8 + 2 * R); i += 64) {
    int r = i / (8 + 2 * R), c = i % (8 + 2 * R);
    bool inside = y0 + r >= 0 && y0 + r < h && x0 + c >= 0 && x0 + c < w;
    tile[r][c] = inside ? x[(y0 + r) * w + x0 + c] : 0.0f;
  }
  __syncthreads();
  int column = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (column >= w || row >= h) return;
  float sum = 0;
  for (int r = 0; r <= 2 * R; r++)
    for (int c = 0; c <= 2 * R; c++) sum = fmaf(tile[threadIdx.y + r][threadIdx.x + c], weights[r * 3 + c], sum);
  y[row * w + column] = sum;
}
std::vector<at::Tensor> conv(at::Tensor x, at::Tensor kernel) {
  auto y = torch::empty_like(x);
  int h = x.size(0), w = x.size(1);
  cudaMemcpyToSymbol(weights, kernel.data_ptr<float>(), sizeof(float) * 9);
  conv_kernel<1><<<dim3(DIV_UP(w, 8), DIV_UP(h, 8)), dim3(8, 8)>>>(x.data_ptr<float>(), y.data_ptr<float>(), h, w);
  return {y, torch::relu(y)};
}

// The lanes read what others stored of a tile, with no __syncwarp behind the store.
__global__ void tile_kernel(const float* x, float* y) {
  __shared__ float tile[16 * 16];
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> held;
  nvcuda::wmma::load_matrix_sync(held, x, 16, nvcuda::wmma::mem_row_major);
  nvcuda::wmma::store_matrix_sync(tile, held, 16, nvcuda::wmma::mem_row_major);
  for (int i = threadIdx.x; i < 256; i += 32) y[255 - i] = tile[255 - i];
}
at::Tensor tile(at::Tensor x) {
  auto y = torch::empty_like(x);
  tile_kernel<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>());
  return y;
}

namespace chosen {
template <bool DOUBLED>
__global__ void copied(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = DOUBLED ? x[i] * 2.f : x[i];
}
__global__ void halved(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / 2.f;
}
}  // namespace chosen
at::Tensor by_address(at::Tensor x, bool doubled) {
  auto y = torch::empty_like(x), z = torch::empty_like(x);
  const float* from = x.data_ptr<float>();
  float *to = y.data_ptr<float>(), *back = z.data_ptr<float>();
  int n = x.numel();
  const void* kernel = doubled ? reinterpret_cast<const void*>(&chosen::copied<true>) : (const void*)chosen::copied<false>;
  void* forward[] = {&from, &to, &n};
  CUDA_CHECK(cudaLaunchKernel(kernel, dim3((n + 63) / 64), dim3(64), forward, 0, nullptr));
  void* half = (void*)&chosen::halved;
  void* backward[] = {&to, &back, &n};
  CUDA_CHECK(cudaLaunchKernel(half, dim3((n + 63) / 64), dim3(64), backward, 0, nullptr));
  return z;
}
at::Tensor no_kernel(at::Tensor x) {
  const void* address = x.data_ptr<float>();
  return torch::full({1}, static_cast<int>(cudaLaunchKernel(address, dim3(1), dim3(1), nullptr, 0, nullptr)));
}

inline __host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }
inline __device__ float2 lerp(float2 a, float2 b, float t) { return {lerp(a.x, b.x, t), lerp(a.y, b.y, t)}; }

template <typename T, int N>
struct Storage {
  T values[N];
};
__global__ void rotate_kernel(const float* x, float* y) {
  extern __shared__ char storage[];
  auto& held = reinterpret_cast<Storage<float, 32>&>(storage);
  auto* same = reinterpret_cast<float(*)[32]>(&storage);
  held.values[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  __syncwarp();
  float next = WARP_SHFL((*same)[threadIdx.x], (threadIdx.x + 1) % 32);
  next = lerp(float2{next, 0.f}, float2{next, 1.f}, 0.5f).x;
  y[blockIdx.x * 32 + threadIdx.x] = next + 0 * WARP_SHFL_XOR(WARP_SHFL_DOWN(WARP_SHFL_UP(next, 1), 1), 16, 32);
}
torch::Tensor rotate(torch::Tensor x) {
  C10_CUDA_CHECK(c10::cuda::MaybeSetDevice(x.get_device()));
  auto y = torch::empty_like(x);
  rotate_kernel<<<x.numel() / 32, 32, 32 * sizeof(float)>>>(x.data_ptr<float>(), y.data_ptr<float>());
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("rotate", &rotate);
  m.def("softmax", &softmax, "Softmax (CUDA)");
  m.def("argmin", &argmin);
  m.def("map", &map);
  m.def("half_sum", &half_sum);
  m.def("cached", &cached);
  m.def("tile", &tile);
  m.def("by_address", &by_address);
  m.def("no_kernel", &no_kernel);
  m.def("conv", &conv, py::arg("x"), py::arg("kernel"));
}
