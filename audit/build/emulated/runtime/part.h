// A part of a grid: how many of its blocks are run, which ones, and which bytes they wrote.
#pragma once
#include "device.h"

#include <vector>

namespace cuemu {

// None, all, or a few: a grid of few threads is run whole, since what comes behind it may need all of its results.
std::uint64_t blocks_to_run(const LaunchRequest& request);

// The numbers of the blocks to run of a larger grid: its corners, then drawn ones.
std::vector<std::uint64_t> drawn_blocks(uint3 grid, std::uint64_t count);

bool notes_writes();
void note_written(const void* address, std::size_t bytes);

}  // namespace cuemu
