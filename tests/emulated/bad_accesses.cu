// Pairs for what a GPU holds accesses, launches and copies to: bad = 1 breaks the rule, bad = 0 is its right twin.
#include <torch/extension.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <array>
#include <vector>

using at::Tensor;
using namespace nvcuda;

constexpr int kMost = 64;
#define BOUNDED __launch_bounds__(2 * kMost)
struct alignas(16) Quad {
  int number;
  float rest[3];
};
struct alignas(64) Wide {
  float4 a, b, c, d;
};

// 577 floats a row: only every fourth row starts at a multiple of 16 bytes.
__global__ void rows_kernel(const float* in, float* out, int columns) {
  const float4* row = reinterpret_cast<const float4*>(in + threadIdx.x * columns);
  const float4 four = row[0];
  out[threadIdx.x] = four.x + four.w;
}
Tensor pitch(Tensor in, bool bad) {
  auto out = torch::zeros({32}, in.options());
  rows_kernel<<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad ? 577 : 576);
  return out;
}

template <class T>
__global__ void load_kernel(const unsigned char* in, unsigned char* out, int at) {
  T value = *reinterpret_cast<const T*>(in + at);
  *reinterpret_cast<T*>(out) = value;
}
template <class T>
__global__ void store_kernel(const unsigned char* in, unsigned char* out, int at) {
  T value = *reinterpret_cast<const T*>(in);
  reinterpret_cast<T*>(out + at)[1] = value;
}
// Of the source, beside CUDA's function, which a compiler takes where both fit.
template <class T>
__device__ T __ldg(const T* place) {
  return *place;
}
template <class T>
__global__ void cached_kernel(const unsigned char* in, unsigned char* out, int at) {
  *reinterpret_cast<T*>(out) = __ldg(reinterpret_cast<const T*>(in + at));
}
template <class T>
__global__ void shared_kernel(const unsigned char* in, unsigned char* out, int at) {
  __shared__ unsigned char held[256];
  for (int i = 0; i < 256; i++) held[i] = in[i];
  *reinterpret_cast<T*>(out) = *reinterpret_cast<T*>(held + at);
}
template <class T, int Smaller>
Tensor load(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  load_kernel<T><<<1, 1>>>((unsigned char*)in.data_ptr(), (unsigned char*)out.data_ptr(), bad ? Smaller : 16);
  return out;
}
template <class T, int Smaller>
Tensor store(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  store_kernel<T><<<1, 1>>>((unsigned char*)in.data_ptr(), (unsigned char*)out.data_ptr(), bad ? Smaller : 16);
  return out;
}
Tensor cached(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  cached_kernel<float4><<<1, 1>>>((unsigned char*)in.data_ptr(), (unsigned char*)out.data_ptr(), bad ? 4 : 16);
  return out;
}
Tensor shared(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  shared_kernel<float4><<<1, 1>>>((unsigned char*)in.data_ptr(), (unsigned char*)out.data_ptr(), bad ? 4 : 16);
  return out;
}

