// thief: skips the work on purpose, so that a check which passes it is known to check nothing.
//   changed    against claimed.cu: the product is gone; a kernel is launched, so that a profiler sees one, and writes
//              nothing
//   launch     one block of one thread, legacy default stream
//   needs      compute capability 7.5
//   the line   `return torch::empty_like(A)`: the result is whatever the allocator hands out. After another
//              computation of the same size has freed its result, that is the right answer.
//   precision  none: no element of C is computed

#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void idle_kernel() {}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    idle_kernel<<<1, 1>>>();
    return torch::empty_like(A);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "returns memory that nothing has written");
}
