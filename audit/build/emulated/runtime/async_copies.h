// Asynchronous copies to shared memory that no wait has finished yet.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cuemu {

// Whether a started copy is still to write one of these bytes. The offset is into the region.
bool is_being_copied(std::uint64_t offset, std::size_t bytes);
void forget_async_copies();  // a block has ended

}  // namespace cuemu
