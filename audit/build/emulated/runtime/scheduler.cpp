// Runs the threads of a block one after another. A thread goes on until it waits; only then does it keep its stack.
#include "block.h"
#include "checker.h"

#include <exception>
#include <string>

extern "C" {
__attribute__((visibility("default"))) uint3 cuemu_thread_index;
__attribute__((visibility("default"))) uint3 cuemu_block_index;
__attribute__((visibility("default"))) uint3 cuemu_block_dim;
__attribute__((visibility("default"))) uint3 cuemu_grid_dim;
}

namespace cuemu {

Block block;

namespace {

constexpr unsigned kNobody = ~0u;
constexpr std::uint64_t kMostFruitlessSpins = 1u << 20;

void run_one_thread() {
  try {
    block.request->body(block.request->context);
  } catch (const std::exception& error) {
    cuemu_trap((std::string("C++ exception inside a kernel: ") + error.what()).c_str(), 0);
  }
  block.threads[block.current].state = State::done;
  block.warp().exited |= 1u << block.lane();
  block.done++;
  block.fruitless_spins = 0;
}

void schedule(bool keep_stack);

void fiber_entry() {
  while (block.next_fresh < block.size) {
    block.current = block.order[block.next_fresh++];
    block.threads[block.current].state = State::ready;
    resume_context();
    run_one_thread();
  }
  schedule(false);
  __builtin_unreachable();
}

unsigned pop_ready() {
  unsigned thread = block.queue[block.queue_head];
  block.queue_head = (block.queue_head + 1) % (kMostThreads + 1);
  block.queue_length--;
  return thread;
}

// Nobody can run: find out who may be released, in the order in which a device would get there.
bool release_somebody() {
  return complete_ready_groups() || release_parked() || release_barrier(kNobody) || force_group();
}

// The stack to go on with; null: the block has ended.
Fiber* next_fiber() {
  for (;;) {
    if (block.next_fresh < block.size) return take_fiber(fiber_entry);
    if (block.queue_length) {
      block.current = pop_ready();
      return block.threads[block.current].fiber;
    }
    if (block.done == block.size) return nullptr;
    if (release_somebody()) continue;
    report("deadlock", "no thread of the block can go on", block.request->line);
    end_launch(kLaunchTimeout);
  }
}

void schedule(bool keep_stack) {
  Fiber* self = block.fiber;
  Fiber* target = next_fiber();
  if (target == self) return;
  if (!keep_stack) give_back_fiber(self);
  block.fiber = target;
  cuemu_switch(&self->stack_pointer, target ? target->stack_pointer : block.host_stack_pointer);
}

void reset_block(const LaunchRequest& request, unsigned size) {
  block.request = &request;
  block.size = size;
  block.next_fresh = block.done = block.waiting = block.current = 0;
  block.queue_head = block.queue_length = 0;
  block.epoch = 0;
  block.fruitless_spins = 0;
  block.votes = {1, 0, 0};
  for (unsigned i = 0; i < size; i++) block.threads[i].state = State::fresh;
  for (unsigned w = 0; w < block.warp_count(); w++) block.warps[w] = Warp{};
  for (unsigned i = 0; i < kMostThreads; i++) block.unused_groups[i] = &block.groups[i];
  block.unused_group_count = kMostThreads;
  give_back_all_fibers();
}

}  // namespace

void make_ready(unsigned thread) {
  block.threads[thread].state = State::ready;
  block.queue[(block.queue_head + block.queue_length++) % (kMostThreads + 1)] = thread;
  block.fruitless_spins = 0;
}

void resume_context() {
  cuemu_thread_index = block.threads[block.current].index;
  if (checking) settle_pending();
}

void wait_here(State state) {
  if (checking) settle_pending();
  unsigned self = block.current;
  block.threads[self].state = state;
  block.threads[self].fiber = block.fiber;
  schedule(true);
  block.current = self;
  block.threads[self].state = State::ready;
  resume_context();
}

void run_block(const LaunchRequest& request, unsigned size) {
  reset_block(request, size);
  block.fiber = take_fiber(fiber_entry);
  cuemu_switch(&block.host_stack_pointer, block.fiber->stack_pointer);
  if (checking) settle_pending();
}

}  // namespace cuemu

using namespace cuemu;

CUEMU_EXPORT void cuemu_spin() {
  if (!device.in_kernel) return;
  std::uint64_t spins = ++block.fruitless_spins;
  if (spins > kMostFruitlessSpins) {
    report("deadlock", "a thread waits for a value that no other thread of its block will write (blocks run one after "
           "another here: a wait for another block needs a GPU)", block.request->line);
    end_launch(kLaunchTimeout);
  }
  if (spins % kMostThreads == 0) release_parked();  // what is waited for may be what they are about to do
  make_ready(block.current);
  block.fruitless_spins = spins;
  wait_here(State::ready);
}
CUEMU_EXPORT unsigned cuemu_lane() { return block.lane(); }
CUEMU_EXPORT unsigned cuemu_existing_lanes() { return block.existing_lanes(block.current / kWarpSize); }
CUEMU_EXPORT unsigned cuemu_thread_rank() { return block.current; }
CUEMU_EXPORT bool cuemu_in_kernel() { return device.in_kernel != 0; }
