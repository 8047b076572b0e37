// cub::BlockRadixSort, cub::BlockMergeSort and cub::WarpMergeSort: keys go to TempStorage, one thread sorts them, all take theirs.
#pragma once
#include "cuemu/cub_block.h"
#include "cuemu/half.h"

#include <algorithm>

namespace cuemu {

// The bits of a key from `begin` to `end`, in the order of keys as unsigned numbers; -0 is 0.
template <class Key>
inline unsigned long long radix(const Key& key, int begin, int end) {
  unsigned long long bits = 0, sign = 1ull << (8 * sizeof(Key) - 1);
  __builtin_memcpy(&bits, &key, sizeof(Key));
  if constexpr (!std::is_integral_v<Key>) bits = bits == sign || bits == 0 ? sign : bits & sign ? bits ^ (2 * sign - 1) : bits | sign;
  else if constexpr (std::is_signed_v<Key>) bits ^= sign;
  return bits >> begin & (end - begin < 64 ? (1ull << (end - begin)) - 1 : ~0ull);
}
template <class Key>
struct RadixLess {
  int begin, end;
  bool descending;
  bool operator()(const Key& a, const Key& b) const {
    return descending ? radix(b, begin, end) < radix(a, begin, end) : radix(a, begin, end) < radix(b, begin, end);
  }
};

// A key and the place it came from, which decides among equal ones: every sort is stable.
template <class Key>
struct Sorted {
  Key key;
  int place;
};
template <class Key, class Less>
inline void sort(Sorted<Key>* first, Sorted<Key>* last, Less less) {
  std::sort(first, last, [&](const Sorted<Key>& a, const Sorted<Key>& b) {
    if (less(a.key, b.key)) return true;
    return !less(b.key, a.key) && a.place < b.place;
  });
}

template <class Key, class Value, int Count>
struct SortStorage {
  Slots<Sorted<Key>, Count> keys;
  Slots<Value, std::is_same_v<Value, cub::NullType> ? 1 : Count> values;
};

// Of `threads` threads with `Items` keys each; `meet` is their barrier, `valid` the number of keys that count.
template <int Items, class Key, class Value, class Storage, class Less, class Meet>
CUEMU_INLINED void sort_together(Storage& temp, Key (&keys)[Items], Value (*values)[Items], Less less, Meet meet, int rank,
                                 int threads, bool striped, int valid) {
  for (int i = 0; i < Items; i++) {
    temp.keys[rank * Items + i] = {keys[i], rank * Items + i};
    if (values) temp.values[rank * Items + i] = (*values)[i];
  }
  meet();
  if (!rank) sort(&temp.keys[0], &temp.keys[0] + valid, less);
  meet();
  for (int i = 0; i < Items; i++) {
    Sorted<Key>& one = temp.keys[striped ? rank + i * threads : rank * Items + i];
    keys[i] = one.key;
    if (values) (*values)[i] = temp.values[one.place];
  }
}

}  // namespace cuemu

namespace cub {

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

template <class Key, int X, int Items, class Value = NullType, int = 4, bool = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS,
          int = 0, int Y = 1, int Z = 1, int = 0>
class BlockRadixSort {
  static constexpr int kThreads = X * Y * Z, kBits = 8 * sizeof(Key);

 public:
  using TempStorage = cuemu::SortStorage<Key, Value, kThreads * Items>;

  BlockRadixSort(int line = __builtin_LINE()) : temp_(cuemu::shared<TempStorage, BlockRadixSort>()), line_(line) {}
  BlockRadixSort(TempStorage& temp, int line = __builtin_LINE()) : temp_(temp), line_(line) {}

#define CUEMU_SORT(NAME, DESCENDING, STRIPED)                                                                  \
  CUEMU_INLINED void NAME(Key (&keys)[Items], int begin = 0, int end = kBits) {                                \
    run(keys, static_cast<Value(*)[Items]>(nullptr), begin, end, DESCENDING, STRIPED);                         \
  }                                                                                                           \
  CUEMU_INLINED void NAME(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = kBits) {        \
    run(keys, &values, begin, end, DESCENDING, STRIPED);                                                       \
  }
  CUEMU_SORT(Sort, false, false)
  CUEMU_SORT(SortDescending, true, false)
  CUEMU_SORT(SortBlockedToStriped, false, true)
  CUEMU_SORT(SortDescendingBlockedToStriped, true, true)

