// The C interface between a kernel's translation unit and libcuemu_runtime.so: everything with state lives behind it.
#pragma once
#include <cstddef>
#include <cstdint>

struct uint3 {
  unsigned int x, y, z;
};

namespace cuemu {

constexpr unsigned kWarpSize = 32;
constexpr unsigned kExchangeBytes = 16;

struct LaunchRequest {
  const char* kernel;
  int line;
  uint3 grid;
  uint3 block;
  std::size_t dynamic_shared_bytes;
  void (*body)(void* context);  // runs the kernel once, for the thread that threadIdx and blockIdx name
  void* context;
};

// What the lanes of one warp collective brought along; lane i brought value[i] if bit i of `arrived` is set.
struct Exchange {
  unsigned arrived;
  alignas(16) unsigned char value[kWarpSize][kExchangeBytes];
};

// One `__shared__` variable; the address holds for one launch.
struct SharedSlot {
  std::uint32_t launch;
  void* address;
};

using Combine = void (*)(void* const operands[kWarpSize], unsigned arrived, void* context);

}  // namespace cuemu

extern "C" {
void cuemu_run_grid(const cuemu::LaunchRequest* request);

void* cuemu_shared_slot(cuemu::SharedSlot* slot, std::size_t bytes, std::size_t alignment);
void* cuemu_dynamic_shared();
bool cuemu_is_shared(const void* address);

// Block barrier. Returns the three reductions of `predicate` over the block's live threads, for __syncthreads_and/or/count.
struct cuemu_votes {
  int all, any, count;
};
cuemu_votes cuemu_block_barrier(int line, int predicate);

// Waits for every live lane of `mask`; the returned record stays valid until cuemu_exchange_done.
const cuemu::Exchange* cuemu_exchange(unsigned mask, const void* value, std::size_t bytes, int line);
void cuemu_exchange_done(const cuemu::Exchange* exchange);
// As cuemu_exchange, but the last lane to arrive combines the operands in place while the others are still waiting.
void cuemu_combine(unsigned mask, void* operand, int line, cuemu::Combine combine, void* context);
unsigned cuemu_converged_mask(const void* call_site);
void cuemu_missing_lane(void* value, std::size_t bytes, int line);
unsigned cuemu_lane();
unsigned cuemu_thread_rank();

void cuemu_atomic_access(void* address, std::size_t bytes, const void* call_site);
void cuemu_spin();  // an atomic that changed nothing: let the other threads of the block go on
void cuemu_fence();
[[noreturn]] void cuemu_trap(const char* why, int line);
bool cuemu_in_kernel();

void* cuemu_device_malloc(std::size_t bytes);
bool cuemu_device_free(void* address);
int cuemu_last_error(bool clear);
void cuemu_set_last_error(int error);
int cuemu_sticky_error();
int cuemu_compute_capability();
std::size_t cuemu_shared_limit_opt_in();
bool cuemu_allow_dynamic_shared(std::size_t bytes);
std::uint64_t cuemu_clock();
}
