// The access checker: never-initialised reads, out-of-bounds accesses, data races and writes per word.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cuemu {

extern bool checking;  // in a kernel, with the checker on

enum Access : unsigned { kRead = 0, kWrite = 1, kAtomic = 2, kVolatile = 4 };

void check_access(const void* address, std::size_t bytes, unsigned access, const void* program_counter);

void begin_launch_check();
void end_launch_check();
void begin_block_check();
std::uint32_t current_run();  // counts blocks run, over all launches

// A suspicion that the next step of the same thread may dispel; to be settled before another thread goes on.
void settle_pending();

}  // namespace cuemu
