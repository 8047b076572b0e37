// Stacks for the threads of a block that have to wait. A thread that never waits never gets one of its own.
#pragma once
#include <cstddef>

namespace cuemu {

struct Fiber {
  void* stack_pointer;
  char* stack;
};

constexpr std::size_t kSpreadBytes = 64u << 10;  // over which the tops of the stacks lie
constexpr std::size_t kStackBytes = (256u << 10) + kSpreadBytes;
constexpr unsigned kMostFibers = 1025;  // the threads of one block and the stack that starts them

Fiber* take_fiber(void (*entry)());
void give_back_fiber(Fiber* fiber);
void give_back_all_fibers();
bool in_stack_guard(const void* address);

}  // namespace cuemu

extern "C" void cuemu_switch(void** save, void* resume);
