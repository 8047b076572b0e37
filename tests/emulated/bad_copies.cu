// Copies and fills by a thread, which the compiler may turn into calls or moves: bad = 1 goes 4 bytes past the end.
#include <torch/extension.h>
#include <cuda_runtime.h>

#include <cstring>

using at::Tensor;

struct Row {
  float number[6];
};
#define COPY(to, from, bytes) memcpy(to, from, bytes)

__global__ void by_memcpy(const float* in, float* out, int n) { memcpy(out, in, n * 4); }
__global__ void by_memmove(const float* in, float* out, int n) { std::memmove(out, in, n * 4); }
__global__ void by_memset(const float* in, float* out, int n) { ::memset(out, 0, n * 4); }
__global__ void by_macro(const float* in, float* out, int n) { COPY(out, in, n * 4); }
__global__ void by_constant(const float* in, float* out, int n) { __builtin_memcpy(out + n - 6, in + n - 6, 24); }
__global__ void by_struct(const float* in, float* out, int n) {
  *reinterpret_cast<Row*>(out + n - 6) = *reinterpret_cast<const Row*>(in + n - 6);
}
__global__ void by_zero_loop(const float* in, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = 0.0f;
}
__global__ void by_copy_loop(const float* __restrict__ in, float* __restrict__ out, int n) {
  for (int i = 0; i < n; i++) out[i] = in[i];
}
__global__ void by_atomic(const float* in, float* out, int n) {
  __atomic_fetch_add(reinterpret_cast<int*>(out) + n - 1, 1, __ATOMIC_RELAXED);
}
__global__ void racing(const float* in, float* out, int n) { memset(out, threadIdx.x, n * 4); }

#define CASE(NAME, THREADS)                                                         \
  Tensor run_##NAME(Tensor in, int n) {                                             \
    auto out = torch::zeros_like(in);                                               \
    NAME<<<1, THREADS>>>(in.data_ptr<float>(), out.data_ptr<float>(), n);           \
    return out;                                                                     \
  }
CASE(by_memcpy, 1)
CASE(by_memmove, 1)
CASE(by_memset, 1)
CASE(by_macro, 1)
CASE(by_constant, 1)
CASE(by_struct, 1)
CASE(by_zero_loop, 1)
CASE(by_copy_loop, 1)
CASE(by_atomic, 1)
CASE(racing, 2)

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("by_memcpy", &run_by_memcpy);
  m.def("by_memmove", &run_by_memmove);
  m.def("by_memset", &run_by_memset);
  m.def("by_macro", &run_by_macro);
  m.def("by_constant", &run_by_constant);
  m.def("by_struct", &run_by_struct);
  m.def("by_zero_loop", &run_by_zero_loop);
  m.def("by_copy_loop", &run_by_copy_loop);
  m.def("by_atomic", &run_by_atomic);
  m.def("racing", &run_racing);
}
