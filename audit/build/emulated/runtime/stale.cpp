#include "stale.h"
#include "block.h"
#include "memory.h"

#include <bitset>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace cuemu {

bool gives_stale = false;
bool hides = false;

namespace {

constexpr std::size_t kMostKept = 1u << 16;  // writes; what is not kept is read as it is
constexpr std::size_t kMostKeptBytes = 16;

// The last volatile write of a place: by which block, when, the last fence of that block before it, and what was there.
struct Kept {
  std::uint32_t writer, reader;
  std::uint64_t written, fenced;
  std::size_t bytes;
  unsigned char before[kMostKeptBytes];
  std::bitset<kMostThreads> asked;  // threads of the block `reader`
  bool seen;                        // that block has read the last value
};

std::unordered_map<std::uint64_t, Kept> kept;
std::uint64_t steps = 0;         // counts writes and fences
std::uint64_t last_fence = 0;  // of any block
std::uint64_t own_fence = 0;   // of the block at work
std::uint64_t view = 0;        // what was written up to here is visible to the block at work
std::uint8_t first_reads[kMostThreads];  // first reads of a place, by thread

// What a read finds in the place of a value, until the next access.
struct Hidden {
  char* address;
  std::size_t bytes;
  unsigned char shown[kMostKeptBytes];
};
std::vector<Hidden> hidden;

bool is_tensor(std::uint64_t offset) { return offset < region.used; }

void see_up_to(std::uint64_t fence) { view = std::max(view, fence); }

// Every first read of a thread, or every other one: a value that is read before its flag needs an old one, then a new one.
bool chosen(unsigned thread) { return device.settings.stale == Stale::all || first_reads[thread]++ % 2 == 0; }

bool gives_before(Kept& one) {
  std::uint32_t run = current_run();
  if (one.writer == run || one.written <= view) return false;
  if (one.reader != run) one.reader = run, one.asked.reset(), one.seen = false;
  bool first = !one.seen && !one.asked[block.current];
  one.asked[block.current] = true;
  bool stale = first && chosen(block.current);
  one.seen |= !stale;
  return stale;
}

}  // namespace

void begin_launch_stale() {
  gives_stale = device.settings.stale != Stale::none;
  hides = gives_stale || device.settings.hides_races;
  kept.clear();
  steps = last_fence = 0;
}

void begin_block_stale() {
  own_fence = view = 0;
  std::memset(first_reads, 0, sizeof first_reads);
}

void note_fence() { own_fence = last_fence = ++steps; }

void note_turn(const void* address) {
  put_back();
  see_up_to(last_fence);
  kept.erase(static_cast<const char*>(address) - region.base);
}

void before_volatile_write(const void* address, std::size_t bytes) {
  std::uint64_t offset = static_cast<const char*>(address) - region.base;
  if (!is_tensor(offset) || (kept.size() >= kMostKept && !kept.contains(offset))) return;
  CriticalSection section;
  Kept& one = kept[offset];
  one = {current_run(), 0, ++steps, own_fence, bytes, {}, {}, false};
  std::memcpy(one.before, address, bytes);
}

void before_volatile_read(void* address, std::size_t bytes, const void* call_site) {
  std::uint64_t offset = static_cast<char*>(address) - region.base;
  if (!is_tensor(offset)) return;
  auto found = kept.find(offset);
  if (found == kept.end() || found->second.bytes != bytes) return see_up_to(last_fence);
  if (!gives_before(found->second)) return see_up_to(found->second.fenced);
  report_at("stale-read", "a volatile read gives the value before another block's last write, which no fence rules out",
            static_cast<const char*>(call_site) - 1);
  hide(address, found->second.before, bytes);
}

void hide(void* address, const void* behind, std::size_t bytes) {
  Hidden& one = hidden.emplace_back(Hidden{static_cast<char*>(address), bytes, {}});
  std::memcpy(one.shown, address, bytes);
  std::memcpy(address, behind, bytes);
}

void put_back() {
  for (const Hidden& one : hidden) std::memcpy(one.address, one.shown, one.bytes);
  hidden.clear();
}

}  // namespace cuemu
