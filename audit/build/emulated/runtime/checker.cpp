#include "checker.h"
#include "async_copies.h"
#include "block.h"
#include "fiber.h"
#include "memory.h"
#include "part.h"
#include "pending.h"
#include "races.h"
#include "stale.h"
#include "variables.h"

#include <cstring>
#include <string>

namespace cuemu {

bool checking = false;
bool heeded = false;
bool heeded_writes = false;

namespace {

void report_bounds(const Allocation* allocation, std::uint64_t offset, std::size_t bytes, unsigned access,
                   const void* program_counter) {
  bool write = access & (kWrite | kAtomic);
  if (!allocation) allocation = block_before(offset);
  std::string message = std::string(write ? "writes " : "reads ") + std::to_string(bytes) + " bytes ";
  if (is_near_arena(offset) && may_be_in_another_variable(offset, bytes))
    message += "outside every shared variable, where another one of the block may lie on a GPU";
  else if (is_near_arena(offset) && may_be_given_to_the_block(offset, bytes))
    message += "outside every shared variable, in shared memory that a GPU may give the block beside them";
  else if (is_near_arena(offset)) message += "outside every shared variable";
  else if (allocation && !allocation->live) message += "of memory that has been freed";
  else if (allocation) message += "past the end of a block of " + std::to_string(allocation->bytes) + " bytes";
  else message += "outside every block of device memory";
  report_at(write ? "out-of-bounds-write" : "out-of-bounds-read", message, program_counter);
}

bool in_bounds(const Allocation* allocation, std::uint64_t offset, std::size_t bytes) {
  if (is_in_arena(offset)) return is_in_shared_variable(offset, bytes);
  if (!allocation || !allocation->live) return false;
  return offset >= allocation->offset && offset + bytes <= allocation->offset + allocation->bytes;
}

bool is_uninitialised(const Cell& cell, std::uint64_t offset, std::uint32_t born, std::uint32_t pattern) {
  if (!pattern || (cell.write.bytes && cell.write.run > born)) return false;
  return std::memcmp(region.base + offset, &pattern, 4) == 0;
}

std::uint8_t bytes_of_word(std::uint64_t word, std::uint64_t from, std::uint64_t to) {
  if (word >= from && word + 4 <= to) return 15;
  unsigned mask = 0;
  for (unsigned i = 0; i < 4; i++)
    if (word + i >= from && word + i < to) mask |= 1u << i;
  return static_cast<std::uint8_t>(mask);
}

void count_write(std::uint64_t word) {
  std::uint8_t& count = region.write_count[word / 4];
  if (count < 255) count++;
}

void check_word(const Touch& touch, std::uint32_t born, std::uint32_t pattern, const void* program_counter) {
  Cell& cell = cell_at(touch.offset);
  if (!(touch.access & kWrite) && is_uninitialised(cell, touch.offset, born, pattern))
    report_at("uninitialised-read", touch.shared ? "reads shared memory that no thread of the block has written yet"
                                                 : "reads device memory that nothing has written since its allocation",
              program_counter);
  if (touch.access & (kWrite | kAtomic) && !touch.shared) count_write(touch.offset);
  check_race(touch, cell, program_counter);
}

}  // namespace

void check_access(const void* address, std::size_t bytes, unsigned access, const void* program_counter) {
  std::uint64_t offset = static_cast<const char*>(address) - region.base;
  if (offset + 2 * region.size >= 7 * region.size) {  // a stack, a variable of the device, memory of the host; the holes are not
    if (is_near_variables(address))
      check_variable(static_cast<const char*>(address), bytes, access, static_cast<const char*>(program_counter) - 1);
    return;
  }
  __builtin_prefetch(region.shadow + offset / 4 * kShadowCellBytes, 1);  // its cell, which is far from the last one's
  settle_writes();
  auto* call = static_cast<const char*>(program_counter) - 1;
  const Allocation* allocation = offset < region.used ? allocation_at(offset) : nullptr;
  if (!in_bounds(allocation, offset, bytes)) return report_bounds(allocation, offset, bytes, access, call);
  bool shared = is_in_arena(offset);
  std::uint32_t born = shared ? current_run() - 1 : allocation->born;
  std::uint32_t pattern = shared ? shared_pattern() : poison_pattern();
  if (shared && is_being_copied(offset, bytes))
    report_at("unfinished-copy", "touches shared memory that an asynchronous copy is still to write: nothing has waited for it", call);
  Touch touch = {0, access, current_stamp(), shared};
  for (std::uint64_t word = offset & ~3ull; word < offset + bytes; word += 4) {
    touch.offset = word;
    touch.now.bytes = bytes_of_word(word, offset, offset + bytes);
    check_word(touch, born, pattern, call);
  }
}

void check_alignment(const void* address, std::size_t alignment, const void* program_counter) {
  auto place = reinterpret_cast<std::uintptr_t>(address);
  std::uint64_t offset = static_cast<const char*>(address) - region.base;
  if (place % alignment == 0 || !device.in_kernel || (offset >= region.used && !is_in_arena(offset))) return;
  report_at("misaligned-access", "accesses " + std::to_string(alignment) + " bytes at an address that is no multiple of " +
            std::to_string(alignment) + ": a GPU stops the kernel here", static_cast<const char*>(program_counter) - 1);
  end_launch(kMisalignedAddress);
}

CUEMU_EXPORT void cuemu_global_only(const void* address, int line) {
  if (!device.in_kernel) return;
  auto* place = static_cast<const char*>(address);
  bool local = block.fiber && place >= block.fiber->stack && place < block.fiber->stack + kStackBytes;
  if (local || cuemu_is_shared(address))
    report("not-global-memory", local ? "__ldg reads a local variable as if it were in global memory: undefined behaviour"
                                      : "__ldg reads shared memory as if it were global memory: undefined behaviour", line);
}

bool checking_wanted() { return device.settings.checker != 0; }

void begin_launch_check() {
  uint3 grid = device.running->grid;
  begin_launch_races(std::uint64_t{grid.x} * grid.y * grid.z);
  begin_launch_stale();
  checking = checking_wanted();
  heeded = checking || gives_stale || device.settings.thread_order == Order::lockstep;
  heeded_writes = heeded || notes_writes();
}

void begin_block_check() {
  begin_block_races();
  begin_block_stale();
}

void end_launch_check() {
  if (checking) settle_pending();
  put_back();
  gives_stale = hides = checking = heeded = heeded_writes = false;
}

}  // namespace cuemu

namespace {

void see_atomic(void* address, std::size_t bytes, unsigned access, const void* call_site) {
  if (cuemu::device.in_kernel) cuemu::device.launches.back().atomics = true;
  if (cuemu::hides) cuemu::put_back();
  if (cuemu::gives_stale) cuemu::note_turn(address);
  if (!cuemu::checking) return;
  cuemu::note_atomic();
  cuemu::check_access(address, bytes, access, call_site);
}

}  // namespace

CUEMU_EXPORT void cuemu_device_atomic(void* address, std::size_t bytes, const void* call_site) {
  see_atomic(address, bytes, cuemu::kAtomic, call_site);
}

CUEMU_EXPORT void cuemu_block_atomic(void* address, std::size_t bytes, const void* call_site) {
  see_atomic(address, bytes, cuemu::kAtomic | cuemu::kOfBlock, call_site);
}
