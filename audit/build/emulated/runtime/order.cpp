#include "order.h"
#include "block.h"

#include <algorithm>
#include <numeric>

namespace cuemu {
namespace {

constexpr std::uint64_t kMostShuffled = 1u << 16;

// SplitMix64: cheap enough to start anew in every block.
struct Random {
  std::uint64_t state;

  std::uint64_t next() {
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
};

template <class T>
void shuffle(T* values, std::uint64_t count, Random random) {
  for (std::uint64_t i = count; i > 1; i--) std::swap(values[i - 1], values[random.below(i)]);
}

void order_in_warps(unsigned size) {
  unsigned filled[kMostWarps] = {};
  auto place = [&](unsigned thread) {
    unsigned warp = thread / kWarpSize;
    block.order_in_warp[warp * kWarpSize + filled[warp]++] = thread;
  };
  for (unsigned i = 0; i < size; i++) place(block.order[i]);
  for (unsigned thread = size; thread % kWarpSize; thread++) place(thread);
}

}  // namespace

void order_threads(unsigned size, std::uint64_t number) {
  std::iota(block.order, block.order + size, 0u);
  Order order = device.settings.thread_order;
  if (order == Order::reverse) std::reverse(block.order, block.order + size);
  if (order == Order::random) shuffle(block.order, size, Random{device.settings.seed + (number << 32)});
  order_in_warps(size);
}

BlockOrder::BlockOrder(std::uint64_t blocks) : count(blocks) {
  if (device.settings.block_order == Order::reverse) step = count - 1, start = count - 1;
  if (device.settings.block_order != Order::random) return;
  Random random{device.settings.seed + 1u};
  if (count <= kMostShuffled) {
    shuffled.resize(count);
    std::iota(shuffled.begin(), shuffled.end(), 0u);
    shuffle(shuffled.data(), count, random);
    return;
  }
  start = random.below(count);
  do step = random.below(count);
  while (std::gcd(step, count) != 1);
}

}  // namespace cuemu
