// The device's memory: one reserved region, blocks rounded and apart, the shared memory of a block far behind them.
#pragma once
#include "device.h"

extern "C" std::uint32_t cuemu_launch_number;

namespace cuemu {

struct Allocation {
  std::uint64_t offset;  // into the region
  std::uint64_t bytes;   // as asked for
  std::uint64_t rounded;
  std::uint32_t born;    // value of the run counter: accesses of later runs are of its lifetime
  bool live;
};

struct Region {
  char* base = nullptr;
  std::uint64_t size = 0;
  std::uint64_t used = 0;        // handed out so far, from the base
  std::uint32_t* owner = nullptr;     // per 512 bytes: number of the allocation, 0 none
  std::uint8_t* write_count = nullptr;  // per 4 bytes
  char* shadow = nullptr;        // per 4 bytes one Cell of the checker
};

constexpr std::uint64_t kGranule = 512;
constexpr std::uint64_t kShadowCellBytes = 32;

extern Region region;

constexpr std::uint64_t kMostApart = 1ull << 16;  // the largest gap between two blocks
const Allocation* allocation_at(std::uint64_t offset);
const Allocation* block_before(std::uint64_t offset);  // the one whose gap this is; null where there is none
std::uint64_t reserve_block(std::uint64_t rounded);  // offset of a fresh block that is never freed
std::uint64_t open_arena();  // offset of shared memory, made usable
bool is_near_arena(std::uint64_t offset);  // in shared memory, or within megabytes of it
void* allocate(std::size_t bytes);
bool release(void* address);
std::uint32_t poison_pattern();
bool counts_writes();    // whether the settings want region.write_count
void open_side_arrays();
void forget_writes();
void install_allocator();

constexpr std::uint64_t kArenaBytes = 1u << 20;  // shared memory: the largest opt-in and the gaps between variables

void begin_shared(std::size_t dynamic_bytes);
std::uint64_t arena_place(const void* address);  // bytes from the start of shared memory
void poison_shared();
std::uint32_t shared_pattern();
std::size_t static_shared_bytes();
bool is_in_arena(std::uint64_t offset);
bool is_in_shared_variable(std::uint64_t offset, std::size_t bytes);
bool may_be_in_another_variable(std::uint64_t offset, std::size_t bytes);  // of the block, by where a GPU may place them
bool may_be_given_to_the_block(std::uint64_t offset, std::size_t bytes);   // by a GPU, beside its variables

}  // namespace cuemu
