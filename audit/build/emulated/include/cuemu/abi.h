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

// An argument of a launch, for whoever asks what decided its loops: an integer as it was passed, or nothing.
struct LaunchArgument {
  bool known;
  std::int64_t value;
};

struct LaunchRequest {
  const char* kernel;
  int line;
  uint3 grid;
  uint3 block;
  std::size_t dynamic_shared_bytes;
  void (*body)(void* context);  // runs the kernel once, for the thread that threadIdx and blockIdx name
  void* context;
  const LaunchArgument* arguments = nullptr;
  std::size_t argument_count = 0;
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

// A matrix in device memory: element (i, j) lies i * row_step + j * column_step elements behind `data`. Types: 0 float, 1 double,
// 2 half, 3 bfloat16.
struct Matrix {
  void* data;
  int type;
  std::int64_t rows, columns, row_step, column_step;
};

enum class Activation : int { kNone, kRelu, kGelu };  // GELU by its tanh form

// d = activation(alpha * a * b + beta * c + bias), as a library does it for host code; without a `d` of its own, c is the result.
struct Product {
  const char* name;
  Matrix a, b, c;
  double alpha, beta;
  Matrix d = {}, bias = {};
  Activation activation = Activation::kNone;

  const Matrix& result() const { return d.data ? d : c; }
};

enum class VariableKind : int { kVariable, kConstant, kGap };

// A copy that host code asks for, to or from a variable of the device; sizes in bytes.
struct SymbolCopy {
  const char* function;
  std::size_t size, offset, bytes;
  int line;
  bool asynchronous = false;  // CUDA does not compare its bytes with the variable's then
};

using Combine = void (*)(void* const operands[kWarpSize], unsigned arrived, void* context);

}  // namespace cuemu

extern "C" {
void cuemu_run_grid(const cuemu::LaunchRequest* request);

void* cuemu_shared_slot(cuemu::SharedSlot* slot, std::size_t bytes, std::size_t alignment);
void* cuemu_dynamic_shared();
void cuemu_undefined(void* value, std::size_t bytes);  // filled as fresh shared memory is
bool cuemu_is_shared(const void* address);
// Addresses of the shared state space have 32 bits and count from the start of a block's shared memory.
std::uint32_t cuemu_shared_address(const void* address);
// Both end the launch where the address is none of shared or device memory.
void* cuemu_at_shared(std::uint32_t address);
void* cuemu_at_global(void* address);

// Block barrier. Returns the three reductions of `predicate` over the block's live threads, for __syncthreads_and/or/count.
struct cuemu_votes {
  int all, any, count;
};
cuemu_votes cuemu_block_barrier(int line, int predicate);

// A barrier of other making has let its threads go: what was before it is ordered with what follows, for the whole block.
void cuemu_end_phase();

// Waits for every live lane of `mask`; the returned record stays valid until cuemu_exchange_done.
const cuemu::Exchange* cuemu_exchange(unsigned mask, const void* value, std::size_t bytes, int line);
void cuemu_exchange_done(const cuemu::Exchange* exchange);
// As cuemu_exchange, but the last lane to arrive combines the operands in place while the others are still waiting.
void cuemu_combine(unsigned mask, void* operand, int line, cuemu::Combine combine, void* context);
unsigned cuemu_converged_mask(const void* call_site);
void cuemu_missing_lane(void* value, std::size_t bytes, int line);
unsigned cuemu_lane();
unsigned cuemu_existing_lanes();  // of this warp: the last one of a block may be short
unsigned cuemu_thread_rank();

// An asynchronous copy to shared memory and zeros behind it: read now, there only after a wait. Elsewhere it is done at once.
// `alignment` is what a device asks of both addresses, 1 where it falls back to smaller pieces.
void cuemu_async_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, std::size_t alignment);
void cuemu_async_commit();                    // what this thread started since the last commit is one group
void cuemu_async_wait(std::size_t groups);    // for all groups of this thread but the last so many

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes);
void* __wrap_memmove(void* to, const void* from, std::size_t bytes);
void* __wrap_memset(void* to, int value, std::size_t bytes);

void cuemu_device_atomic(void* address, std::size_t bytes, const void* call_site);
void cuemu_block_atomic(void* address, std::size_t bytes, const void* call_site);  // whole among threads of one block alone
void cuemu_spin();  // an atomic that changed nothing: let the other threads of the block go on
void cuemu_fence();
void cuemu_exceeded_bounds(unsigned most);  // ends the launch: its blocks have more threads than its kernel is compiled for
void cuemu_tile_stride(unsigned stride, unsigned step, int line);  // of a tile in memory, which is no multiple of `step`
void cuemu_global_only(const void* address, int line);  // of a load that nvcc makes one of global memory
[[noreturn]] void cuemu_trap(const char* why, int line);
bool cuemu_in_kernel();

void* cuemu_device_malloc(std::size_t bytes);
bool cuemu_device_free(void* address);
bool cuemu_may_be_device(const void* address);  // false: surely pageable memory of the host
void cuemu_variable(const void* start, std::size_t bytes, const char* name, cuemu::VariableKind kind);  // as its library is loaded
void cuemu_show_variable(const void* address);  // host code gets its address
void cuemu_refused_copy(const cuemu::SymbolCopy* copy, bool kind_fits);
int cuemu_last_error(bool clear);
void cuemu_set_last_error(int error);
int cuemu_sticky_error();
int cuemu_compute_capability();
std::size_t cuemu_shared_limit_opt_in();
bool cuemu_allow_dynamic_shared(std::size_t bytes);
std::uint64_t cuemu_clock();

bool cuemu_product(const cuemu::Product* product);  // false: nothing was done, it touches what is not there
}
