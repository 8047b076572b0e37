// cooperative_groups: blocks, tiles of a warp, the lanes that are together, reductions and scans over them.
#pragma once
#include "cuemu/barriers.h"
#include "cuemu/memory_access.h"
#include "cuemu/vector_types.h"
#include "cuemu/warp.h"

namespace cooperative_groups {

struct thread_block {
  static void sync(int line = __builtin_LINE()) { cuemu_block_barrier(line, 0); }
  static unsigned thread_rank() { return cuemu_thread_rank(); }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_index() { return blockIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
using thread_group = thread_block;
inline thread_block this_thread_block() { return {}; }

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
  unsigned meta_group_size() const { return (thread_block::num_threads() + Size - 1) / Size; }

 private:
  static unsigned lanes() { return Size == 32 ? ~0u : ((1u << Size % 32) - 1) << cuemu_lane() / Size * Size; }
};
template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

template <class Group>
inline void sync(const Group& group, int line = __builtin_LINE()) {
  group.sync(line);
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

template <class T, class Operation>
inline T reduce(const LaneGroup& group, T value, Operation operation, int line = __builtin_LINE()) {
  return cuemu::reduce(group.mask, value, operation, line);
}
template <class T, class Operation>
inline T inclusive_scan(const LaneGroup& group, T value, Operation operation, int line = __builtin_LINE()) {
  for (unsigned delta = 1; delta < group.num_threads(); delta *= 2) {
    T before = group.shfl_up(value, delta, line);
    if (group.thread_rank() >= delta) value = operation(before, value);
  }
  return value;
}
template <class T>
inline T inclusive_scan(const LaneGroup& group, T value, int line = __builtin_LINE()) {
  return inclusive_scan(group, value, plus<T>(), line);
}
template <class T>
inline T exclusive_scan(const LaneGroup& group, T value, int line = __builtin_LINE()) {
  T before = group.shfl_up(inclusive_scan(group, value, plus<T>(), line), 1, line);
  return group.thread_rank() ? before : T{};
}

// Copies of the whole group; each thread moves its part, wait() makes them visible.
template <class Group, class T, class Bytes>
inline void memcpy_async(const Group& group, T* to, const T* from, Bytes bytes) {
  std::size_t words = static_cast<std::size_t>(bytes) / 4, count = group.num_threads();
  for (std::size_t i = group.thread_rank(); i < words; i += count)
    cuemu::checked_copy(reinterpret_cast<char*>(to) + 4 * i, reinterpret_cast<const char*>(from) + 4 * i, 4);
}
template <class Group>
inline void wait(const Group& group, int line = __builtin_LINE()) {
  group.sync(line);
}

}  // namespace cooperative_groups
