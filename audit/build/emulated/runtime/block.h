// One thread block at work: its threads, warps and the queue of those that can go on.
#pragma once
#include "device.h"
#include "fiber.h"

namespace cuemu {

constexpr unsigned kMostThreads = 1024;
constexpr unsigned kMostWarps = kMostThreads / kWarpSize;

enum class State : std::uint8_t { fresh, ready, at_barrier, at_collective, parked, done };

struct Thread {
  uint3 index;
  State state;
  Fiber* fiber;
  int line;               // of the barrier it waits at
  const void* call_site;  // where it is parked
  unsigned converged;     // the lanes it was released with
};

// The lanes that meet in one warp collective; told apart by their mask.
struct Group {
  Exchange exchange;
  unsigned mask;
  unsigned readers;  // lanes that have not yet taken their result
  int line;
  void* operands[kWarpSize];
  Combine combine;
  void* context;
};

struct Warp {
  Group* open[kWarpSize];
  unsigned exited;
  std::uint32_t epoch;  // counts collectives, for the race check
};

struct Block {
  Thread threads[kMostThreads];
  Warp warps[kMostWarps];
  unsigned order[kMostThreads];
  unsigned order_in_warp[kMostThreads];  // 32 threads a warp, in that order too; past the block's end in the last one
  unsigned queue[kMostThreads + 1];
  Group groups[kMostThreads];
  Group* unused_groups[kMostThreads];
  unsigned size, next_fresh, done, waiting, current;
  unsigned queue_head, queue_length, unused_group_count;
  std::uint32_t epoch;  // counts block barriers
  std::uint64_t fruitless_spins;
  cuemu_votes votes, last_votes;
  Fiber* fiber;
  void* host_stack_pointer;
  const LaunchRequest* request;

  unsigned warp_count() const { return (size + kWarpSize - 1) / kWarpSize; }
  Warp& warp() { return warps[current / kWarpSize]; }
  unsigned lane() const { return current % kWarpSize; }
  unsigned existing_lanes(unsigned warp) const {
    unsigned left = size - warp * kWarpSize;
    return left >= kWarpSize ? ~0u : (1u << left) - 1;
  }
};

extern Block block;

void run_block(const LaunchRequest& request, unsigned size);
void wait_here(State state);     // leaves the running thread, which waits; returns when it may go on
void make_ready(unsigned thread);
void resume_context();           // puts threadIdx back after others have run
bool complete_ready_groups();
bool force_group();
bool release_parked();
bool release_barrier(unsigned self);

}  // namespace cuemu
