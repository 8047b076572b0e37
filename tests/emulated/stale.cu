// What volatile orders and what it does not. Block b adds 1 to what block b - 1 has left, so that out[b] is b + 1.
// Blocks wait for earlier ones only. Each takes `bad`; the right twin holds on a GPU with any timing.
#include <torch/extension.h>

__device__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}

// The value, then its flag; bad: without the fence between.
__global__ void no_fence_kernel(volatile float* value, volatile int* flag, float* out, bool bad) {
  int b = blockIdx.x;
  float before = 0.0f;
  if (b) {
    wait_for(flag + b - 1);
    before = value[b - 1];
  }
  value[b] = before + 1.0f;
  if (!bad) __threadfence();
  flag[b] = 1;
  out[b] = before + 1.0f;
}

// Bad: the value is read before the flag that says that it is there.
__global__ void value_first_kernel(volatile float* value, volatile int* flag, float* out, bool bad) {
  int b = blockIdx.x;
  float before = 0.0f;
  if (b) {
    int seen;
    do {
      if (bad) before = value[b - 1];
      seen = flag[b - 1];
    } while (!seen);
    if (!bad) before = value[b - 1];
  }
  value[b] = before + 1.0f;
  __threadfence();
  flag[b] = 1;
  out[b] = before + 1.0f;
}

// The fence is one of the block's: every thread writes, one publishes, every thread polls and reads. Bad: it is missing.
__global__ void whole_block_kernel(volatile float* value, volatile int* flag, float* out, bool bad) {
  int b = blockIdx.x, t = threadIdx.x, n = blockDim.x;
  float before = 0.0f;
  if (b) {
    wait_for(flag + b - 1);
    __syncthreads();
    before = value[(b - 1) * n + (t + 1) % n];
  }
  value[b * n + t] = before + 1.0f;
  __syncthreads();
  if (t == 0) {
    if (!bad) __threadfence();
    flag[b] = 1;
    out[b] = before + 1.0f;
  }
}

// As CUDA's threadFenceReduction: partial sums, a fence, a counter, and the last block adds all of them. Bad: no fence.
__global__ void last_block_kernel(volatile float* value, unsigned* count, float* out, bool bad) {
  int b = blockIdx.x, blocks = gridDim.x;
  value[b] = 1.0f;
  if (!bad) __threadfence();
  if (atomicInc(count, blocks - 1) != blocks - 1u) return;
  float sum = 0.0f;
  for (int i = 0; i < blocks; i++) {
    sum += value[i];
    out[i] = sum;
  }
}

// A release in PTX takes the place of the fence; bad: a relaxed store.
__global__ void release_kernel(volatile float* value, int* flag, float* out, bool bad) {
  int b = blockIdx.x;
  float before = 0.0f;
  if (b) {
    int seen = 0;
    while (!seen) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag + b - 1) : "memory");
    before = value[b - 1];
  }
  value[b] = before + 1.0f;
  if (bad) asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(flag + b) : "memory");
  else asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag + b) : "memory");
  out[b] = before + 1.0f;
}

// Right without a fence: the value says itself whether it is there. Bad: it is read once.
__global__ void sentinel_kernel(volatile float* value, float* out, bool bad) {
  int b = blockIdx.x;
  float before = 0.0f;
  if (b) {
    do before = value[b - 1];
    while (!bad && before == 0.0f);
  }
  value[b] = before + 1.0f;
  out[b] = before + 1.0f;
}

// Block b reads what block 0 wrote, and has seen the flag of block b - 1 alone. Bad: block 0 has no fence.
__global__ void relay_kernel(volatile float* value, volatile int* flag, float* out, bool bad) {
  int b = blockIdx.x;
  if (b == 0) value[0] = 1.0f;
  if (b) wait_for(flag + b - 1);
  if (b && b < 4) out[b] = value[0] + b;
  if (b >= 4 || b == 0) out[b] = b + 1.0f;
  if (!bad) __threadfence();
  flag[b] = 1;
}

constexpr int kBlocks = 8, kThreads = 64;

torch::Tensor run(int which, bool bad) {
  auto value = torch::zeros({kBlocks * kThreads}), flag = torch::zeros({kBlocks}, torch::kInt32), out = torch::zeros({kBlocks});
  float *v = value.data_ptr<float>(), *o = out.data_ptr<float>();
  int* f = flag.data_ptr<int>();
  if (which == 0) no_fence_kernel<<<kBlocks, 1>>>(v, f, o, bad);
  if (which == 1) value_first_kernel<<<kBlocks, 1>>>(v, f, o, bad);
  if (which == 2) whole_block_kernel<<<kBlocks, kThreads>>>(v, f, o, bad);
  if (which == 3) last_block_kernel<<<kBlocks, 1>>>(v, reinterpret_cast<unsigned*>(f), o, bad);
  if (which == 4) release_kernel<<<kBlocks, 1>>>(v, f, o, bad);
  if (which == 5) sentinel_kernel<<<kBlocks, 1>>>(v, o, bad);
  if (which == 6) relay_kernel<<<kBlocks, 1>>>(v, f, o, bad);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
