// cub::BlockReduce and cub::BlockScan: warps first, then their results through TempStorage, with one barrier between. A second use
// of one TempStorage without a barrier is a race here as on a GPU.
#pragma once
#include "cuemu/cub_warp.h"

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce {
  static constexpr int kThreads = X * Y * Z, kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    cuemu::Slots<T, kWarps> warps;
  };

  BlockReduce(int line = __builtin_LINE()) : temp_(cuemu::shared<TempStorage, BlockReduce>()), line_(line) {}
  BlockReduce(TempStorage& temp, int line = __builtin_LINE()) : temp_(temp), line_(line) {}

  template <class Operation>
  CUEMU_INLINED T Reduce(T input, Operation operation, int valid) {
    const int rank = cuemu_thread_rank(), warp = rank / 32;
    T value = cuemu::Segment<32>().reduce(input, operation, valid - 32 * warp, line_);
    if (rank % 32 == 0) temp_.warps[warp] = value;
    cuemu_block_barrier(line_, 0);
    if (rank) return cuemu::undefined<T>();  // only the first thread is promised the result
    for (int w = 1; w < kWarps && 32 * w < valid; w++) value = operation(value, temp_.warps[w]);
    return value;
  }
  template <class Operation>
  CUEMU_INLINED T Reduce(T input, Operation operation) {
    return Reduce(input, operation, kThreads);
  }
  template <int Count, class Operation>
  CUEMU_INLINED T Reduce(T (&inputs)[Count], Operation operation) {
    return Reduce(cuemu::reduce_items(inputs, operation), operation);
  }
  CUEMU_INLINED T Sum(T input) { return Reduce(input, cub::Sum()); }
  CUEMU_INLINED T Sum(T input, int valid) { return Reduce(input, cub::Sum(), valid); }
  template <int Count>
  CUEMU_INLINED T Sum(T (&inputs)[Count]) {
    return Reduce(inputs, cub::Sum());
  }

 private:
  TempStorage& temp_;
  int line_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0>
class BlockScan {
  static constexpr int kThreads = X * Y * Z, kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    cuemu::Slots<T, kWarps> warps;
    cuemu::Slots<T, 1> prefix;
  };

  BlockScan(int line = __builtin_LINE()) : temp_(cuemu::shared<TempStorage, BlockScan>()), line_(line) {}
  BlockScan(TempStorage& temp, int line = __builtin_LINE()) : temp_(temp), line_(line) {}

  // All threads get the aggregate, which leaves out what comes before the block.
  template <int Count>
  CUEMU_INLINED void InclusiveSum(T (&input)[Count], T (&output)[Count]) {
    run<true>(input, output, cub::Sum(), None());
  }
  template <int Count>
  CUEMU_INLINED void InclusiveSum(T (&input)[Count], T (&output)[Count], T& aggregate) {
    aggregate = run<true>(input, output, cub::Sum(), None());
  }
  template <class Prefix, int Count>
  CUEMU_INLINED void InclusiveSum(T (&input)[Count], T (&output)[Count], Prefix& prefix) {
    run<true>(input, output, cub::Sum(), Called<Prefix>{prefix});
  }
  template <class Operation, int Count>
  CUEMU_INLINED void InclusiveScan(T (&input)[Count], T (&output)[Count], Operation operation) {
    run<true>(input, output, operation, None());
  }
  template <class Operation, int Count>
  CUEMU_INLINED void InclusiveScan(T (&input)[Count], T (&output)[Count], Operation operation, T& aggregate) {
    aggregate = run<true>(input, output, operation, None());
  }
  template <class Operation, class Prefix, int Count>
  CUEMU_INLINED void InclusiveScan(T (&input)[Count], T (&output)[Count], Operation operation, Prefix& prefix) {
    run<true>(input, output, operation, Called<Prefix>{prefix});
  }
  template <class Operation, int Count>
  CUEMU_INLINED void InclusiveScan(T (&input)[Count], T (&output)[Count], T first, Operation operation) {
    run<true>(input, output, operation, First{first});
  }
  template <class Operation, int Count>
  CUEMU_INLINED void InclusiveScan(T (&input)[Count], T (&output)[Count], T first, Operation operation, T& aggregate) {
    aggregate = run<true>(input, output, operation, First{first});
  }
  template <int Count>
  CUEMU_INLINED void ExclusiveSum(T (&input)[Count], T (&output)[Count]) {
    run<false>(input, output, cub::Sum(), First{T(0)});
  }
  template <int Count>
  CUEMU_INLINED void ExclusiveSum(T (&input)[Count], T (&output)[Count], T& aggregate) {
    aggregate = run<false>(input, output, cub::Sum(), First{T(0)});
  }
  template <class Prefix, int Count>
  CUEMU_INLINED void ExclusiveSum(T (&input)[Count], T (&output)[Count], Prefix& prefix) {
    run<false>(input, output, cub::Sum(), Called<Prefix>{prefix});
  }
  template <class Operation, int Count>
  CUEMU_INLINED void ExclusiveScan(T (&input)[Count], T (&output)[Count], Operation operation) {
    run<false>(input, output, operation, None());
  }
  template <class Operation, int Count>
  CUEMU_INLINED void ExclusiveScan(T (&input)[Count], T (&output)[Count], Operation operation, T& aggregate) {
    aggregate = run<false>(input, output, operation, None());
  }
  template <class Operation, class Prefix, int Count>
  CUEMU_INLINED void ExclusiveScan(T (&input)[Count], T (&output)[Count], Operation operation, Prefix& prefix) {
    run<false>(input, output, operation, Called<Prefix>{prefix});
  }
  template <class Operation, int Count>
  CUEMU_INLINED void ExclusiveScan(T (&input)[Count], T (&output)[Count], T first, Operation operation) {
    run<false>(input, output, operation, First{first});
  }
  template <class Operation, int Count>
  CUEMU_INLINED void ExclusiveScan(T (&input)[Count], T (&output)[Count], T first, Operation operation, T& aggregate) {
    aggregate = run<false>(input, output, operation, First{first});
  }
  // A value a thread, with whatever stands behind it.
