// Reserves address space once and makes it usable as it is handed out, so that a limit on data memory counts only what is used.
#include "memory.h"
#include "checker.h"

#include <cstring>
#include <new>
#include <sys/mman.h>

namespace cuemu {

Region region;

namespace {

constexpr std::uint64_t kLargestRegion = 1ull << 34;
constexpr std::uint64_t kSmallestRegion = 1ull << 26;
constexpr std::uint64_t kStep = 1ull << 23;  // so large that every side array grows by whole pages of 64 KiB

std::uint64_t usable = 0;

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

void open_range(void* array, std::uint64_t bytes_per_step, std::uint64_t from, std::uint64_t to) {
  char* start = static_cast<char*>(array) + from / kStep * bytes_per_step;
  if (mprotect(start, (to - from) / kStep * bytes_per_step, PROT_READ | PROT_WRITE)) throw std::bad_alloc();
}

void make_usable(std::uint64_t end) {
  if (end <= usable) return;
  std::uint64_t to = (end + kStep - 1) / kStep * kStep;
  if (to > region.size) throw std::bad_alloc();
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

std::uint64_t reserve_block(std::uint64_t rounded) {
  if (!region.base) reserve_region();
  std::uint64_t offset = region.used + kGranule;  // a gap before each block
  make_usable(offset + rounded + kGranule);
  region.used = offset + rounded;
  return offset;
}

}  // namespace cuemu
