// Device memory for tensors and cudaMalloc: what a fresh block holds is the experiment, see Mode.
#include "memory.h"
#include "checker.h"
#include "control.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <sys/mman.h>
#include <mutex>
#include <unordered_map>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

namespace cuemu {
namespace {

constexpr std::uint64_t kPages = 1ull << 16, kWorthwhile = 1ull << 24;

std::mutex mutex;
std::deque<Allocation> allocations(1);  // number 0: none
std::unordered_map<std::uint64_t, std::deque<std::uint32_t>> unused;  // by rounded size, last freed at the back
std::vector<std::uint32_t> freed;  // in the order of freeing

void fill(char* memory, std::uint64_t bytes, std::uint32_t pattern) {
  auto* word = reinterpret_cast<std::uint32_t*>(memory);
  std::fill(word, word + bytes / 4, pattern);
}

// Pages given back hold zeros when they are touched again; most of those of a large tensor never are.
void forget_counts(const Allocation& allocation) {
  auto* from = region.write_count + allocation.offset / 4;
  std::uint64_t bytes = allocation.rounded / 4;
  std::uint64_t before = std::min<std::uint64_t>(bytes, -reinterpret_cast<std::uintptr_t>(from) % kPages);
  std::uint64_t whole = (bytes - before) / kPages * kPages;
  if (whole < kWorthwhile || madvise(from + before, whole, MADV_DONTNEED)) whole = 0;
  std::memset(from, 0, before);
  std::memset(from + before + whole, 0, bytes - before - whole);
}

std::uint32_t number_at(std::uint64_t offset) { return region.owner[offset / kGranule]; }

std::uint32_t fresh_block(std::uint64_t rounded) {
  std::uint64_t offset = reserve_block(rounded);
  auto number = static_cast<std::uint32_t>(allocations.size());
  allocations.push_back({offset, 0, rounded, 0, false});
  std::fill_n(region.owner + offset / kGranule, rounded / kGranule, number);
  return number;
}

// A plain heap hands out the block freed longest ago, a caching allocator the one freed last.
std::uint32_t used_block(std::deque<std::uint32_t>& blocks) {
  bool oldest = device.settings.allocator == Mode::plain;
  std::uint32_t number = oldest ? blocks.front() : blocks.back();
  if (oldest) blocks.pop_front();
  else blocks.pop_back();
  freed.erase(std::find(freed.begin(), freed.end(), number));
  return number;
}

void fill_as_mode_says(char* memory, std::uint64_t bytes) {
  Mode mode = device.settings.allocator;
  if (mode == Mode::zero) std::memset(memory, 0, bytes);
  if (poison_pattern()) fill(memory, bytes, poison_pattern());
}

void free_block(void* address) { release(address); }

class DeviceAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* memory = bytes ? cuemu::allocate(bytes) : nullptr;
    return {memory, memory, &free_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};

}  // namespace

std::uint32_t poison_pattern() {
  switch (device.settings.allocator) {
    case Mode::poison_nan: return kPoisonNan;
    case Mode::poison_number: return kPoisonNumber;
    default: return 0;
  }
}

const Allocation* allocation_at(std::uint64_t offset) {
  std::uint32_t number = number_at(offset);
  return number ? &allocations[number] : nullptr;
}

const Allocation* block_before(std::uint64_t offset) {
  if (!region.used || offset >= region.used + kMostApart) return nullptr;
  std::uint64_t at = std::min(offset, region.used - 1), least = at < kMostApart ? 0 : at - kMostApart;
  for (; at > least; at -= std::min(at, kGranule))
    if (const Allocation* block = allocation_at(at)) return block;
  return nullptr;
}

void* allocate(std::size_t bytes) {
  CriticalSection section;
  std::lock_guard<std::mutex> lock(mutex);
  std::uint64_t rounded = std::max<std::uint64_t>((bytes + kGranule - 1) / kGranule * kGranule, kGranule);
  auto& blocks = unused[rounded];
  bool fresh = blocks.empty();  // memory that the kernel of this machine gave and nothing has touched
  std::uint32_t number = fresh ? fresh_block(rounded) : used_block(blocks);
  Allocation& allocation = allocations[number];
  allocation.bytes = bytes;
  allocation.born = current_run();
  allocation.live = true;
  char* memory = region.base + allocation.offset;
  fill_as_mode_says(memory, rounded);
  if (counts_writes() && !fresh) forget_counts(allocation);
  return memory;
}

bool release(void* address) {
  if (!address) return true;
  CriticalSection section;
  std::lock_guard<std::mutex> lock(mutex);
  std::uint64_t offset = static_cast<char*>(address) - region.base;
  if (offset >= region.used) return false;
  std::uint32_t number = number_at(offset);
  if (!number || !allocations[number].live || allocations[number].offset != offset) return false;
  allocations[number].live = false;
  unused[allocations[number].rounded].push_back(number);
  freed.push_back(number);
  return true;
}

void forget_writes() {
  if (!counts_writes()) return;
  std::lock_guard<std::mutex> lock(mutex);
  for (const Allocation& allocation : allocations)
    if (allocation.live) forget_counts(allocation);
}

void install_allocator() {
  static DeviceAllocator allocator;
  c10::SetCPUAllocator(&allocator, 100);
}

}  // namespace cuemu

using namespace cuemu;

CUEMU_EXPORT void* cuemu_device_malloc(std::size_t bytes) { return allocate(bytes); }
CUEMU_EXPORT bool cuemu_device_free(void* address) { return release(address); }

// Tensors of the host lie in the region as well, and variables of the device in the image of a library: who can tell.
CUEMU_EXPORT bool cuemu_may_be_device(const void* address) {
  std::uint64_t offset = static_cast<const char*>(address) - region.base;
  Dl_info image;
  return offset < region.used || dladdr(address, &image);
}

bool cuemu::freed_block(std::size_t i, const void** address, std::uint64_t* bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (i >= freed.size()) return false;
  const Allocation& allocation = allocations[freed[freed.size() - 1 - i]];
  *address = region.base + allocation.offset;
  *bytes = allocation.bytes;
  return true;
}

bool cuemu::write_counts(const void* address, std::uint64_t words, std::uint8_t* counts) {
  std::uint64_t offset = static_cast<const char*>(address) - region.base;
  if (!counts_writes() || offset >= region.used || offset + words * 4 > region.used + kGranule) return false;
  std::memcpy(counts, region.write_count + offset / 4, words);
  return true;
}
