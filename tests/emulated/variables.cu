// Accesses of variables at file scope: `shift` elements past the end of one, 0 for inside; copies to and from them.
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <array>
using torch::Tensor;

__constant__ float weights[1024];
static __constant__ float scales[1024];
__device__ float table[100];
namespace part {
namespace {
__device__ static float hidden[9];
}
}  // namespace part
__device__ float given[] = {1.0f, 2.0f, 3.0f};
__device__ __constant__ alignas(16) std::array<float, 90> numbers;
__device__ const float fixed[4] = {1, 2, 3, 4};
__constant__ struct Sizes {
  float n[3];
} sizes;
__constant__ float one, *pointers[2], two[7];
__device__ volatile int flag;
static constexpr __device__ float known[4] = {1, 2, 3, 4};
__device__ auto twice = [](float x) { return 2 * x; };
template <class T>
__device__ T of_type[3];
struct Holder {
  static constexpr __device__ float member[2] = {1, 2};
};
__device__ float scaled(float x);
__device__ __forceinline__ float doubled(float x) { return of_type<float>[0] + twice(x) + known[3] + Holder::member[1]; }
#define FACTORS(NAME) __constant__ float NAME[4]
FACTORS(macros);
static float of_host[64];

__device__ float* place(int which) {
  switch (which) {
    case 0: return weights;
    case 1: return scales;
    case 2: return table;
    case 3: return part::hidden;
    case 4: return given;
    case 5: return numbers.data();
    case 6: return sizes.n;
    default: return two;
  }
}
__device__ int length(int which) {
  const int lengths[] = {1024, 1024, 100, 9, 3, 90, 3, 7};
  return lengths[which];
}

__global__ void read_kernel(float* out, int which, int shift) {
  out[threadIdx.x] = place(which)[length(which) - 1 + shift] + doubled(one) + fixed[shift ? 3 : 2] + macros[1] + (pointers[0] != nullptr);
  if (threadIdx.x == 0) flag = 1;
}
Tensor reads(Tensor in, int64_t which, int64_t shift) {
  auto out = torch::zeros_like(in);
  read_kernel<<<1, 2>>>(out.data_ptr<float>(), which, shift);
  return out;
}
__global__ void wide_kernel(float* out, int at) {
  *reinterpret_cast<float2*>(out) = *reinterpret_cast<float2*>(numbers.data() + at);
}
Tensor reads_wide(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  wide_kernel<<<1, 1>>>(out.data_ptr<float>(), bad ? 90 : 88);
  return out;
}
__global__ void write_kernel(float* to, float* out, int which, int shift) {
  float* start = to ? to : place(which);
  start[length(which) - 1 + shift] = 7.0f;
  out[threadIdx.x] = start[0];
}
Tensor writes(Tensor in, int64_t which, int64_t shift) {
  auto out = torch::zeros_like(in);
  write_kernel<<<1, 1>>>(nullptr, out.data_ptr<float>(), which, shift);
  return out;
}
Tensor write_by_address(Tensor in) {
  auto out = torch::zeros_like(in);
  void* address;
  cudaGetSymbolAddress(&address, sizes);
  write_kernel<<<1, 1>>>(static_cast<float*>(address), out.data_ptr<float>(), 6, 0);
  return out;
}

// Each copy of a kind alone: CUDA's number, then what the variable holds.
Tensor copied(Tensor in, int64_t which) {
  std::vector<float> host(4096, 3.0f), back(2, 0.0f);
  float* device = in.data_ptr<float>();
  cudaMemset(device, 0, 16);
  cudaMemcpyToSymbol(weights, device, 16, 0, cudaMemcpyDeviceToDevice);
  int code = 0;
  switch (which) {
    case 0: code = cudaMemcpyToSymbol(weights, host.data(), 4096); break;
    case 1: code = cudaMemcpyToSymbol(weights, host.data(), 4097); break;
    case 2: code = cudaMemcpyToSymbol(weights, host.data(), 4096, 4); break;
    case 3: code = cudaMemcpyToSymbol(weights, host.data(), 0, 5000); break;
    case 4: code = cudaMemcpyToSymbol(weights, host.data(), 16, 0, cudaMemcpyDeviceToHost); break;
    case 5: code = cudaMemcpyToSymbol(weights, host.data(), 16, 0, cudaMemcpyHostToHost); break;
    case 6: code = cudaMemcpyToSymbol(weights, host.data(), 0, 0, cudaMemcpyDeviceToHost); break;
    case 7: code = cudaMemcpyToSymbol(weights, host.data(), 16, 0, cudaMemcpyDeviceToDevice); break;
    case 8: code = cudaMemcpyFromSymbol(host.data(), weights, 4097); break;
    case 9: code = cudaMemcpyFromSymbol(host.data(), weights, 16, 0, cudaMemcpyHostToDevice); break;
    case 10: code = cudaMemcpyFromSymbol(host.data(), weights, 16, std::size_t(-4)); break;
    case 11: code = cudaMemcpyFromSymbol(host.data(), weights, 16, 0, cudaMemcpyDeviceToDevice); break;
    case 12: code = cudaMemcpyToSymbol(table, host.data(), 404); break;
    default: code = cudaMemcpyToSymbol(weights, host.data(), 16, 0, cudaMemcpyDefault);
  }
  cudaGetLastError();
  cudaMemcpyFromSymbol(back.data(), weights, 8);
  return torch::tensor({static_cast<float>(code), back[0]});
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("reads", &reads);
  m.def("reads_wide", &reads_wide);
  m.def("writes", &writes);
  m.def("write_by_address", &write_by_address);
  m.def("copied", &copied);
}
