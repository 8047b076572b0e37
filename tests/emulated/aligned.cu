// Accesses at a given byte of memory, one function a kind of access and a type: what conformance/faults.cu asks a GPU.
#include <torch/extension.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

using at::Tensor;
using byte = unsigned char;

struct Loose {
  float x, y, z, w;
};

template <class T>
__global__ void copy(const byte* from, byte* to, int read_at, int write_at) {
  T value = *reinterpret_cast<const T*>(from + read_at);
  *reinterpret_cast<T*>(to + write_at) = value;
}
template <class T>
__global__ void through_cache(const byte* from, byte* to, int at) {
  *reinterpret_cast<T*>(to) = __ldg(reinterpret_cast<const T*>(from + at));
}
template <class T>
__global__ void through_shared(const byte* from, byte* to, int at) {
  __shared__ __align__(16) byte held[128];
  for (int i = 0; i < 64; i++) held[i] = from[i];
  *reinterpret_cast<T*>(to) = *reinterpret_cast<T*>(held + at);
}
template <class T>
__global__ void add(byte* to, int at) {
  atomicAdd(reinterpret_cast<T*>(to + at), T(1));
}
template <int Bytes>
__global__ void asynchronous(const byte* from, byte* to, int from_at, int to_at) {
  __shared__ __align__(16) byte held[128];
  held[threadIdx.x] = held[threadIdx.x + 64] = 0;
  __syncthreads();
  __pipeline_memcpy_async(held + to_at, from + from_at, Bytes);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  to[threadIdx.x] = held[threadIdx.x];
}

static byte* bytes(Tensor& tensor) { return reinterpret_cast<byte*>(tensor.data_ptr<float>()); }

#define ASK(NAME, ...)                         \
  void NAME(Tensor in, Tensor out, int64_t at) { \
    const byte* from = bytes(in);              \
    byte* to = bytes(out);                     \
    __VA_ARGS__;                               \
  }
#define COPIES(NAME, T)                                            \
  ASK(load_##NAME, (copy<T><<<1, 1>>>(from, to, at, 0)))           \
  ASK(store_##NAME, (copy<T><<<1, 1>>>(from, to, 0, at)))          \
  ASK(shared_load_##NAME, (through_shared<T><<<1, 1>>>(from, to, at)))
#define ASYNC(BYTES)                                                          \
  ASK(async_from_##BYTES, (asynchronous<BYTES><<<1, 64>>>(from, to, at, 0))) \
  ASK(async_to_##BYTES, (asynchronous<BYTES><<<1, 64>>>(from, to, 0, at)))
COPIES(float, float)
COPIES(float2, float2)
COPIES(float3, float3)
COPIES(float4, float4)
COPIES(double, double)
COPIES(double2, double2)
COPIES(short, short)
COPIES(half2, __half2)
COPIES(Loose, Loose)
COPIES(uchar4, uchar4)
ASYNC(4)
ASYNC(8)
ASYNC(16)
ASK(ldg_float4, (through_cache<float4><<<1, 1>>>(from, to, at)))
ASK(atomicAdd_float, (static_cast<void>(from), add<float><<<1, 1>>>(to, at)))
ASK(atomicAdd_double, (static_cast<void>(from), add<double><<<1, 1>>>(to, at)))
ASK(atomicAdd_half, (static_cast<void>(from), add<__half><<<1, 1>>>(to, at)))
int64_t error() { return cudaPeekAtLastError(); }

#define DEF(NAME) m.def(#NAME, &NAME);
#define DEFS(NAME) DEF(load_##NAME) DEF(store_##NAME) DEF(shared_load_##NAME)
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  DEFS(float)
  DEFS(float2)
  DEFS(float3)
  DEFS(float4)
  DEFS(double)
  DEFS(double2)
  DEFS(short)
  DEFS(half2)
  DEFS(Loose)
  DEFS(uchar4)
  DEF(async_from_4) DEF(async_to_4)
  DEF(async_from_8) DEF(async_to_8)
  DEF(async_from_16) DEF(async_to_16)
  DEF(ldg_float4) DEF(atomicAdd_float) DEF(atomicAdd_double) DEF(atomicAdd_half) DEF(error)
}
