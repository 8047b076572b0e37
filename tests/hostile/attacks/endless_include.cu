// Attack: includes a device that never comes to its end.
// Wall: compiler: it reads what a source needs, and has so much memory and wall clock
// Outcome: build error: memory
// Outcome on cuda: build error: had not ended after 30 s
#include <torch/extension.h>
#include "/dev/zero"

torch::Tensor forward(torch::Tensor x) { return x * 2; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
