// cooperative_groups: the block, groups of lanes, reductions and scans over them, asynchronous copies.
#pragma once
#include "cuemu/barriers.h"
#include "cuemu/lane_groups.h"
#include "cuemu/memory_access.h"

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

// A cooperative launch, which alone may synchronise the grid, is refused before.
struct grid_group {
  static bool is_valid() { return false; }
  static void sync(int line = __builtin_LINE()) { cuemu_trap("grid-wide synchronisation in a launch that is not cooperative", line); }
  static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  static unsigned long long num_blocks() { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
  static unsigned long long thread_rank() { return block_rank() * thread_block::num_threads() + cuemu_thread_rank(); }
  static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned long long size() { return num_threads(); }
  static dim3 block_index() { return blockIdx; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

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
// The first thread of the group has nothing before it and gets T{}, whatever the operation.
template <class T, class Operation>
inline T exclusive_scan(const LaneGroup& group, T value, Operation operation, int line = __builtin_LINE()) {
  T before = group.shfl_up(inclusive_scan(group, value, operation, line), 1, line);
  return group.thread_rank() ? before : T{};
}
template <class T>
inline T exclusive_scan(const LaneGroup& group, T value, int line = __builtin_LINE()) {
  return exclusive_scan(group, value, plus<T>(), line);
}

// Copies of the whole group: each thread starts its part, wait() sees its own part done and joins the others.
template <class Group>
inline __attribute__((always_inline)) void start_copy(const Group& group, void* to, const void* from, std::size_t bytes) {
  const std::size_t word = 4, words = (bytes + word - 1) / word;
  for (std::size_t i = group.thread_rank(); i < words; i += group.num_threads())
    cuemu_async_copy(static_cast<char*>(to) + word * i, static_cast<const char*>(from) + word * i,
                     std::min(word, bytes - word * i), 0, 1);
  cuemu_async_commit();
}
template <class Group, class T, class Bytes>
inline __attribute__((always_inline)) void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes) {
  start_copy(group, to, from, static_cast<std::size_t>(bytes));
}
template <class Group, class T, class Layout, class Bytes>
inline __attribute__((always_inline)) void memcpy_async(const Group& group, T* to, const Layout& room, const T* from,
                                                        const Bytes& bytes) {
  start_copy(group, to, from, std::min(static_cast<std::size_t>(room), static_cast<std::size_t>(bytes)) );
}
template <class Group>
inline void wait(const Group& group, int line = __builtin_LINE()) {
  cuemu_async_wait(0);
  group.sync(line);
}
template <unsigned Prior, class Group>
inline void wait_prior(const Group& group, int line = __builtin_LINE()) {
  cuemu_async_wait(Prior);
  group.sync(line);
}

}  // namespace cooperative_groups
