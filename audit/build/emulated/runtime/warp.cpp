// Warp collectives: lanes that name the same mask meet, exchange 16 bytes each (or work on each other's operands), go on.
// A mask may name lanes that have ended: CUDA asks only those that have not to come. Reading one is reported where it happens.
#include "block.h"

#include <cstring>
#include <string>

namespace cuemu {
namespace {

unsigned needed_lanes(unsigned warp, const Group& group) {
  return group.mask & block.existing_lanes(warp) & ~block.warps[warp].exited;
}

bool is_ready(unsigned warp, const Group& group) {
  unsigned needed = needed_lanes(warp, group);
  return (group.exchange.arrived & needed) == needed;
}

Group*& open_group(Warp& warp, unsigned mask) {
  Group** unused = nullptr;
  for (Group*& slot : warp.open) {
    if (slot && slot->mask == mask) return slot;
    if (!slot && !unused) unused = &slot;
  }
  return *unused;  // at most 32 groups are open: each lane waits in one
}

Group* new_group(unsigned mask, int line) {
  Group* group = block.unused_groups[--block.unused_group_count];
  group->mask = mask;
  group->exchange.arrived = 0;
  group->readers = 0;
  group->line = line;
  group->combine = nullptr;
  return group;
}

// Lets the lanes of a group go on; `self` is running already (or is kNobody's lane).
void complete(unsigned warp_number, Group* group, unsigned self) {
  Warp& warp = block.warps[warp_number];
  if (group->combine) group->combine(group->operands, group->exchange.arrived, group->context);
  warp.epoch++;
  for (Group*& slot : warp.open)
    if (slot == group) slot = nullptr;
  for (unsigned i = 0; i < kWarpSize; i++) {
    unsigned thread = block.order_in_warp[warp_number * kWarpSize + i], lane = thread % kWarpSize;
    if ((group->exchange.arrived >> lane & 1) && thread != self) make_ready(thread);
  }
}

Group* arrive(unsigned mask, int line) {
  unsigned lane = block.lane();
  if (!(mask >> lane & 1)) {
    report("warp-mask", "the calling lane is not in the mask it passes: undefined behaviour", line);
    mask |= 1u << lane;
  }
  Group*& slot = open_group(block.warp(), mask);
  if (!slot) slot = new_group(mask, line);
  slot->exchange.arrived |= 1u << lane;
  slot->readers++;
  return slot;
}

void wait_for_group(Group* group) {
  unsigned warp = block.current / kWarpSize;
  if (!is_ready(warp, *group)) return wait_here(State::at_collective);
  complete(warp, group, block.current);
  resume_context();
}

}  // namespace

bool complete_ready_groups() {
  bool any = false;
  for (unsigned w = 0; w < block.warp_count(); w++)
    for (Group* group : block.warps[w].open)
      if (group && is_ready(w, *group)) {
        complete(w, group, ~0u);
        any = true;
      }
  return any;
}

// A group whose missing lanes wait elsewhere and never come; a device may hang or go on, here it goes on.
bool force_group() {
  for (unsigned w = 0; w < block.warp_count(); w++)
    for (Group* group : block.warps[w].open)
      if (group) {
        report("warp-mask", "the mask of a warp collective names live lanes that never reach it: undefined behaviour",
               group->line);
        complete(w, group, ~0u);
        return true;
      }
  return false;
}

// Parked lanes wait for the rest of their warp to catch up; those furthest behind in the code go first.
bool release_parked() {
  bool any = false;
  for (unsigned w = 0; w < block.warp_count(); w++) {
    const void* first = nullptr;
    unsigned lanes = 0;
    Thread* threads = &block.threads[w * kWarpSize];
    for (unsigned lane = 0; lane < kWarpSize && w * kWarpSize + lane < block.size; lane++) {
      if (threads[lane].state != State::parked) continue;
      if (!lanes || threads[lane].call_site < first) lanes = 0;
      if (!lanes) first = threads[lane].call_site;
      if (threads[lane].call_site == first) lanes |= 1u << lane;
    }
    for (unsigned lane = 0; lane < kWarpSize; lane++)
      if (lanes >> lane & 1) {
        threads[lane].converged = lanes;
        make_ready(w * kWarpSize + lane);
      }
    any = any || lanes;
  }
  return any;
}

}  // namespace cuemu

using namespace cuemu;

CUEMU_EXPORT const Exchange* cuemu_exchange(unsigned mask, const void* value, std::size_t bytes, int line) {
  Group* group = arrive(mask, line);
  std::memcpy(group->exchange.value[block.lane()], value, bytes);
  wait_for_group(group);
  return &group->exchange;
}

CUEMU_EXPORT void cuemu_exchange_done(const Exchange* exchange) {
  auto* group = reinterpret_cast<Group*>(const_cast<Exchange*>(exchange));
  if (--group->readers == 0) block.unused_groups[block.unused_group_count++] = group;
}

CUEMU_EXPORT void cuemu_combine(unsigned mask, void* operand, int line, Combine combine, void* context) {
  Group* group = arrive(mask, line);
  group->operands[block.lane()] = operand;
  group->combine = combine;
  group->context = context;
  wait_for_group(group);
  cuemu_exchange_done(&group->exchange);
}

CUEMU_EXPORT unsigned cuemu_converged_mask(const void* call_site) {
  Thread& self = block.threads[block.current];
  self.call_site = call_site;
  wait_here(State::parked);
  return self.converged;
}

// A lane read one that takes no part: CUDA leaves the value undefined.
CUEMU_EXPORT void cuemu_missing_lane(void* value, std::size_t bytes, int line) {
  report("exited-lane-read", "a shuffle reads a lane that takes no part in it: the value is undefined", line);
  auto* byte = static_cast<unsigned char*>(value);
  for (std::size_t i = 0; i < bytes; i++)
    byte[i] = static_cast<unsigned char>(device.settings.lane_word >> 8 * (i % 4));
}

CUEMU_EXPORT void cuemu_tile_stride(unsigned stride, unsigned step, int line) {
  report("tile-stride", "a tile is loaded or stored with a leading dimension of " + std::to_string(stride) +
         " elements, which has to be a multiple of " + std::to_string(step) + ": undefined behaviour", line);
}
