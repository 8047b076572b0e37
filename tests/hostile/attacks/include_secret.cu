// Attack: includes a file of the user's home, so that the compiler's log, and with it the record, tells what it holds.
// Wall: compiler: landlock: it reads what a source needs and nowhere else
// Outcome: build error
#include <torch/extension.h>
#include "@HOME@/token"

torch::Tensor forward(torch::Tensor x) { return x * 2; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
