// The shared memory of the running block. It lies at the end of the region; its address is the same for the process's whole life.
#include "limits.h"
#include "memory.h"

#include <algorithm>
#include <cstring>

namespace cuemu {
namespace {

constexpr std::uint64_t kGap = 128;
constexpr unsigned kMostVariables = 256;
constexpr std::uint64_t kWindow = 1024;  // where addresses of shared memory start: a GPU keeps the first bytes for itself
constexpr std::uint32_t kNotShared = 0xffffff00u;

struct Variable {
  std::uint64_t offset, bytes;  // offset into the region
};

Variable variables[kMostVariables];
unsigned variable_count = 0;
std::uint64_t arena_start = 0;  // 0 until the first launch
std::uint64_t next_offset = 0;
std::size_t static_bytes = 0;

std::uint64_t place(std::uint64_t bytes, std::uint64_t alignment) {
  std::uint64_t offset = (next_offset + alignment - 1) / alignment * alignment;
  if (variable_count == kMostVariables || offset + bytes + kGap > arena_start + kArenaBytes) {
    report("static-shared-too-large", "the shared variables do not fit into one megabyte", device.running->line);
    end_launch(kInvalidValue);
  }
  variables[variable_count++] = {offset, bytes};
  next_offset = offset + bytes + kGap;
  return offset;
}

}  // namespace

std::uint32_t shared_pattern() { return device.settings.shared_word; }

namespace {

std::uint64_t shared_total() {
  std::uint64_t total = 0;
  for (unsigned i = 0; i < variable_count; i++) total += variables[i].bytes;
  return total;
}

void fill(std::uint64_t from, std::uint64_t to) {
  std::uint32_t pattern = shared_pattern();
  for (std::uint64_t at = from / 4 * 4; at < to; at += 4) std::memcpy(region.base + at, &pattern, 4);
}

}  // namespace

void begin_shared(std::size_t dynamic_bytes) {
  arena_start = open_arena();
  next_offset = arena_start;
  variable_count = 0;
  static_bytes = 0;
  if (dynamic_bytes) place(dynamic_bytes, kGap);
}

void poison_shared() { fill(arena_start, next_offset); }

std::size_t static_shared_bytes() { return static_bytes; }

bool is_in_arena(std::uint64_t offset) { return offset - arena_start < kArenaBytes && arena_start; }

std::uint64_t arena_place(const void* address) {
  return static_cast<std::uint64_t>(static_cast<const char*>(address) - region.base) - arena_start;
}

bool is_in_shared_variable(std::uint64_t offset, std::size_t bytes) {
  for (unsigned i = 0; i < variable_count; i++)
    if (offset >= variables[i].offset && offset + bytes <= variables[i].offset + variables[i].bytes) return true;
  return false;
}

namespace {

// Whether the bytes lie outside of one variable by no more than this.
bool is_near_variable(std::uint64_t offset, std::size_t bytes, std::uint64_t before, std::uint64_t behind) {
  for (unsigned i = 0; i < variable_count; i++) {
    std::uint64_t others = shared_total() - variables[i].bytes, start = variables[i].offset;
    std::uint64_t end = start + variables[i].bytes;
    if (offset + bytes > end && offset + bytes - end <= others + behind) return true;
    if (offset < start && start - offset <= others + before) return true;
  }
  return false;
}

}  // namespace

bool may_be_in_another_variable(std::uint64_t offset, std::size_t bytes) {
  return is_near_variable(offset, bytes, 0, 0);
}

// A GPU gives a block shared memory in units, of 256 bytes up to compute capability 7.5 and 128 from 8.0 on by CUDA's
// occupancy calculator, and from 8.0 on reserves 1,024 bytes before it. On an H200 nothing stops an access to element 31
// of an array of 8 floats, or to element -1; element 32 is an illegal address.
bool may_be_given_to_the_block(std::uint64_t offset, std::size_t bytes) {
  constexpr std::uint64_t kUnit = 256, kReserved = 1024;
  std::uint64_t total = shared_total();
  return is_near_variable(offset, bytes, kReserved, (total + kUnit - 1) / kUnit * kUnit - total);
}

}  // namespace cuemu

using namespace cuemu;

CUEMU_EXPORT void* cuemu_shared_slot(SharedSlot* slot, std::size_t bytes, std::size_t alignment) {
  if (!device.in_kernel) return slot->address;
  check_shared_total(static_bytes + bytes);
  std::uint64_t offset = place(bytes, std::max<std::size_t>(alignment, 16));
  static_bytes += bytes;
  fill(offset, next_offset);
  slot->address = region.base + offset;
  slot->launch = cuemu_launch_number;
  return slot->address;
}

CUEMU_EXPORT void* cuemu_dynamic_shared() { return region.base + open_arena(); }

CUEMU_EXPORT void cuemu_undefined(void* value, std::size_t bytes) {
  std::uint32_t pattern = shared_pattern();
  for (std::size_t i = 0; i < bytes; i++) static_cast<char*>(value)[i] = reinterpret_cast<const char*>(&pattern)[i % 4];
}

CUEMU_EXPORT bool cuemu_is_shared(const void* address) {
  std::uint64_t offset = static_cast<const char*>(address) - region.base;
  return is_in_arena(offset);
}

CUEMU_EXPORT std::uint32_t cuemu_shared_address(const void* address) {
  return cuemu_is_shared(address) ? static_cast<std::uint32_t>(arena_place(address) + kWindow) : kNotShared;
}

namespace {

void* no_such_place(const char* message, const void* call_site) {
  report_at("illegal-address", message, static_cast<const char*>(call_site) - 1);
  end_launch(kIllegalAddress);
}

}  // namespace

CUEMU_EXPORT void* cuemu_at_shared(std::uint32_t address) {
  if (address - kWindow < kArenaBytes) return region.base + arena_start + (address - kWindow);
  return no_such_place("an address of shared memory that is none: see cvta.to.shared", __builtin_return_address(0));
}

CUEMU_EXPORT void* cuemu_at_global(void* address) {
  if (!device.in_kernel || !cuemu_is_shared(address)) return address;
  return no_such_place("an address of device memory that is one of shared memory", __builtin_return_address(0));
}
