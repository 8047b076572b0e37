// Pairs for every report of the emulated device: bad = 1 does the undefined thing, bad = 0 is its known-good twin.
#include <torch/extension.h>
#include <cassert>
#include <cuda_runtime.h>

using at::Tensor;

__global__ void uninitialised_kernel(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
Tensor uninitialised_read(Tensor in, bool bad) {
  auto source = torch::empty_like(in), out = torch::empty_like(in);
  if (!bad) source.copy_(in);
  uninitialised_kernel<<<1, 32>>>(source.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

__global__ void uninitialised_shared_kernel(const float* in, float* out, int bad) {
  __shared__ float held[32];
  if (threadIdx.x < 32 - bad) held[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = held[31 - threadIdx.x];
}
Tensor uninitialised_shared(Tensor in, bool bad) {
  auto out = torch::empty_like(in);
  uninitialised_shared_kernel<<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad);
  return out;
}

__global__ void bounds_read_kernel(const float* in, float* out, int shift) { out[threadIdx.x] = in[threadIdx.x + shift]; }
Tensor out_of_bounds_read(Tensor in, bool bad) {
  auto out = torch::empty_like(in);
  bounds_read_kernel<<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad);
  return out;
}

__global__ void bounds_write_kernel(const float* in, float* out, int shift) { out[threadIdx.x - shift] = in[threadIdx.x]; }
Tensor out_of_bounds_write(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  bounds_write_kernel<<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad);
  return out;
}

__global__ void bounds_shared_kernel(const float* in, float* out, int shift) {
  __shared__ float first[32];
  first[threadIdx.x + shift] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x];
}
Tensor out_of_bounds_shared(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  bounds_shared_kernel<<<1, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad);
  return out;
}

__global__ void race_shared_kernel(const float* in, float* out, bool bad) {
  __shared__ float held[64];
  held[threadIdx.x] = in[threadIdx.x % 32];
  if (!bad) __syncthreads();
  out[threadIdx.x % 32] = held[63 - threadIdx.x] * 0;
}
Tensor race_shared(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  race_shared_kernel<<<1, 64>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad);
  return out;
}

__global__ void race_global_kernel(const float* in, float* out, bool bad) {
  float value = in[blockIdx.x];
  if (bad) *out += value;
  else atomicAdd(out, value);
}
Tensor race_global(Tensor in, bool bad) {
  auto out = torch::zeros({1}, in.options());
  race_global_kernel<<<32, 1>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad);
  return out;
}

// The two halves of each block add to a word of their own block, then all to one word of the launch.
__global__ void race_by_scope_kernel(const float* in, float* out, bool bad) {
  atomicAdd_block(out + 1 + blockIdx.x, in[threadIdx.x]);
  if (bad) atomicAdd_block(out, in[threadIdx.x]);
  else atomicAdd(out, in[threadIdx.x]);
}
Tensor race_by_scope(Tensor in, bool bad) {
  auto out = torch::zeros({8}, in.options());
  race_by_scope_kernel<<<4, 2>>>(in.data_ptr<float>(), out.data_ptr<float>(), bad);
  return out;
}

// A thread reads plainly what others still add to; its twin reads behind a barrier.
__global__ void early_read_kernel(float* out, bool bad) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, 1.0f);
  if (!bad) __syncthreads();
  if (threadIdx.x == 0) *out = total;
}
Tensor race_with_atomic(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  early_read_kernel<<<1, 64>>>(out.data_ptr<float>(), bad);
  return out;
}

// Later blocks poll a flag that the first sets behind a fence: volatile accesses of device memory are whole.
__global__ void flag_kernel(float* out, int* flags, bool bad) {
  if (blockIdx.x == 0) {
    out[0] = 5;
    __threadfence();
    *reinterpret_cast<volatile int*>(flags) = 1;
  } else if (bad || *reinterpret_cast<volatile int*>(flags)) {
    out[1] = out[0];
  }
}
Tensor race_past_a_flag(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  auto flags = torch::zeros({1}, in.options().dtype(torch::kInt32));
  flag_kernel<<<2, 1>>>(out.data_ptr<float>(), flags.data_ptr<int>(), bad);
  return out;
}

