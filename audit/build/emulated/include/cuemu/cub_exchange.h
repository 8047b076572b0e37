// cub::BlockLoad, cub::BlockStore and cub::BlockExchange. The forms that transpose go through TempStorage, as CUB's do.
#pragma once
#include "cuemu/cub_types.h"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

template <class T, int X, int Items, bool = false, int Y = 1, int Z = 1, int = 0>
class BlockExchange {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage {
    cuemu::Slots<T, kThreads * Items> items;
  };

  BlockExchange(int line = __builtin_LINE()) : temp_(cuemu::shared<TempStorage, BlockExchange>()), line_(line) {}
  BlockExchange(TempStorage& temp, int line = __builtin_LINE()) : temp_(temp), line_(line) {}

  template <class Out>
  CUEMU_INLINED void StripedToBlocked(const T (&in)[Items], Out (&out)[Items]) {
    exchange(in, out, [](int i) { return striped(i); }, [](int i) { return blocked(i); });
  }
  template <class Out>
  CUEMU_INLINED void BlockedToStriped(const T (&in)[Items], Out (&out)[Items]) {
    exchange(in, out, [](int i) { return blocked(i); }, [](int i) { return striped(i); });
  }
  template <class Out, class Rank>
  CUEMU_INLINED void ScatterToBlocked(const T (&in)[Items], Out (&out)[Items], const Rank (&ranks)[Items]) {
    exchange(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, [](int i) { return blocked(i); });
  }
  template <class Out, class Rank>
  CUEMU_INLINED void ScatterToStriped(const T (&in)[Items], Out (&out)[Items], const Rank (&ranks)[Items]) {
    exchange(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, [](int i) { return striped(i); });
  }
  CUEMU_INLINED void StripedToBlocked(T (&items)[Items]) { StripedToBlocked(items, items); }
  CUEMU_INLINED void BlockedToStriped(T (&items)[Items]) { BlockedToStriped(items, items); }

  CUEMU_INLINED static int striped(int i) { return cuemu_thread_rank() + i * kThreads; }
  CUEMU_INLINED static int blocked(int i) { return cuemu_thread_rank() * Items + i; }

 private:
  TempStorage& temp_;
  int line_;

  template <class Out, class To, class From>
  CUEMU_INLINED void exchange(const T (&in)[Items], Out (&out)[Items], To to, From from) {
    for (int i = 0; i < Items; i++) temp_.items[to(i)] = in[i];
    cuemu_block_barrier(line_, 0);
    for (int i = 0; i < Items; i++) out[i] = temp_.items[from(i)];
  }
};

template <class T, int X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockLoad {
  using Exchange = BlockExchange<T, X, Items, false, Y, Z>;
  static constexpr bool kThrough = Algorithm >= BLOCK_LOAD_TRANSPOSE;
  struct Nothing {};

 public:
  using TempStorage = std::conditional_t<kThrough, typename Exchange::TempStorage, Nothing>;

  BlockLoad(int line = __builtin_LINE()) : temp_(cuemu::shared<TempStorage, BlockLoad>()), line_(line) {}
  BlockLoad(TempStorage& temp, int line = __builtin_LINE()) : temp_(temp), line_(line) {}

  template <class Iterator>
  CUEMU_INLINED void Load(Iterator from, T (&items)[Items]) {
    Load(from, items, X * Y * Z * Items);
  }
  // Items behind the valid ones keep what they held.
  template <class Iterator>
  CUEMU_INLINED void Load(Iterator from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; i++)
      if (place(i) < valid) items[i] = from[place(i)];
    if constexpr (kThrough) Exchange(temp_, line_).StripedToBlocked(items);
  }
  template <class Iterator, class Default>
  CUEMU_INLINED void Load(Iterator from, T (&items)[Items], int valid, Default otherwise) {
    for (int i = 0; i < Items; i++) items[i] = static_cast<T>(otherwise);
    Load(from, items, valid);
  }

 private:
  TempStorage& temp_;
  int line_;

  CUEMU_INLINED static int place(int i) {
    return kThrough || Algorithm == BLOCK_LOAD_STRIPED ? Exchange::striped(i) : Exchange::blocked(i);
  }
};

template <class T, int X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockStore {
  using Exchange = BlockExchange<T, X, Items, false, Y, Z>;
  static constexpr bool kThrough = Algorithm >= BLOCK_STORE_TRANSPOSE;
  struct Nothing {};

 public:
  using TempStorage = std::conditional_t<kThrough, typename Exchange::TempStorage, Nothing>;

  BlockStore(int line = __builtin_LINE()) : temp_(cuemu::shared<TempStorage, BlockStore>()), line_(line) {}
  BlockStore(TempStorage& temp, int line = __builtin_LINE()) : temp_(temp), line_(line) {}

  template <class Iterator>
  CUEMU_INLINED void Store(Iterator to, T (&items)[Items]) {
    Store(to, items, X * Y * Z * Items);
  }
  template <class Iterator>
  CUEMU_INLINED void Store(Iterator to, T (&items)[Items], int valid) {
    if constexpr (kThrough) Exchange(temp_, line_).BlockedToStriped(items);
    for (int i = 0; i < Items; i++)
      if (place(i) < valid) to[place(i)] = items[i];
  }

 private:
  TempStorage& temp_;
  int line_;

  CUEMU_INLINED static int place(int i) {
    return kThrough || Algorithm == BLOCK_STORE_STRIPED ? Exchange::striped(i) : Exchange::blocked(i);
  }
};

}  // namespace cub
