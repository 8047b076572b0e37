#include "races.h"
#include "block.h"
#include "pending.h"

namespace cuemu {
namespace {

std::uint32_t run = 0;         // of the block at work
std::uint32_t first_run = 1;   // of the launch at work
std::vector<bool> fenced;      // blocks of this launch that have called __threadfence
bool any_fence = false;
bool block_did_atomic = false;

// "My block's results are complete": a fence, then an atomic on a counter, lets the last block read all of them.
bool ordered_by_fence(std::uint32_t other_run) { return block_did_atomic && fenced[other_run - first_run]; }

bool unordered(const Stamp& earlier, const Touch& touch) {
  const Stamp& now = touch.now;
  if (earlier.run < first_run) return false;
  if (earlier.run != now.run) return !touch.shared && !ordered_by_fence(earlier.run);
  if (earlier.thread == now.thread || earlier.epoch != now.epoch) return false;
  bool same_warp = earlier.thread / kWarpSize == now.thread / kWarpSize;
  return !same_warp || earlier.warp_epoch == now.warp_epoch;
}

// Whether one of several readers, of which the cell names only the last, is unordered with this write.
bool unordered_with_many(const Stamp& read, const Touch& touch) {
  const Stamp& now = touch.now;
  if (read.run < first_run) return false;
  if (read.flags & kManyBlocks) return !touch.shared && !(block_did_atomic && any_fence);
  if (read.run != now.run || read.epoch != now.epoch) return false;
  if (read.flags & kManyWarps) return true;
  bool same_warp = read.thread / kWarpSize == now.thread / kWarpSize;
  return (read.flags & kManyInWarp) && same_warp && read.warp_epoch == now.warp_epoch;
}

std::uint8_t merged_flags(const Stamp& before, const Stamp& now) {
  if (before.run < first_run || !before.bytes) return 0;
  std::uint8_t flags = before.flags & kManyBlocks;
  if (before.run != now.run) return flags | kManyBlocks;
  if (before.epoch != now.epoch) return flags;
  flags |= before.flags & kManyWarps;
  if (before.thread / kWarpSize != now.thread / kWarpSize) return flags | kManyWarps;
  if (before.warp_epoch != now.warp_epoch) return flags;
  flags |= before.flags & kManyInWarp;
  return before.thread == now.thread ? flags : flags | kManyInWarp;
}

void remember(const Touch& touch, Cell& cell) {
  if (touch.access & (kWrite | kAtomic)) {
    cell.write = touch.now;
    cell.write.flags = touch.access & kAtomic ? kByAtomic : 0;
    cell.read.bytes = 0;
    return;
  }
  std::uint8_t flags = merged_flags(cell.read, touch.now);
  std::uint8_t bytes = flags ? cell.read.bytes | touch.now.bytes : touch.now.bytes;
  cell.read = touch.now;
  cell.read.flags = flags;
  cell.read.bytes = bytes;
}

Suspicion suspicion_of(const Touch& touch, const Stamp& other, const void* program_counter) {
  bool same_warp = other.run == touch.now.run && other.thread / kWarpSize == touch.now.thread / kWarpSize;
  if (touch.access & kVolatile && same_warp)
    return {"warp-mask", "lanes of a warp exchange data through volatile memory without __syncwarp(): undefined behaviour "
            "since Volta", touch.offset, program_counter};
  const char* kind = touch.shared ? "race-shared" : "race-global";
  const char* what = touch.access & kWrite ? "writes a word that another thread of the launch touches, nothing orders the two"
                                           : "reads a word that another thread of the launch writes, nothing orders the two";
  return {kind, what, touch.offset, program_counter};
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

void note_atomic() { block_did_atomic = true; }

void begin_block_races() {
  run++;
  block_did_atomic = false;
}

std::uint32_t current_run() { return run; }

void check_race(const Touch& touch, Cell& cell, const void* program_counter) {
  bool atomic = touch.access & kAtomic, write = touch.access & (kWrite | kAtomic);
  if (atomic) cancel_pending_read(touch.offset);
  bool both_atomic = atomic && (cell.write.flags & kByAtomic);
  if ((cell.write.bytes & touch.now.bytes) && !both_atomic && unordered(cell.write, touch)) {
    Suspicion suspicion = suspicion_of(touch, cell.write, program_counter);
    if (write) suspect_write(suspicion);
    else if (cell.write.flags & kByAtomic) suspect_read(suspicion);
    else report_suspicion(suspicion);
  }
  // An atomic after a plain read is the usual compare-and-swap loop; the read itself is judged when it happens.
  bool after_read = write && !atomic && (cell.read.bytes & touch.now.bytes);
  if (after_read && (unordered(cell.read, touch) || unordered_with_many(cell.read, touch)))
    suspect_write(suspicion_of(touch, cell.read, program_counter));
  remember(touch, cell);
}

}  // namespace cuemu

CUEMU_EXPORT void cuemu_fence() {
  using namespace cuemu;
  if (!checking) return;
  fenced[run - first_run] = true;
  any_fence = true;
}
