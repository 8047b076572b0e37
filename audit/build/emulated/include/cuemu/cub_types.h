// What all of CUB's parts speak of: operators, pairs, places in TempStorage, values that CUB leaves undefined.
#pragma once
#include "cuemu/device.h"

#include <type_traits>

namespace cuda {

template <class T = void>
struct maximum {
  template <class A, class B>
  CUEMU_INLINED auto operator()(const A& a, const B& b) const {
    return a < b ? b : a;
  }
};
template <class T = void>
struct minimum {
  template <class A, class B>
  CUEMU_INLINED auto operator()(const A& a, const B& b) const {
    return b < a ? b : a;
  }
};

namespace std {

template <class T = void>
struct plus {
  template <class A, class B>
  CUEMU_INLINED auto operator()(const A& a, const B& b) const {
    return a + b;
  }
};

}  // namespace std
}  // namespace cuda

namespace cub {

using Sum = cuda::std::plus<>;
using Max = cuda::maximum<>;
using Min = cuda::minimum<>;
struct NullType {};

template <class Key, class Value>
struct KeyValuePair {
  using Key_t = Key;
  using Value_t = Value;
  Key key;
  Value value;
  KeyValuePair() = default;
  KeyValuePair(const Key& key, const Value& value) : key(key), value(value) {}
  bool operator!=(const KeyValuePair& other) const { return !(value == other.value && key == other.key); }
};

// Of equal values the one of the smaller key.
struct ArgMax {
  template <class Pair>
  CUEMU_INLINED Pair operator()(const Pair& a, const Pair& b) const {
    return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class Pair>
  CUEMU_INLINED Pair operator()(const Pair& a, const Pair& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

}  // namespace cub

namespace cuemu {

// Room for values in TempStorage, which nothing has constructed.
template <class T, int Count>
struct Slots {
  alignas(T) unsigned char bytes[Count * sizeof(T)];

  CUEMU_INLINED T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

// It reads as fresh shared memory does.
template <class T>
inline T undefined() {
  T value;
  cuemu_undefined(&value, sizeof(T));
  return value;
}

// The value of another lane, however large.
template <class T>
CUEMU_INLINED T of_lane(unsigned mask, const T& value, unsigned lane, int line) {
  struct Piece {
    unsigned char bytes[sizeof(T) < kExchangeBytes ? sizeof(T) : kExchangeBytes];
  } piece;
  T answer;
  for (std::size_t at = 0; at < sizeof(T); at += sizeof(Piece)) {
    std::size_t count = at + sizeof(Piece) <= sizeof(T) ? sizeof(Piece) : sizeof(T) - at;
    __builtin_memcpy(&piece, reinterpret_cast<const char*>(&value) + at, count);
    piece = shuffle(mask, piece, lane, line);
    __builtin_memcpy(reinterpret_cast<char*>(&answer) + at, &piece, count);
  }
  return answer;
}

// The `Threads` lanes of a warp that work together, and those of them that exist.
template <int Threads>
struct Segment {
  unsigned first = cuemu_lane() / Threads * Threads;
  unsigned rank = cuemu_lane() - first;
  unsigned mask = Threads == 32 ? ~0u : ((1u << Threads % 32) - 1) << first;
  int size = __builtin_popcount(mask & cuemu_existing_lanes());

  // The first lane gets the reduction of the first `valid` ones; the others what the tree leaves with them.
  template <class T, class Operation>
  CUEMU_INLINED T reduce(T value, Operation operation, int valid, int line) const {
    int end = valid < size ? valid : size;
    for (int step = 1; step < Threads; step *= 2) {
      bool within = static_cast<int>(rank) + step < end;
      T other = of_lane(mask, value, within ? cuemu_lane() + step : cuemu_lane(), line);
      if (within) value = operation(value, other);
    }
    return value;
  }
  template <class T, class Operation>
  CUEMU_INLINED T scan(T value, Operation operation, int line) const {
    for (int step = 1; step < Threads; step *= 2) {
      bool within = static_cast<int>(rank) >= step;
      T other = of_lane(mask, value, within ? cuemu_lane() - step : cuemu_lane(), line);
      if (within) value = operation(other, value);
    }
    return value;
  }
};

template <class T, int Count, class Operation>
CUEMU_INLINED T reduce_items(const T (&items)[Count], Operation operation) {
  T value = items[0];
  for (int i = 1; i < Count; i++) value = operation(value, items[i]);
  return value;
}

}  // namespace cuemu
