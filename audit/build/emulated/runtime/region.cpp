// Reserves address space once and makes it usable as it is handed out, so that a limit on data memory counts only what is used.
#include "memory.h"
#include "checker.h"

#include <algorithm>
#include <new>
#include <utility>
#include <sys/mman.h>

namespace cuemu {

Region region;

namespace {

constexpr std::uint64_t kLargestRegion = 1ull << 37;
constexpr std::uint64_t kSmallestRegion = 1ull << 26;
constexpr std::uint64_t kStep = 1ull << 23;  // so large that every side array grows by whole pages of 64 KiB
constexpr std::uint64_t kBelowArena = 1ull << 16;  // usable too: an index just below 0 does not end the kernel
constexpr std::uint64_t kLeastApart = 1ull << 12;

std::uint64_t usable = 0;
std::uint64_t last_gap = 0;

char* reserve(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

// One reservation: side arrays, a hole, the region, a larger hole. A wild index of a kernel (a negative one, an unsigned one
// that wrapped) ends in a hole and faults; it cannot reach the side arrays.
bool try_reserve(std::uint64_t size) {
  std::uint64_t shadow = size / 4 * kShadowCellBytes, counts = size / 4, owners = size / kGranule * 4;
  std::uint64_t below = 2 * size, above = 4 * size;
  char* memory = reserve(shadow + counts + owners + below + size + above);
  if (!memory) return false;
  region.shadow = memory;
  region.write_count = reinterpret_cast<std::uint8_t*>(memory + shadow);
  region.owner = reinterpret_cast<std::uint32_t*>(memory + shadow + counts);
  region.base = memory + shadow + counts + owners + below;
  region.size = size;
  return true;
}

void reserve_region() {
  for (std::uint64_t size = kLargestRegion; size >= kSmallestRegion; size /= 2)
    if (try_reserve(size)) return;
  throw std::bad_alloc();
}

void open(char* start, std::uint64_t bytes) {
  if (mprotect(start, bytes, PROT_READ | PROT_WRITE)) throw std::bad_alloc();
  madvise(start, bytes, MADV_HUGEPAGE);  // where the system offers them: a page of 4 KiB costs more than to fill it
}

void open_range(void* array, std::uint64_t bytes_per_step, std::uint64_t from, std::uint64_t to) {
  char* start = static_cast<char*>(array) + from / kStep * bytes_per_step;
  open(start, (to - from) / kStep * bytes_per_step);
}

void make_usable(std::uint64_t end) {
  if (end <= usable) return;
  std::uint64_t to = (end + kStep - 1) / kStep * kStep;
  if (to > region.size - 2 * kStep) throw std::bad_alloc();
  open_range(region.base, kStep, usable, to);
  open_range(region.owner, kStep / kGranule * 4, usable, to);
  usable = to;
  open_side_arrays();
}

void open_up_to_usable(void* array, std::uint64_t bytes_per_step, std::uint64_t& opened) {
  if (opened < usable) open_range(array, bytes_per_step, opened, usable);
  opened = usable;
}

}  // namespace

// What the settings need beside the memory itself; eight times as large where every access is checked.
void open_side_arrays() {
  static std::uint64_t shadowed = 0, counted = 0;
  if (device.settings.checker) open_up_to_usable(region.shadow, kStep / 4 * kShadowCellBytes, shadowed);
  if (counts_writes()) open_up_to_usable(region.write_count, kStep / 4, counted);
}

// Shared memory lies in the last step, between one that is never usable and the larger hole: no index that runs past a
// tensor, nor one that runs past a shared array, gets from one kind of memory to the other.
std::uint64_t open_arena() {
  static bool opened = false, shadowed = false;
  if (!region.base) reserve_region();
  std::uint64_t offset = region.size - kStep + kBelowArena;
  if (!std::exchange(opened, true)) open(region.base + offset - kBelowArena, kBelowArena + kArenaBytes);
  if (device.settings.checker && !std::exchange(shadowed, true))
    open(region.shadow + offset / 4 * kShadowCellBytes, kArenaBytes / 4 * kShadowCellBytes);
  return offset;
}

bool is_near_arena(std::uint64_t offset) { return offset - (region.size - 2 * kStep) < 3 * kStep; }

// The gap around a block is as large as the block within bounds, so that an index that runs past it meets no other one.
std::uint64_t reserve_block(std::uint64_t rounded) {
  if (!region.base) reserve_region();
  std::uint64_t gap = std::clamp(rounded, kLeastApart, kMostApart);
  std::uint64_t start = region.used, offset = start + std::max(gap, last_gap);
  make_usable(offset + rounded + kGranule);
  auto* word = reinterpret_cast<std::uint32_t*>(region.base + start);
  std::fill(word, word + (offset - start) / 4, kPoisonNan);
  region.used = offset + rounded;
  last_gap = gap;
  return offset;
}

}  // namespace cuemu
