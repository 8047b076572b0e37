// The order in which the blocks of a grid and the threads of a block start.
#pragma once
#include "device.h"

#include <vector>

namespace cuemu {

// Fills block.order and block.order_in_warp; `number` is the block's, since a random order is another one in each block.
void order_threads(unsigned size, std::uint64_t number);

// Position k of the chosen order of blocks. A random one of a large grid is an affine walk, which needs no table.
struct BlockOrder {
  std::uint64_t count, step = 1, start = 0;
  std::vector<std::uint32_t> shuffled;

  explicit BlockOrder(std::uint64_t blocks);
  std::uint64_t operator[](std::uint64_t k) const {
    return shuffled.empty() ? (start + k % count * step) % count : shuffled[k];
  }
};

}  // namespace cuemu
