// mechanism: blocks add to one number without an atomic operation, so additions are lost
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void loss_kernel(const float* logits, const int64_t* target, const int64_t* counted, float* loss, int classes) {
  __shared__ float partial[256];
  const int tid = threadIdx.x;
  const float* in = logits + static_cast<int64_t>(blockIdx.x) * classes;

  float top = -INFINITY;
  for (int c = tid; c < classes; c += blockDim.x) top = fmaxf(top, in[c]);
  partial[tid] = top;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) partial[tid] = fmaxf(partial[tid], partial[tid + s]);
    __syncthreads();
  }
  top = partial[0];
  __syncthreads();

  float sum = 0.0f;
  for (int c = tid; c < classes; c += blockDim.x) sum += expf(in[c] - top);
  partial[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();
  }

  if (tid == 0) {
    const int64_t label = target[blockIdx.x];
    if (label != -100) {
      const float row_loss = logf(partial[0]) - (in[label] - top);
      loss[0] += row_loss / static_cast<float>(counted[0]);
    }
  }
}

torch::Tensor forward(torch::Tensor logits, torch::Tensor target) {
  logits = logits.contiguous();
  target = target.contiguous();
  auto loss = torch::zeros({}, logits.options());
  auto counted = target.ne(-100).sum();
  loss_kernel<<<logits.size(0), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      logits.data_ptr<float>(), target.data_ptr<int64_t>(), counted.data_ptr<int64_t>(), loss.data_ptr<float>(),
      logits.size(1));
  return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
