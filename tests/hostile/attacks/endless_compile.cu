// Attack: includes itself twice, thirty levels deep: a source of thirty lines that is read a thousand million times.
// Wall: compiler: so much wall clock, then it and its children are ended
// Outcome: build error: had not ended after 5 s
#if __INCLUDE_LEVEL__ < 30
#include __FILE__
#include __FILE__
#endif
#include <torch/extension.h>
#ifndef ONCE
#define ONCE

torch::Tensor forward(torch::Tensor x) { return x * 2; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
#endif
