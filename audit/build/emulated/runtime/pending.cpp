#include "pending.h"
#include "checker.h"
#include "memory.h"

#include <cstring>

namespace cuemu {
namespace {

constexpr unsigned kMost = 8;

struct Pending {
  Suspicion suspicion;
  std::uint32_t before;
};

Pending writes[kMost];
Suspicion reads[kMost];
unsigned write_count = 0, read_count = 0;

std::uint32_t word_at(std::uint64_t offset) {
  std::uint32_t word;
  std::memcpy(&word, region.base + offset, 4);
  return word;
}

void leave_as_it_was(const Suspicion& suspicion) {
  Cell& cell = cell_at(suspicion.offset);
  cell.write.flags |= suspicion.agreed;
  if (!cell.read.bytes) cell.read = suspicion.read;
}

}  // namespace

void report_suspicion(const Suspicion& suspicion) {
  report_at(suspicion.kind, suspicion.message, suspicion.program_counter);
}

void suspect_write(const Suspicion& suspicion) {
  if (write_count < kMost) writes[write_count++] = {suspicion, word_at(suspicion.offset)};
}

void suspect_read(const Suspicion& suspicion) {
  if (read_count < kMost) reads[read_count++] = suspicion;
}

void cancel_pending_read(std::uint64_t offset) {
  for (unsigned i = 0; i < read_count; i++)
    if (reads[i].offset == offset) reads[i--] = reads[--read_count];
}

void settle_writes() {
  for (unsigned i = 0; i < write_count; i++) {
    const Suspicion& suspicion = writes[i].suspicion;
    if (word_at(suspicion.offset) != writes[i].before) report_suspicion(suspicion);
    else leave_as_it_was(suspicion);
  }
  write_count = 0;
}

void settle_pending() {
  settle_writes();
  for (unsigned i = 0; i < read_count; i++) report_suspicion(reads[i]);
  read_count = 0;
}

}  // namespace cuemu
