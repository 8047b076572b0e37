#include "fiber.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace cuemu {
namespace {

constexpr std::size_t kLine = 64;  // of a cache
constexpr std::size_t kGuardBytes = 64u << 10;  // a multiple of every page size in use

// Fixed arrays: a thread may be stopped by the time limit anywhere, also here, so no heap lock may be held.
Fiber fibers[kMostFibers];
Fiber* unused[kMostFibers];
unsigned made = 0;
unsigned unused_count = 0;

Fiber* make_fiber() {
  if (made == kMostFibers) std::abort();
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = mmap(nullptr, kStackBytes + kGuardBytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  mprotect(memory, kGuardBytes, PROT_NONE);
  Fiber* fiber = &fibers[made++];
  fiber->stack = static_cast<char*>(memory) + kGuardBytes;
  return fiber;
}

// Where the stack begins: every fiber has other sets of the caches, since threads take turns and each would find its
// frame evicted by those that lie at the same place of their stacks.
char* top_of(const Fiber* fiber) {
  std::size_t apart = (fiber - fibers) * 5 * kLine % kSpreadBytes;
  return fiber->stack + kStackBytes - kLine - apart;
}

// Lays the stack out as cuemu_switch leaves it, so that resuming it "returns" into `entry`.
void prepare(Fiber* fiber, void (*entry)()) {
  auto* top = reinterpret_cast<std::uintptr_t*>(top_of(fiber));
#if defined(__x86_64__)
  constexpr int saved = 6, return_slot = 6;
  top[-1] = 0;  // where entry's own return address would be; entry starts 8 bytes off a multiple of 16, as after a call
  std::uintptr_t* frame = top - 2 - saved;
#elif defined(__aarch64__)
  constexpr int saved = 20, return_slot = 11;
  std::uintptr_t* frame = top - saved;
#else
#error "the emulated device switches stacks on x86-64 and aarch64 only"
#endif
  for (int i = 0; i < saved; i++) frame[i] = 0;
  frame[return_slot] = reinterpret_cast<std::uintptr_t>(entry);
  fiber->stack_pointer = frame;
}

}  // namespace

Fiber* take_fiber(void (*entry)()) {
  Fiber* fiber = unused_count ? unused[--unused_count] : make_fiber();
  prepare(fiber, entry);
  return fiber;
}

void give_back_fiber(Fiber* fiber) { unused[unused_count++] = fiber; }

void give_back_all_fibers() {
  for (unused_count = 0; unused_count < made; unused_count++) unused[unused_count] = &fibers[unused_count];
}

bool in_stack_guard(const void* address) {
  auto* where = static_cast<const char*>(address);
  for (unsigned i = 0; i < made; i++)
    if (where < fibers[i].stack && where >= fibers[i].stack - kGuardBytes) return true;
  return false;
}

}  // namespace cuemu