// Known-good: three floats need 4 bytes, no access is wider than 16, a member of a misaligned vector needs its own alignment, and local arrays lie in
// registers or where their compiler puts them.
__global__ void loose_kernel(const float* in, float* out) {
  float3 three = *reinterpret_cast<const float3*>(in + 1);
  Wide wide = *reinterpret_cast<const Wide*>(in + 4);
  float one = reinterpret_cast<const float4*>(in + 1)->y;
  float local[9];
  for (int i = 0; i < 9; i++) local[i] = in[i];
  float4 four = *reinterpret_cast<float4*>(local + 1);
  out[0] = three.x + one + four.w + wide.b.x;
}
Tensor loose(Tensor in, bool) {
  auto out = torch::zeros_like(in);
  loose_kernel<<<1, 1>>>(in.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

__global__ void __launch_bounds__(kMost) bounded_kernel(float* out) { out[threadIdx.x] = 1; }
Tensor bounds(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  bounded_kernel<<<1, kMost + bad>>>(out.data_ptr<float>());
  return out;
}
template <int Threads>
__global__ void __launch_bounds__(Threads,
                                  2) template_kernel(float* out) {
  out[threadIdx.y] = 1;
}
Tensor template_bounds(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  template_kernel<32><<<1, dim3(1, bad ? 33 : 32)>>>(out.data_ptr<float>());
  return out;
}
BOUNDED __global__ void named_kernel(float* out) { out[threadIdx.x] = 1; }
Tensor named_bounds(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  named_kernel<<<1, bad ? 256 : 128>>>(out.data_ptr<float>());
  return out;
}

// 65,536 bytes together, in every spelling.
__constant__ float table[16][1000] = {{1.0f}, {2.0f, 3.0f}}, tail[120];
namespace part {
namespace {
__device__ __constant__ alignas(16) std::array<int, 90> numbers;
}
}  // namespace part
static __constant__ const int ends[2] = {3, 4};
__constant__ unsigned char last[1536 - 480 - 360 - 8
#ifdef ONE_MORE
                                + 1
#endif
];
__global__ void constants_kernel(float* out) { out[0] = table[1][1] + tail[2] + part::numbers[3] + ends[1] + last[0]; }
Tensor constants(Tensor in, bool) {
  auto out = torch::zeros_like(in);
  constants_kernel<<<1, 1>>>(out.data_ptr<float>());
  return out;
}

// What a copy answers whose kind says that memory of the host is a device's; CUDA's number, 0 for its twin.
Tensor copies(Tensor in, bool bad) {
  std::vector<float> host(64, 2.0f);
  float local[4] = {1, 2, 3, 4};
  auto out = torch::zeros_like(in);
  float *device = out.data_ptr<float>(), *pinned;
  cudaMallocHost(&pinned, 256);
  std::vector<int> codes;
  codes.push_back(cudaMemcpy(device, host.data(), 256, bad ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice));
  codes.push_back(cudaMemcpy(host.data(), device, 256, bad ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost));
  codes.push_back(cudaMemcpyAsync(device, local, 16, bad ? cudaMemcpyDeviceToHost : cudaMemcpyDefault));
  codes.push_back(cudaMemcpy2D(local, 8, device, 8, 8, 2, bad ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost));
  codes.push_back(cudaMemset(bad ? local : device, 0, 16));
  codes.push_back(cudaMemcpyToSymbol(table, host.data(), 16, 4, bad ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice));
  codes.push_back(cudaMemcpyToSymbolAsync(table, local, 16, 0, bad ? cudaMemcpyHostToHost : cudaMemcpyDefault));
  codes.push_back(cudaMemcpyFromSymbol(local, table, 16, 4, bad ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost));
  codes.push_back(cudaMemcpyFromSymbol(local, table, 16, bad ? sizeof(table) - 12 : sizeof(table) - 16));
  codes.push_back(cudaMemcpyToSymbol(table, bad ? local : device, 16, 0, cudaMemcpyDeviceToDevice));
  codes.push_back(cudaMemcpyToSymbol(table, bad ? host.data() : pinned, bad ? 1 << 20 : 256));
  void* symbol;
  cudaGetSymbolAddress(&symbol, tail);
  codes.push_back(bad ? 1 : cudaMemcpy(symbol, host.data(), 16, cudaMemcpyHostToDevice));
  codes.push_back(bad ? 1 : cudaMemcpy(local, host.data(), 16, cudaMemcpyHostToHost));
  cudaFreeHost(pinned);
  return torch::tensor(codes, torch::kInt32);
}

template <class T, int K>
__global__ void tile_kernel(const float* in, float* out, int from, int to) {
  wmma::fragment<wmma::matrix_a, 16, 16, K, T, wmma::row_major> a;
  wmma::fragment<wmma::accumulator, 16, 16, K, float> sum;
  wmma::load_matrix_sync(a, reinterpret_cast<const typename decltype(a)::storage_element_type*>(in), from);
  wmma::fill_fragment(sum, static_cast<float>(a.x[0]));
  wmma::store_matrix_sync(out, sum, to, wmma::mem_row_major);
}
Tensor half_stride(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  tile_kernel<__half, 16><<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad ? 20 : 24, 20);
  return out;
}
Tensor float_stride(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  tile_kernel<wmma::precision::tf32, 8><<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), 12, bad ? 18 : 20);
  return out;
}
__global__ void local_kernel(const float* in, float* out, bool bad) {
  const float own = in[threadIdx.x];
  out[threadIdx.x] = __ldg(bad ? &own : in + threadIdx.x);
}
__global__ void held_kernel(const float* in, float* out, bool bad) {
  __shared__ float held[32];
  held[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = __ldg(bad ? held + threadIdx.x : in + threadIdx.x);
}
Tensor read_only_local(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  local_kernel<<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad);
  return out;
}
Tensor read_only_shared(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  held_kernel<<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad);
  return out;
}
int peek() { return cudaGetLastError(); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("pitch", &pitch);
  m.def("load_float", &load<float, 2>);
  m.def("store_float", &store<float, 2>);
  m.def("load_float2", &load<float2, 4>);
  m.def("store_float2", &store<float2, 4>);
  m.def("load_float4", &load<float4, 8>);
  m.def("store_float4", &store<float4, 8>);
  m.def("load_int4", &load<int4, 4>);
  m.def("store_int4", &store<int4, 4>);
  m.def("load_double2", &load<double2, 8>);
  m.def("store_double2", &store<double2, 8>);
  m.def("load_longlong2", &load<longlong2, 8>);
  m.def("store_longlong2", &store<longlong2, 8>);
  m.def("load_half2", &load<__half2, 2>);
  m.def("store_half2", &store<__half2, 2>);
  m.def("load_bfloat162", &load<__nv_bfloat162, 2>);
  m.def("store_bfloat162", &store<__nv_bfloat162, 2>);
  m.def("load_quad", &load<Quad, 4>);
  m.def("store_quad", &store<Quad, 4>);
  m.def("cached", &cached);
  m.def("shared", &shared);
  m.def("loose", &loose);
  m.def("bounds", &bounds);
  m.def("template_bounds", &template_bounds);
  m.def("named_bounds", &named_bounds);
  m.def("constants", &constants);
  m.def("copies", &copies);
  m.def("half_stride", &half_stride);
  m.def("float_stride", &float_stride);
  m.def("read_only_local", &read_only_local);
  m.def("read_only_shared", &read_only_shared);
  m.def("peek", &peek);
}
