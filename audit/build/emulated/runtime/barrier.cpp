// __syncthreads and its voting forms: every thread that has not ended must arrive.
#include "block.h"

#include <string>

namespace cuemu {
namespace {

void report_divergence(int first_line, int other_line) {
  report("barrier-divergence", "threads of one block meet at different barriers (lines " + std::to_string(first_line) +
         " and " + std::to_string(other_line) + "): undefined behaviour", first_line);
}

bool everyone_waits() {
  bool all_started = block.next_fresh >= block.size;
  return all_started && block.waiting && block.waiting == block.size - block.done;
}

}  // namespace

bool release_barrier(unsigned self) {
  if (!everyone_waits()) return false;
  int first_line = 0, other_line = 0;
  for (unsigned i = 0; i < block.size; i++) {
    unsigned thread = block.order[i];
    if (block.threads[thread].state != State::at_barrier) continue;
    int line = block.threads[thread].line;
    if (!first_line) first_line = line;
    if (line != first_line) other_line = line;
    if (thread != self) make_ready(thread);
  }
  if (other_line) report_divergence(first_line, other_line);
  block.last_votes = block.votes;
  block.votes = {1, 0, 0};
  block.waiting = 0;
  cuemu_end_phase();
  return true;
}

}  // namespace cuemu

using namespace cuemu;

CUEMU_EXPORT cuemu_votes cuemu_block_barrier(int line, int predicate) {
  block.votes.all &= predicate != 0;
  block.votes.any |= predicate != 0;
  block.votes.count += predicate != 0;
  block.waiting++;
  Thread& self = block.threads[block.current];
  self.line = line;
  self.state = State::at_barrier;
  // The last one to arrive goes on without leaving its stack.
  if (release_barrier(block.current)) {
    self.state = State::ready;
    resume_context();
  } else {
    wait_here(State::at_barrier);
  }
  return block.last_votes;
}

CUEMU_EXPORT void cuemu_end_phase() {
  block.epoch++;
  for (unsigned w = 0; w < block.warp_count(); w++) block.warps[w].epoch++;
}
