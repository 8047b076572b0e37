// Functions that TORCH_LIBRARY alone registers.
#include <ATen/ATen.h>
#include <torch/library.h>

__global__ void scaled(const float* in, float* out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}

at::Tensor times(const at::Tensor& in, double factor) {
  auto out = at::empty_like(in);
  scaled<<<(in.numel() + 63) / 64, 64>>>(in.data_ptr<float>(), out.data_ptr<float>(), in.numel(), factor);
  return out;
}
void times_into(at::Tensor out, const at::Tensor& in) { out.copy_(times(in, 3.0)); }
at::Tensor on_cpu(const at::Tensor&, double) { TORCH_CHECK(false, "the wrong device"); }
std::tuple<at::Tensor, int64_t> counted(std::vector<at::Tensor> all, bool twice) {
  return {times(all[0], twice ? 2.0 : 1.0), static_cast<int64_t>(all.size())};
}

at::Tensor laid_out(const at::Tensor& in, std::optional<at::MemoryFormat> as) { return in.clone(as); }

TORCH_LIBRARY(audited_operators, m) {
  m.def("laid_out(Tensor x, MemoryFormat? layout=None) -> Tensor", &laid_out);
  m.def("times(Tensor x, float factor=2.0) -> Tensor");
  m.def("times_into(Tensor(a!) out, Tensor x) -> ()", &times_into);
  m.def("counted", counted);
  m.def("nowhere(Tensor x, float factor=2.0) -> Tensor");
}
TORCH_LIBRARY_IMPL(audited_operators, CUDA, m) { m.impl("times", TORCH_FN(times)); }
TORCH_LIBRARY_IMPL(audited_operators, CPU, m) {
  m.impl("times", &on_cpu);
  m.impl("nowhere", &on_cpu);
}
TORCH_LIBRARY_FRAGMENT(audited_operators, m) {
  m.def("more.of_two(Tensor x, float factor) -> Tensor");
  m.impl("more.of_two", torch::dispatch(torch::kCUDA, times));
}
