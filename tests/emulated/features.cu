// One small kernel per feature that the emulated device models; test_features.py knows what each must answer.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <mma.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

#define TILE 16
#define CHECK(x) TORCH_CHECK(x.is_cuda() && x.is_contiguous(), #x " must be a contiguous CUDA tensor")

__global__ void tiled_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float left[TILE][TILE], right[TILE][TILE + 1];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int step = 0; step < n; step += TILE) {
    left[threadIdx.y][threadIdx.x] = row < n && step + threadIdx.x < n ? a[row * n + step + threadIdx.x] : 0;
    right[threadIdx.y][threadIdx.x] = column < n && step + threadIdx.y < n ? b[(step + threadIdx.y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
at::Tensor tiled_matmul(at::Tensor a, at::Tensor b) {
  CHECK(a);
  const c10::cuda::CUDAGuard guard(a.device());
  int n = a.size(0);
  auto c = torch::empty_like(a);
  dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
  tiled_kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(a.data_ptr<float>(), b.data_ptr<float>(),
                                                                     c.data_ptr<float>(), n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return c;
}

__global__ void reverse_kernel(const float* in, float* out) {
  extern __shared__ float held[];
  held[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}
at::Tensor dynamic_shared(at::Tensor in) {
  auto out = torch::empty_like(in);
  reverse_kernel<<<in.size(0), in.size(1), in.size(1) * sizeof(float)>>>(in.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

template <typename T, int FACTOR>
__global__ void scale_kernel(const T* __restrict__ in, T* __restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * static_cast<T>(FACTOR);
}
at::Tensor dispatch(at::Tensor in) {
  auto out = torch::empty_like(in);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(in.scalar_type(), "dispatch", ([&] {
    scale_kernel<scalar_t, 3><<<(in.numel() + 63) / 64, 64>>>(in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), in.numel());
  }));
  return out;
}

__global__ void float4_kernel(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  out[i] = make_float4(v.w, v.z, v.y, v.x);
}
at::Tensor vector_types(at::Tensor in) {
  auto out = torch::empty_like(in);
  int n = in.numel() / 4;
  float4_kernel<<<(n + 31) / 32, 32>>>(reinterpret_cast<const float4*>(in.data_ptr<float>()),
                                       reinterpret_cast<float4*>(out.data_ptr<float>()), n);
  return out;
}

__global__ void half2_kernel(const __half2* a, const __half2* b, __half2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hfma2(a[i], b[i], __float2half2_rn(1.0f));
}
at::Tensor half_pairs(at::Tensor a, at::Tensor b) {
  auto out = torch::empty_like(a);
  int n = a.numel() / 2;
  half2_kernel<<<(n + 31) / 32, 32>>>(reinterpret_cast<const __half2*>(a.data_ptr<at::Half>()),
                                      reinterpret_cast<const __half2*>(b.data_ptr<at::Half>()),
                                      reinterpret_cast<__half2*>(out.data_ptr<at::Half>()), n);
  return out;
}

__global__ void bfloat_kernel(const __nv_bfloat16* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __bfloat162float(__hmul(in[i], __float2bfloat16(2.0f)));
}
at::Tensor bfloat(at::Tensor in) {
  auto out = torch::empty(in.sizes(), in.options().dtype(torch::kFloat32));
  bfloat_kernel<<<(in.numel() + 31) / 32, 32>>>(reinterpret_cast<const __nv_bfloat16*>(in.data_ptr<at::BFloat16>()),
                                                out.data_ptr<float>(), in.numel());
  return out;
}

__global__ void groups_kernel(const float* in, float* out, int n) {
  __shared__ float partial[8];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  float value = 0;
  for (int i = block.thread_rank(); i < n; i += block.size()) value += in[i];
  value = cg::reduce(tile, value, cg::plus<float>());
  if (tile.thread_rank() == 0) partial[tile.meta_group_rank()] = value;
  block.sync();
  if (block.thread_rank() == 0) {
    float sum = 0;
    for (int w = 0; w < 8; w++) sum += partial[w];
    *out = sum;
  }
}
at::Tensor cooperative_groups_reduce(at::Tensor in) {
  auto out = torch::empty({1}, in.options());
  groups_kernel<<<1, 256>>>(in.data_ptr<float>(), out.data_ptr<float>(), in.numel());
  return out;
}

__global__ void grid_group_kernel(const float* in, float* out, int n, bool together) {
  cg::grid_group grid = cg::this_grid();
  if (together) grid.sync();
  if (grid.dim_blocks().x * blockDim.x * grid.dim_blocks().y != grid.size() || grid.block_rank() >= grid.num_blocks()) return;
  for (auto i = grid.thread_rank(); i < n; i += grid.size()) out[i] = 2 * in[i];
}
at::Tensor grid_group(at::Tensor in, bool together) {
  auto out = torch::empty_like(in);
  grid_group_kernel<<<dim3(3, 2), 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), in.numel(), together);
  return out;
}

__global__ void wmma_f16_kernel(const half* a, const half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(right, b + blockIdx.x * 16 * n + k, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 2.0f;
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}
at::Tensor wmma_f16(at::Tensor a, at::Tensor b_transposed) {
  int n = a.size(0);
  auto c = torch::empty({n, n}, a.options().dtype(torch::kFloat32));
  wmma_f16_kernel<<<dim3(n / 16, n / 16), 32>>>(reinterpret_cast<const half*>(a.data_ptr<at::Half>()),
                                                reinterpret_cast<const half*>(b_transposed.data_ptr<at::Half>()),
                                                c.data_ptr<float>(), n);
  return c;
}

__global__ void wmma_tf32_kernel(const float* a, const float* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 8) {
    wmma::load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(right, b + k * n + blockIdx.x * 16, n);
    for (int i = 0; i < left.num_elements; i++) left.x[i] = wmma::__float_to_tf32(left.x[i]);
    for (int i = 0; i < right.num_elements; i++) right.x[i] = wmma::__float_to_tf32(right.x[i]);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}
at::Tensor wmma_tf32(at::Tensor a, at::Tensor b) {
  int n = a.size(0);
  auto c = torch::empty_like(a);
  wmma_tf32_kernel<<<dim3(n / 16, n / 16), 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), n);
  return c;
}

__constant__ int bin_width;
__global__ void histogram_kernel(const int* in, int* bins, int n) {
  __shared__ int held[16];
  if (threadIdx.x < 16) held[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&held[in[i] / bin_width], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], held[threadIdx.x]);
}
at::Tensor histogram(at::Tensor in, int width) {
  auto bins = torch::zeros({16}, in.options());
  cudaMemcpyToSymbol(bin_width, &width, sizeof(int));
  histogram_kernel<<<(in.numel() + 63) / 64, 64>>>(in.data_ptr<int>(), bins.data_ptr<int>(), in.numel());
  return bins;
}

__global__ void accessor_kernel(torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> in,
                                torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  if (i < in.size(1)) out[i][j] = in[j][i];
}
at::Tensor accessors(at::Tensor in) {
  auto out = torch::empty({in.size(1), in.size(0)}, in.options());
  accessor_kernel<<<dim3((in.size(1) + 31) / 32, in.size(0)), 32>>>(
      in.packed_accessor32<float, 2, torch::RestrictPtrTraits>(), out.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
  return out;
}

__global__ void scan_kernel(const float* in, float* out) {
  float value = in[blockIdx.x * 32 + threadIdx.x];
  for (int delta = 1; delta < 32; delta <<= 1) {
    float before = __shfl_up_sync(0xffffffff, value, delta);
    if (threadIdx.x >= delta) value += before;
  }
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
at::Tensor shuffle_scan(at::Tensor in) {
  auto out = torch::empty_like(in);
  scan_kernel<<<in.numel() / 32, 32>>>(in.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

__global__ void votes_kernel(const int* in, int* out) {
  int value = in[threadIdx.x];
  unsigned odd = __ballot_sync(0xffffffff, value & 1);
  unsigned same = __match_any_sync(0xffffffff, value);
  int largest = __reduce_max_sync(0xffffffff, value);
  unsigned together = 0;
  if (value & 1) together = __activemask();
  int every = __all_sync(0xffffffff, value >= 0), some = __any_sync(0xffffffff, value == largest);
  out[threadIdx.x] = __popc(odd) + 100 * __popc(same) + 10000 * largest + (together == ((value & 1) ? odd : 0) && every && some);
}
at::Tensor warp_votes(at::Tensor in) {
  auto out = torch::empty_like(in);
  votes_kernel<<<1, 32>>>(in.data_ptr<int>(), out.data_ptr<int>());
  return out;
}

__global__ void pipeline_kernel(const float* in, float* out) {
  __shared__ float4 held[32];
  __pipeline_memcpy_async(&held[threadIdx.x], reinterpret_cast<const float4*>(in) + blockIdx.x * 32 + threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  float4 v = held[31 - threadIdx.x];
  reinterpret_cast<float4*>(out)[blockIdx.x * 32 + threadIdx.x] = v;
}
at::Tensor pipeline_copies(at::Tensor in) {
  auto out = torch::empty_like(in);
  pipeline_kernel<<<in.numel() / 128, 32>>>(in.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

at::Tensor runtime_api(at::Tensor in) {
  auto out = torch::empty_like(in);
  size_t bytes = in.numel() * sizeof(float);
  float *device = nullptr, elapsed = -1;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  C10_CUDA_CHECK(cudaStreamCreate(&stream));
  C10_CUDA_CHECK(cudaEventCreate(&start));
  C10_CUDA_CHECK(cudaEventCreate(&stop));
  C10_CUDA_CHECK(cudaMalloc(&device, bytes));
  C10_CUDA_CHECK(cudaMemcpyAsync(device, in.data_ptr<float>(), bytes, cudaMemcpyDeviceToDevice, stream));
  cudaEventRecord(start, stream);
  scale_kernel<float, 5><<<(in.numel() + 63) / 64, 64, 0, stream>>>(device, out.data_ptr<float>(), in.numel());
  cudaEventRecord(stop, stream);
  cudaEventSynchronize(stop);
  cudaEventElapsedTime(&elapsed, start, stop);
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  C10_CUDA_CHECK(cudaFree(device));
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaStreamDestroy(stream);
  TORCH_CHECK(elapsed >= 0 && cudaDeviceSynchronize() == cudaSuccess);
  return out;
}

__global__ void __launch_bounds__(128) double_kernel(const double* __restrict__ in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = rsqrt(__ldg(&in[i])) + fmax(in[i], 2.0);
}
at::Tensor doubles(at::Tensor in) {
  auto out = torch::empty_like(in);
  double_kernel<<<(in.numel() + 127) / 128, 128>>>(in.data_ptr<double>(), out.data_ptr<double>(), in.numel());
  return out;
}

__device__ float atomic_max_float(float* address, float value) {
  int* bits = reinterpret_cast<int*>(address);
  int old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}
__global__ void max_kernel(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomic_max_float(out, in[i]);
}
at::Tensor compare_and_swap(at::Tensor in) {
  auto out = torch::full({1}, -1e30f, in.options());
  max_kernel<<<3, 64>>>(in.data_ptr<float>(), out.data_ptr<float>(), in.numel());
  return out;
}

__device__ unsigned blocks_done;
__global__ void last_block_kernel(const float* in, float* partial, float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < 32; i++) sum += in[blockIdx.x * 32 + i];
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x) return;
  float sum = 0;
  for (int i = 0; i < gridDim.x; i++) sum += partial[i];
  *out = sum;
}
at::Tensor last_block(at::Tensor in) {
  auto out = torch::empty({1}, in.options()), partial = torch::empty({in.numel() / 32}, in.options());
  last_block_kernel<<<in.numel() / 32, 32>>>(in.data_ptr<float>(), partial.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

__global__ void volatile_kernel(const float* in, float* out) {
  __shared__ volatile float held[64];
  int i = threadIdx.x;
  held[i] = in[i];
  held[i + 32] = in[i + 32];
  for (int step = 32; step > 0; step >>= 1) held[i] += held[i + step];
  if (i == 0) *out = held[0];
}
at::Tensor warp_synchronous(at::Tensor in) {
  auto out = torch::empty({1}, in.options());
  volatile_kernel<<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("tiled_matmul", &tiled_matmul, "shared memory tiles", py::arg("a"), py::arg("b"));
  m.def("dynamic_shared", &dynamic_shared);
  m.def("dispatch", &dispatch);
  m.def("vector_types", &vector_types);
  m.def("half_pairs", &half_pairs);
  m.def("bfloat", &bfloat);
  m.def("cooperative_groups_reduce", &cooperative_groups_reduce);
  m.def("grid_group", &grid_group);
  m.def("wmma_f16", &wmma_f16);
  m.def("wmma_tf32", &wmma_tf32);
  m.def("histogram", &histogram, py::arg("in"), py::arg("width") = 4);
  m.def("accessors", &accessors);
  m.def("shuffle_scan", &shuffle_scan);
  m.def("warp_votes", &warp_votes);
  m.def("pipeline_copies", &pipeline_copies);
  m.def("runtime_api", &runtime_api);
  m.def("doubles", &doubles);
  m.def("compare_and_swap", &compare_and_swap);
  m.def("last_block", &last_block);
  m.def("warp_synchronous", &warp_synchronous);
}