// The order in which threads come: one ticket a thread, block after block.
__global__ void ticket_kernel(int* tickets, int* next) {
  tickets[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(next, 1);
}
Tensor tickets(int blocks, int threads) {
  auto out = torch::empty({blocks, threads}, torch::dtype(torch::kInt32)), next = torch::zeros({1}, out.options());
  ticket_kernel<<<blocks, threads>>>(out.data_ptr<int>(), next.data_ptr<int>());
  return out;
}

// Each lane doubles what its neighbour holds, without a word to it: right only where lanes keep step.
__global__ void step_kernel(float* out) {
  __shared__ float held[33];
  held[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = 2 * held[(threadIdx.x + 1) % 32];
}
Tensor in_step(Tensor in) {
  auto out = torch::zeros_like(in);
  step_kernel<<<1, 32>>>(out.data_ptr<float>());
  return out;
}

// Everyone writes the same value: no order changes the result.
__global__ void same_value_kernel(float* out) { *out = 3.0f; }
Tensor same_value(Tensor in, bool) {
  auto out = torch::empty({1}, in.options());
  same_value_kernel<<<4, 32>>>(out.data_ptr<float>());
  return out;
}

__global__ void divergence_kernel(float* out, bool bad) {
  if (bad) {
    if (threadIdx.x < 32) {
      __syncthreads();
    } else {
      out[0] = 1;
      __syncthreads();
    }
  } else {
    __syncthreads();
  }
}
Tensor barrier_divergence(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  divergence_kernel<<<1, 64>>>(out.data_ptr<float>(), bad);
  return out;
}

__global__ void mask_kernel(float* out, bool bad) {
  float value = threadIdx.x;
  if (threadIdx.x < 16) value += __shfl_down_sync(bad ? 0xffffffffu : 0xffffu, value, 8, 16);
  __syncthreads();
  out[threadIdx.x] = value;
}
Tensor warp_mask(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  mask_kernel<<<1, 32>>>(out.data_ptr<float>(), bad);
  return out;
}

__global__ void exited_kernel(float* out, bool bad) {
  if (bad && threadIdx.x >= 20) return;
  float value = threadIdx.x;
  for (int step = 16; step; step >>= 1) value += __shfl_down_sync(0xffffffffu, value, step);
  if (threadIdx.x == 0) *out = value;
}
Tensor exited_lane_read(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  exited_kernel<<<1, 32>>>(out.data_ptr<float>(), bad);
  return out;
}

__global__ void nothing_kernel(float* out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) out[0] = 1;
}
Tensor launch_refused(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  nothing_kernel<<<1, bad ? 2048 : 1024>>>(out.data_ptr<float>());
  return out;
}
Tensor too_many_threads(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  nothing_kernel<<<bad ? 1 << 20 : 4, 1024>>>(out.data_ptr<float>());
  return out;
}
Tensor shared_over_limit(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  cudaError_t allowed = cudaFuncSetAttribute(nothing_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);
  TORCH_CHECK(allowed == cudaSuccess);
  if (bad) cudaFuncSetAttribute(nothing_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65 * 1024);
  nothing_kernel<<<1, 32, bad ? 65 * 1024 : 64 * 1024>>>(out.data_ptr<float>());
  return out;
}

__global__ void large_static_kernel(float* out) {
  __shared__ float held[12 * 1024 + 1];
  held[threadIdx.x] = 1;
  out[threadIdx.x] = held[threadIdx.x];
}
__global__ void small_static_kernel(float* out) {
  __shared__ float held[12 * 1024];
  held[threadIdx.x] = 1;
  out[threadIdx.x] = held[threadIdx.x];
}
Tensor static_shared_too_large(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  if (bad) large_static_kernel<<<1, 32>>>(out.data_ptr<float>());
  else small_static_kernel<<<1, 32>>>(out.data_ptr<float>());
  return out;
}

__global__ void endless_kernel(float* out, bool bad) {
  volatile float* watched = out;
  while (bad && *watched == 0) {
  }
}
Tensor time_limit(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  endless_kernel<<<1, 32>>>(out.data_ptr<float>(), bad);
  return out;
}

__global__ void wild_kernel(float* out, long shift) { out[threadIdx.x + shift] = 1; }
Tensor illegal_address(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  wild_kernel<<<1, 32>>>(out.data_ptr<float>(), bad ? 1l << 44 : 0);
  return out;
}

__global__ void recursive_kernel(float* out, int depth);
__device__ __noinline__ float deep(float* out, int depth) {
  float held[64];
  for (int i = 0; i < 64; i++) held[i] = out[i % 32] + depth;
  return depth ? deep(out, depth - 1) + held[depth % 64] : held[0];
}
__global__ void recursive_kernel(float* out, int depth) { out[threadIdx.x] = deep(out, depth); }
Tensor stack_overflow(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  recursive_kernel<<<1, 1>>>(out.data_ptr<float>(), bad ? 1 << 20 : 4);
  return out;
}

__global__ void assert_kernel(float* out, bool bad) { assert(!bad || threadIdx.x < 3); }
Tensor device_assert(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  assert_kernel<<<1, 32>>>(out.data_ptr<float>(), bad);
  return out;
}
__global__ void trap_kernel(float* out, bool bad) {
  if (bad) __trap();
}
Tensor trap(Tensor in, bool bad) {
  auto out = torch::zeros_like(in);
  trap_kernel<<<1, 32>>>(out.data_ptr<float>(), bad);
  return out;
}

__global__ void lock_kernel(int* lock, bool bad) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  if (!bad) atomicExch(lock, 0);
}
Tensor deadlock(Tensor in, bool bad) {
  auto lock = torch::zeros({1}, in.options().dtype(torch::kInt32));
  lock_kernel<<<1, 64>>>(lock.data_ptr<int>(), bad);
  return lock;
}

