// claimed: a linear layer whose work the library does. OUR RECONSTRUCTION of the published mechanism, written from its
// description; not the published text.
//   task       x: (rows, inputs), weight: (outputs, inputs), bias: outputs, float32, on a GPU; y: (rows, outputs)
//   changed    nothing yet: the first file of the ladder
//   launch     none of its own
//   needs      what the library needs
//   the line   `at::addmm(bias, x, weight.t())`: there is no kernel in this file
//   precision  the library's float32

#include <torch/extension.h>

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    return at::addmm(bias, x, weight.t());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "linear layer (CUDA)");
}
