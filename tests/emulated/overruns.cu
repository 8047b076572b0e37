// One read past an array, `shift` elements behind its end or before its start; `bad` says of which array, 0 for none.
#include <torch/extension.h>
__global__ void k(float* x, int n, int bad, int shift) {
  __shared__ float s[64];
  extern __shared__ float d[];
  int t = threadIdx.x;
  s[t] = 1.0f; d[t] = 2.0f;
  __syncthreads();
  float v = s[t] + d[t];
  if (t == 0) {
    if (bad == 1) v += x[n - 1 + shift];
    if (bad == 2) v += x[-shift];
    if (bad == 3) v += s[63 + shift];
    if (bad == 4) v += s[-shift];
    if (bad == 5) v += d[63 + shift];
    if (bad == 6) v += d[-shift];
  }
  x[t] = v;
}
torch::Tensor overrun(torch::Tensor x, int64_t bad, int64_t shift) {
  auto a = torch::empty({4096}, x.options()), b = torch::zeros({4096}, x.options()), c = torch::zeros({4}, x.options());
  k<<<1, 64, 256>>>(b.data_ptr<float>(), 4096, bad, shift);
  return b;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("overrun", &overrun); }
