// What the judge's side asks of the device beside control.cpp. None of it is exported.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cuemu {

// The i-th block that is free now, the one freed last first; false past the end.
bool freed_block(std::size_t i, const void** address, std::uint64_t* bytes);

// Copies how often device code wrote each 4-byte word of [address, address + 4 * words), at most 255.
bool write_counts(const void* address, std::uint64_t words, std::uint8_t* counts);

// Puts the pattern of fresh memory over every byte of [address, address + bytes) that the last launch did not write; false
// where that was run whole, or where this is no device memory.
bool blank_unwritten(void* address, std::uint64_t bytes);

}  // namespace cuemu
