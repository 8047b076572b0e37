// The access checker: never-initialised reads, out-of-bounds accesses, data races and writes per word.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cuemu {

extern bool checking;  // in a kernel, with the checker on
extern bool heeded;    // in a kernel where every access is told: the checker is on, or the order is lockstep
extern bool heeded_writes;  // there, and where writes are noted

enum Access : unsigned { kRead = 0, kWrite = 1, kAtomic = 2, kVolatile = 4, kOfBlock = 8 /* an atomic of block scope */,
                        kPlainLoad = 16 /* the instruction behind the check reads at once */ };

void check_access(const void* address, std::size_t bytes, unsigned access, const void* program_counter);

// Ends the launch, as a device does, where the address is not a multiple of the alignment that the access needs.
void check_alignment(const void* address, std::size_t alignment, const void* program_counter);

void begin_launch_check();
void end_launch_check();
void begin_block_check();
std::uint32_t current_run();  // counts blocks run, over all launches

// A suspicion that the next step of the same thread may dispel; to be settled before another thread goes on.
void settle_pending();

}  // namespace cuemu
