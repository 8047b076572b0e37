// What the checker remembers of each 4-byte word, and when two accesses are ordered.
#pragma once
#include "memory.h"

namespace cuemu {

// One access: which block run, which thread, how many barriers of its block and collectives of its warp came before.
struct Stamp {
  std::uint32_t run, epoch, warp_epoch;
  std::uint16_t thread;
  std::uint8_t bytes;  // bit i: byte i of the word
  std::uint8_t flags;
};

enum Flag : std::uint8_t {
  kByAtomic = 1,
  kManyInWarp = 2,   // other lanes of the same warp read it too, or wrote the same value, in the same epochs
  kManyWarps = 4,    // threads of other warps did, in the same epoch
  kManyBlocks = 8,   // blocks other than `run` did, in the same launch
  kByVolatile = 16,  // for reads: all of them
  kByBlock = 32,     // an atomic of block scope
};

struct Cell {
  Stamp write, read;
};
constexpr std::uint8_t kMany = kManyInWarp | kManyWarps | kManyBlocks;
static_assert(sizeof(Cell) == kShadowCellBytes, "the shadow is sized by this");

inline Cell& cell_at(std::uint64_t offset) { return reinterpret_cast<Cell*>(region.shadow)[offset / 4]; }

}  // namespace cuemu
