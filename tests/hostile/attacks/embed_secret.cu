// Attack: has the assembler put a file of the user's home into the library.
// Wall: the emulated device takes no assembly, hidden behind a macro or not; landlock: the assembler cannot read there
// Outcome: build skip: inline assembly
// Outcome on cuda: build error
#include <torch/extension.h>

#define PUT __asm__
PUT(".section .rodata\n.global hostile_token\nhostile_token:\n.incbin \"@HOME@/token\"\n.byte 0\n.previous\n");
extern "C" const char hostile_token[];

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(false, hostile_token);
    return x * 2;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
