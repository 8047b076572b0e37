// Suspicions that what the same thread does next can dispel.
#pragma once
#include "shadow.h"

#include <cstdint>

namespace cuemu {

struct Suspicion {
  const char* kind;
  const char* message;
  std::uint64_t offset;  // of the word in the region
  const void* program_counter;
  // For the cell, if it turns out that a write left the word as it was: flags, and the readers it would make forgotten.
  std::uint8_t agreed;
  Stamp read;
};

void report_suspicion(const Suspicion& suspicion);
void suspect_write(const Suspicion& suspicion);  // dropped if the write leaves the word as it was
void suspect_read(const Suspicion& suspicion);   // dropped if the thread's next access to the word is atomic
void settle_writes();
bool checking_wanted();

}  // namespace cuemu
