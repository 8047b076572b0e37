#include "races.h"
#include "block.h"
#include "pending.h"
#include "stale.h"

namespace cuemu {
namespace {

std::uint32_t run = 0;         // of the block at work
std::uint32_t first_run = 1;   // of the launch at work
std::vector<bool> fenced;      // blocks of this launch that have called __threadfence
bool any_fence = false;
bool block_took_turn = false;  // it did an atomic, or read a flag that another block may have set

// The words a thread wrote last.
struct Written {
  static constexpr unsigned kMost = 4;
  std::uint64_t offset[kMost];
  std::uint32_t run[kMost];
  unsigned next;
};
Written written[kMostThreads];

void note_written(const Touch& touch) {
  Written& own = written[touch.now.thread];
  own.offset[own.next] = touch.offset;
  own.run[own.next] = run;
  own.next = (own.next + 1) % Written::kMost;
}

bool wrote_itself(const Touch& touch) {
  const Written& own = written[touch.now.thread];
  for (unsigned i = 0; i < Written::kMost; i++)
    if (own.offset[i] == touch.offset && own.run[i] == run) return true;
  return false;
}

// "My block's results are complete": a fence, then an atomic on a counter or a flag, lets whoever sees that read all of them.
bool ordered_by_fence(std::uint32_t other_run) { return block_took_turn && fenced[other_run - first_run]; }

bool same_warp(const Stamp& one, const Stamp& other) {
  return one.run == other.run && one.thread / kWarpSize == other.thread / kWarpSize;
}

bool unordered(const Stamp& earlier, const Touch& touch) {
  const Stamp& now = touch.now;
  if (earlier.run < first_run) return false;
  if (earlier.run != now.run) return !touch.shared && !ordered_by_fence(earlier.run);
  if (earlier.thread == now.thread || earlier.epoch != now.epoch) return false;
  return !same_warp(earlier, now) || earlier.warp_epoch == now.warp_epoch;
}

// Whether one of several readers, of which the cell names only the last, is unordered with this write.
bool unordered_with_many(const Stamp& read, const Touch& touch) {
  const Stamp& now = touch.now;
  if (read.run < first_run) return false;
  if (read.flags & kManyBlocks) return !touch.shared && !(block_took_turn && any_fence);
  if (read.run != now.run || read.epoch != now.epoch) return false;
  if (read.flags & kManyWarps) return true;
  return (read.flags & kManyInWarp) && same_warp(read, now) && read.warp_epoch == now.warp_epoch;
}

// Two accesses that are whole and in some order whatever happens around them.
bool both_strong(const Stamp& earlier, const Touch& touch) {
  bool atomic = touch.access & kAtomic, before = earlier.flags & kByAtomic;
  bool of_block = touch.access & kOfBlock || earlier.flags & kByBlock;
  if (of_block && earlier.run != touch.now.run) return false;
  bool strong = (atomic || touch.access & kVolatile) && (before || earlier.flags & kByVolatile);
  return strong && (atomic || before || !touch.shared);
}

std::uint8_t merged_flags(const Stamp& before, const Stamp& now) {
  if (before.run < first_run || !before.bytes) return 0;
  std::uint8_t flags = before.flags & kManyBlocks;
  if (before.run != now.run) return flags | kManyBlocks;
  if (before.epoch != now.epoch) return flags;
  flags |= before.flags & kManyWarps;
  if (!same_warp(before, now)) return flags | kManyWarps;
  if (before.warp_epoch != now.warp_epoch) return flags;
  flags |= before.flags & kManyInWarp;
  return before.thread == now.thread ? flags : flags | kManyInWarp;
}

// A thread's atomic on what it has just written plainly leaves that write to be seen by the others.
bool hides_own_write(const Touch& touch, const Stamp& write) {
  bool plain = write.bytes == touch.now.bytes && !(write.flags & kByAtomic) && (touch.access & kAtomic);
  return plain && write.run == touch.now.run && write.thread == touch.now.thread && write.epoch == touch.now.epoch &&
         write.warp_epoch == touch.now.warp_epoch;
}

void remember_write(const Touch& touch, Cell& cell) {
  cell.read.bytes = 0;
  if (!(touch.access & kAtomic)) note_written(touch);
  if (hides_own_write(touch, cell.write)) return;
  cell.write = touch.now;
  cell.write.flags = (touch.access & kAtomic ? kByAtomic : 0) | (touch.access & kVolatile ? kByVolatile : 0) |
                     (touch.access & kOfBlock ? kByBlock : 0);
}

void remember_read(const Touch& touch, Cell& cell) {
  bool first = cell.read.run < first_run || !cell.read.bytes;
  bool held = touch.access & kVolatile && (first || cell.read.flags & kByVolatile);
  std::uint8_t flags = merged_flags(cell.read, touch.now);
  std::uint8_t bytes = flags ? cell.read.bytes | touch.now.bytes : touch.now.bytes;
  cell.read = touch.now;
  cell.read.flags = flags | (held ? kByVolatile : 0);
  cell.read.bytes = bytes;
}

// Whether the threads of that access are lanes of the warp at work, as far as the cell tells.
bool in_this_warp(const Stamp& other, const Touch& touch) {
  return same_warp(other, touch.now) && !(other.flags & (kManyWarps | kManyBlocks));
}

Suspicion suspicion_of(const Touch& touch, const Stamp& other, const void* program_counter) {
  if (touch.access & kVolatile && same_warp(other, touch.now))
    return {"warp-mask", "lanes of a warp exchange data through volatile memory without __syncwarp(): undefined behaviour "
            "since Volta", touch.offset, program_counter, 0, {}};
  const char* kind = touch.shared ? "race-shared" : "race-global";
  bool write = touch.access & (kWrite | kAtomic);
  const char* by_lane = write ? "writes a word that another lane of the warp reads or writes too, and no barrier or atomic orders the two"
                              : "reads a word that another lane of the warp writes, and no barrier or atomic orders the two";
  const char* by_thread = write ? "writes a word that another thread of the launch reads or writes too, and no barrier, fence or "
                                  "atomic orders the two"
                                : "reads a word that another thread of the launch writes, and no barrier, fence or atomic orders the two";
  bool of_block = touch.access & kOfBlock || other.flags & kByBlock;
  const char* by_block = "uses a word that a thread of another block uses too, one of the two by an atomic of block scope, which "
                         "is whole among the threads of its own block alone";
  const char* what = of_block ? by_block : in_this_warp(other, touch) ? by_lane : by_thread;
  return {kind, what, touch.offset, program_counter, 0, {}};
}

void after_write(const Touch& touch, const Cell& cell, const void* program_counter) {
  Suspicion suspicion = suspicion_of(touch, cell.write, program_counter);
  bool write = touch.access & (kWrite | kAtomic);
  if (!write && (cell.write.flags & kMany) && wrote_itself(touch)) return;
  if (write) {
    bool other_warp = cell.write.run == touch.now.run && !same_warp(cell.write, touch.now);
    suspicion.agreed = (cell.write.flags & kMany) |
                       (other_warp ? kManyWarps : cell.write.run == touch.now.run ? kManyInWarp : kManyBlocks);
    suspicion.read = cell.read;
    suspect_write(suspicion);
  } else if (cell.write.flags & kByAtomic) {
    suspect_read(suspicion);
  } else if (device.settings.hides_races && touch.access & kPlainLoad) {
    report_at("hidden-read", "reads a word that races with a write", program_counter);
    hide(region.base + touch.offset, &device.settings.shared_word, sizeof device.settings.shared_word);
  } else {
    report_suspicion(suspicion);
  }
}

}  // namespace

Stamp current_stamp() {
  Stamp stamp = {run, block.epoch, block.warp().epoch, static_cast<std::uint16_t>(block.current), 0, 0};
  return stamp;
}

void begin_launch_races(std::uint64_t blocks) {
  first_run = run + 1;
  fenced.assign(checking_wanted() ? blocks : 0, false);
  any_fence = false;
}

void note_atomic() { block_took_turn = true; }

void begin_block_races() {
  run++;
  block_took_turn = false;
}

std::uint32_t current_run() { return run; }

void check_race(const Touch& touch, Cell& cell, const void* program_counter) {
  bool write = touch.access & (kWrite | kAtomic);
  if (touch.access & kAtomic) cancel_pending_read(touch.offset);
  if (touch.access & kVolatile && !write && !touch.shared) note_atomic();
  if ((cell.write.bytes & touch.now.bytes) && unordered(cell.write, touch) && !both_strong(cell.write, touch))
    after_write(touch, cell, program_counter);
  // A thread's own plain read before its atomic, as in a compare-and-swap loop, is gone from the cell by then.
  // Where races are hidden, the read comes second in another order.
  bool after_read = write && !device.settings.hides_races && (cell.read.bytes & touch.now.bytes) && !both_strong(cell.read, touch);
  if (after_read && (unordered(cell.read, touch) || unordered_with_many(cell.read, touch))) {
    Suspicion suspicion = suspicion_of(touch, cell.read, program_counter);
    suspicion.read = cell.read;
    suspect_write(suspicion);
  }
  if (write) remember_write(touch, cell);
  else remember_read(touch, cell);
}

}  // namespace cuemu

CUEMU_EXPORT void cuemu_fence() {
  using namespace cuemu;
  if (gives_stale) note_fence();
  if (!checking) return;
  fenced[run - first_run] = true;
  any_fence = true;
}