 private:
  TempStorage& temp_;
  int line_;

  CUEMU_INLINED void run(Key (&keys)[Items], Value (*values)[Items], int begin, int end, bool descending, bool striped) {
    auto meet = [this] { cuemu_block_barrier(line_, 0); };
    cuemu::sort_together(temp_, keys, values, cuemu::RadixLess<Key>{begin, end, descending}, meet, cuemu_thread_rank(), kThreads,
                         striped, kThreads * Items);
  }
};

// Items behind the valid ones take `otherwise`, which has to come last by the order that is sorted by.
#define CUEMU_MERGE_SORTS(NAME)                                                                                \
  template <class Less>                                                                                       \
  CUEMU_INLINED void NAME(Key (&keys)[Items], Less less) {                                                     \
    run(keys, static_cast<Value(*)[Items]>(nullptr), less, kThreads * Items);                                  \
  }                                                                                                           \
  template <class Less>                                                                                       \
  CUEMU_INLINED void NAME(Key (&keys)[Items], Value (&values)[Items], Less less) {                             \
    run(keys, &values, less, kThreads * Items);                                                                \
  }                                                                                                           \
  template <class Less>                                                                                       \
  CUEMU_INLINED void NAME(Key (&keys)[Items], Less less, int valid, Key otherwise) {                           \
    for (int i = 0; i < Items; i++)                                                                            \
      if (rank() * Items + i >= valid) keys[i] = otherwise;                                                    \
    run(keys, static_cast<Value(*)[Items]>(nullptr), less, kThreads * Items);                                  \
  }                                                                                                           \
  template <class Less>                                                                                       \
  CUEMU_INLINED void NAME(Key (&keys)[Items], Value (&values)[Items], Less less, int valid, Key otherwise) {   \
    for (int i = 0; i < Items; i++)                                                                            \
      if (rank() * Items + i >= valid) keys[i] = otherwise;                                                    \
    run(keys, &values, less, kThreads * Items);                                                                \
  }

template <class Key, int X, int Items, class Value = NullType, int Y = 1, int Z = 1>
class BlockMergeSort {
  static constexpr int kThreads = X * Y * Z;

 public:
  using TempStorage = cuemu::SortStorage<Key, Value, kThreads * Items>;

  BlockMergeSort(int line = __builtin_LINE()) : temp_(cuemu::shared<TempStorage, BlockMergeSort>()), line_(line) {}
  BlockMergeSort(TempStorage& temp, int line = __builtin_LINE()) : temp_(temp), line_(line) {}
  CUEMU_MERGE_SORTS(Sort)
  CUEMU_MERGE_SORTS(StableSort)

 private:
  TempStorage& temp_;
  int line_;

  CUEMU_INLINED static int rank() { return cuemu_thread_rank(); }
  template <class Less>
  CUEMU_INLINED void run(Key (&keys)[Items], Value (*values)[Items], Less less, int valid) {
    auto meet = [this] { cuemu_block_barrier(line_, 0); };
    cuemu::sort_together(temp_, keys, values, less, meet, rank(), kThreads, false, valid);
  }
};

template <class Key, int Items, int Threads = 32, class Value = NullType, int = 0>
class WarpMergeSort {
  static constexpr int kThreads = Threads;

 public:
  using TempStorage = cuemu::SortStorage<Key, Value, Threads * Items>;

  WarpMergeSort(TempStorage& temp, int line = __builtin_LINE()) : temp_(temp), line_(line) {}
  CUEMU_MERGE_SORTS(Sort)
  CUEMU_MERGE_SORTS(StableSort)

 private:
  TempStorage& temp_;
  int line_;

  CUEMU_INLINED static int rank() { return cuemu::Segment<Threads>().rank; }
  template <class Less>
  CUEMU_INLINED void run(Key (&keys)[Items], Value (*values)[Items], Less less, int valid) {
    auto meet = [this] { __syncwarp(cuemu::Segment<Threads>().mask, line_); };
    cuemu::sort_together(temp_, keys, values, less, meet, rank(), Threads, false, valid);
  }
};

}  // namespace cub
