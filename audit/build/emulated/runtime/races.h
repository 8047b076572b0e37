// Data races: two threads touch one word, at least one writes, nothing orders them. None is one where
//   both are atomic, or one is and the other volatile, or both are volatile in device memory (flags that blocks poll);
//   all write the value that is there already, and whoever reads has written it too.
#pragma once
#include "checker.h"
#include "shadow.h"

namespace cuemu {

struct Touch {
  std::uint64_t offset;  // of the word
  unsigned access;
  Stamp now;
  bool shared;
};

void begin_launch_races(std::uint64_t blocks);
void begin_block_races();
void note_atomic();  // anywhere, also on a variable outside the region
Stamp current_stamp();

// Looks for a race with what the cell remembers, then remembers this touch.
void check_race(const Touch& touch, Cell& cell, const void* program_counter);
void cancel_pending_read(std::uint64_t offset);

}  // namespace cuemu