#define CUEMU_OF_ONE(NAME)                                                                                                     \
  template <class... Rest>                                                                                                     \
  CUEMU_INLINED void NAME(T input, T& output, Rest&&... rest) {                                                                \
    NAME(reinterpret_cast<T(&)[1]>(input), reinterpret_cast<T(&)[1]>(output), std::forward<Rest>(rest)...);                    \
  }
  CUEMU_OF_ONE(InclusiveSum)
  CUEMU_OF_ONE(ExclusiveSum)
  CUEMU_OF_ONE(InclusiveScan)
  CUEMU_OF_ONE(ExclusiveScan)

 private:
  TempStorage& temp_;
  int line_;

  // What comes before the block's first item.
  struct None {};
  struct First {
    T value;
  };
  template <class Prefix>
  struct Called {
    Prefix& prefix;
  };
  CUEMU_INLINED bool before(None, const T&, T&) { return false; }
  CUEMU_INLINED bool before(First first, const T&, T& value) {
    value = first.value;
    return true;
  }
  // The first warp calls it; the first lane's answer counts.
  template <class Prefix>
  CUEMU_INLINED bool before(Called<Prefix> called, const T& all, T& value) {
    const int rank = cuemu_thread_rank();
    if (rank < 32) {
      T answer = called.prefix(all);
      if (!rank) temp_.prefix[0] = answer;
    }
    cuemu_block_barrier(line_, 0);
    value = temp_.prefix[0];
    return true;
  }

  template <bool Inclusive, int Count, class Operation, class Before>
  CUEMU_INLINED T run(T (&input)[Count], T (&output)[Count], Operation operation, Before from) {
    const int rank = cuemu_thread_rank(), warp = rank / 32;
    cuemu::Segment<32> lanes;
    T own = lanes.scan(cuemu::reduce_items(input, operation), operation, line_);
    T carry = cuemu::of_lane(lanes.mask, own, lanes.rank ? cuemu_lane() - 1 : cuemu_lane(), line_);
    if (static_cast<int>(lanes.rank) == lanes.size - 1) temp_.warps[warp] = own;
    cuemu_block_barrier(line_, 0);
    T all = temp_.warps[0], warps = all;  // of all warps, and of those before this one
    for (int w = 1; w < kWarps; w++) {
      if (w == warp) warps = all;
      all = operation(all, temp_.warps[w]);
    }
    if (warp) carry = lanes.rank ? operation(warps, carry) : warps;
    T first;
    bool known = before(from, all, first);
    if (known) carry = rank ? operation(first, carry) : first;
    known = known || rank;
    for (int i = 0; i < Count; i++) {
      T item = input[i], next = known ? operation(carry, item) : item;
      output[i] = Inclusive ? next : known ? carry : cuemu::undefined<T>();
      carry = next;
      known = true;
    }
    return all;
  }
};

}  // namespace cub
