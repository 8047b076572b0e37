#include "part.h"
#include "control.h"
#include "memory.h"

#include <algorithm>
#include <random>

namespace cuemu {
namespace {

constexpr std::uint64_t kMostThreadsOfWhole = 1u << 18;  // over all launches of a call

std::uint64_t blocks_of(uint3 grid) { return std::uint64_t{grid.x} * grid.y * grid.z; }

std::uint64_t threads_run() {
  std::uint64_t sum = 0;
  for (const LaunchRecord& one : device.launches) sum += one.blocks_run * one.block.x * one.block.y * one.block.z;
  return sum;
}

void add(std::vector<std::uint64_t>& numbers, std::uint64_t number) {
  if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
}

std::uint64_t corner(uint3 grid, unsigned which) {
  std::uint64_t x = which & 1 ? grid.x - 1 : 0, y = which & 2 ? grid.y - 1 : 0, z = which & 4 ? grid.z - 1 : 0;
  return x + grid.x * (y + grid.y * z);
}

}  // namespace

std::uint64_t blocks_to_run(const LaunchRequest& request) {
  std::uint64_t all = blocks_of(request.grid);
  std::uint64_t threads = all * request.block.x * request.block.y * request.block.z;
  if (device.settings.blocks < 0) return all;
  if (device.settings.blocks > 0 && !device.settings.sparing && threads_run() + threads <= kMostThreadsOfWhole) return all;
  return std::min<std::uint64_t>(all, device.settings.blocks);
}

std::vector<std::uint64_t> drawn_blocks(uint3 grid, std::uint64_t count) {
  std::vector<std::uint64_t> numbers;
  for (unsigned which : {0u, 7u, 1u, 2u, 4u, 3u, 5u, 6u})
    if (numbers.size() < count) add(numbers, corner(grid, which));
  std::mt19937_64 random(device.settings.seed);
  while (numbers.size() < count) add(numbers, random() % blocks_of(grid));
  return numbers;
}

bool notes_writes() { return device.settings.blocks > 0; }
bool counts_writes() { return device.settings.checker || notes_writes(); }

// One bit a byte; where every access is checked the same array counts instead.
void note_written(const void* address, std::size_t bytes) {
  std::uint64_t offset = static_cast<const char*>(address) - region.base;
  if (offset >= region.used || device.settings.checker) return;
  for (std::uint64_t byte = offset; byte < offset + bytes; byte++) region.write_count[byte / 4] |= 1u << byte % 4;
}

}  // namespace cuemu

using namespace cuemu;

bool cuemu::blank_unwritten(void* address, std::uint64_t bytes) {
  std::uint64_t start = static_cast<char*>(address) - region.base;
  if (!notes_writes() || start >= region.used || start + bytes > region.used || device.launches.empty()) return false;
  if (device.launches.back().blocks_run == blocks_of(device.launches.back().grid)) return false;
  std::uint32_t pattern = poison_pattern();
  for (std::uint64_t byte = start; byte < start + bytes; byte++)
    if (!(region.write_count[byte / 4] >> byte % 4 & 1))
      region.base[byte] = reinterpret_cast<const char*>(&pattern)[byte % 4];
  return true;
}
