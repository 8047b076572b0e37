// Groups of lanes of one warp: tiles, the lanes that are together, parts of them; reductions and scans over them.
#pragma once
#include "cuemu/vector_types.h"
#include "cuemu/warp.h"

#include <algorithm>

namespace cooperative_groups {

struct thread_block;

// Lanes of one warp, named by a mask. Rank is the position among them.
struct LaneGroup {
  unsigned mask;

  unsigned thread_rank() const { return __builtin_popcount(mask & ((1u << cuemu_lane()) - 1)); }
  unsigned num_threads() const { return __builtin_popcount(mask); }
  unsigned size() const { return num_threads(); }
  void sync(int line = __builtin_LINE()) const { __syncwarp(mask, line); }
  unsigned lane_of(unsigned rank) const {
    unsigned left = mask;
    for (; rank && left; rank--) left &= left - 1;
    return left ? __builtin_ctz(left) : cuemu_lane();
  }
  template <class T>
  T shfl(T value, unsigned rank, int line = __builtin_LINE()) const {
    return cuemu::shuffle(mask, value, lane_of(rank % num_threads()), line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, int line = __builtin_LINE()) const {
    unsigned rank = thread_rank() + delta;
    return cuemu::shuffle(mask, value, rank < num_threads() ? lane_of(rank) : cuemu_lane(), line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, int line = __builtin_LINE()) const {
    unsigned rank = thread_rank();
    return cuemu::shuffle(mask, value, rank >= delta ? lane_of(rank - delta) : cuemu_lane(), line);
  }
  template <class T>
  T shfl_xor(T value, unsigned lanes, int line = __builtin_LINE()) const {
    unsigned rank = thread_rank() ^ lanes;
    return cuemu::shuffle(mask, value, rank < num_threads() ? lane_of(rank) : cuemu_lane(), line);
  }
  bool any(int predicate, int line = __builtin_LINE()) const { return __any_sync(mask, predicate, line); }
  bool all(int predicate, int line = __builtin_LINE()) const { return __all_sync(mask, predicate, line); }
  unsigned ballot(int predicate, int line = __builtin_LINE()) const {
    return compact(__ballot_sync(mask, predicate, line));
  }
  template <class T>
  unsigned match_any(T value, int line = __builtin_LINE()) const {
    return compact(__match_any_sync(mask, value, line));
  }
  template <class T>
  unsigned match_all(T value, int& all_match, int line = __builtin_LINE()) const {
    return compact(__match_all_sync(mask, value, &all_match, line));
  }

 private:
  // Bits of the group's lanes moved together, in the order of ranks.
  unsigned compact(unsigned lanes) const {
    unsigned ranks = 0, rank = 0;
    for (unsigned lane = 0; lane < 32; lane++)
      if (mask >> lane & 1) ranks |= (lanes >> lane & 1) << rank++;
    return ranks;
  }
};

struct coalesced_group : LaneGroup {
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
};
inline __attribute__((always_inline)) coalesced_group coalesced_threads() { return {{__activemask()}}; }

template <unsigned Size, class Parent = thread_block>
struct thread_block_tile : LaneGroup {
  static_assert(Size && Size <= 32 && (Size & (Size - 1)) == 0, "tiles of 1, 2, 4, ... 32 threads are modelled");
  thread_block_tile() : LaneGroup{lanes()} {}
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  unsigned thread_rank() const { return cuemu_lane() % Size; }
  unsigned meta_group_rank() const { return cuemu_thread_rank() / Size; }
  unsigned meta_group_size() const { return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size; }

 private:
  static unsigned lanes() { return Size == 32 ? ~0u : ((1u << Size % 32) - 1) << cuemu_lane() / Size * Size; }
};
template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}
inline LaneGroup tiled_partition(const thread_block&, unsigned size) {
  unsigned first = cuemu_lane() / size * size, last = std::min(first + size, 32u);
  return {static_cast<unsigned>((1ull << last) - (1ull << first)) & cuemu_existing_lanes()};
}
template <class Label>
inline coalesced_group labeled_partition(const LaneGroup& group, Label label, int line = __builtin_LINE()) {
  return {{__match_any_sync(group.mask, label, line)}};
}
inline coalesced_group binary_partition(const LaneGroup& group, bool predicate, int line = __builtin_LINE()) {
  unsigned with = __ballot_sync(group.mask, predicate, line);
  return {{predicate ? with : group.mask & ~with}};
}
template <class Group, class Function>
inline void invoke_one(const Group& group, Function&& function) {
  if (group.thread_rank() == 0) function();
}

}  // namespace cooperative_groups