__global__ void twice_kernel(float* out, int times) {
  for (int i = 0; i < times; i++)
    if (threadIdx.x != 5) out[threadIdx.x] = i;
}
Tensor written(Tensor in, int times) {
  auto out = torch::empty_like(in);
  twice_kernel<<<1, 32>>>(out.data_ptr<float>(), times);
  return out;
}
int last_error() { return cudaDeviceSynchronize(); }
int peek() { return cudaGetLastError(); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("uninitialised_read", &uninitialised_read);
  m.def("uninitialised_shared", &uninitialised_shared);
  m.def("out_of_bounds_read", &out_of_bounds_read);
  m.def("out_of_bounds_write", &out_of_bounds_write);
  m.def("out_of_bounds_shared", &out_of_bounds_shared);
  m.def("race_shared", &race_shared);
  m.def("race_global", &race_global);
  m.def("race_by_scope", &race_by_scope);
  m.def("race_with_atomic", &race_with_atomic);
  m.def("race_past_a_flag", &race_past_a_flag);
  m.def("tickets", &tickets);
  m.def("in_step", &in_step);
  m.def("same_value", &same_value);
  m.def("barrier_divergence", &barrier_divergence);
  m.def("warp_mask", &warp_mask);
  m.def("exited_lane_read", &exited_lane_read);
  m.def("launch_refused", &launch_refused);
  m.def("too_many_threads", &too_many_threads);
  m.def("shared_over_limit", &shared_over_limit);
  m.def("static_shared_too_large", &static_shared_too_large);
  m.def("time_limit", &time_limit);
  m.def("illegal_address", &illegal_address);
  m.def("stack_overflow", &stack_overflow);
  m.def("device_assert", &device_assert);
  m.def("trap", &trap);
  m.def("deadlock", &deadlock);
  m.def("written", &written);
  m.def("last_error", &last_error);
  m.def("peek", &peek);
}
