// Warp collectives. The lanes that name the same mask meet in the runtime.
#pragma once
#include "cuemu/abi.h"
#include "cuemu/qualifiers.h"

#include <type_traits>

namespace cuemu {

// Every lane of `mask` brings `value`; `result` is called in each lane with what all brought.
template <class T, class Result>
CUEMU_UNCHECKED auto collective(unsigned mask, T value, int line, Result result) {
  static_assert(sizeof(T) <= kExchangeBytes, "a lane brings at most 16 bytes");
  const Exchange* exchange = cuemu_exchange(mask, &value, sizeof(T), line);
  auto answer = result(*exchange);
  cuemu_exchange_done(exchange);
  return answer;
}

template <class T>
inline T brought(const Exchange& exchange, unsigned lane) {
  T value;
  __builtin_memcpy(&value, exchange.value[lane], sizeof(T));
  return value;
}

template <class T>
inline T shuffle(unsigned mask, T value, unsigned source, int line) {
  return collective(mask, value, line, [=](const Exchange& exchange) {
    T answer;
    if (exchange.arrived >> source & 1) answer = brought<T>(exchange, source);
    else cuemu_missing_lane(&answer, sizeof(T), line);
    return answer;
  });
}

template <class T, class Operation>
inline T reduce(unsigned mask, T value, Operation operation, int line) {
  return collective(mask, value, line, [=](const Exchange& exchange) {
    unsigned lane = __builtin_ctz(exchange.arrived);
    T answer = brought<T>(exchange, lane);
    while (++lane < kWarpSize)
      if (exchange.arrived >> lane & 1) answer = operation(answer, brought<T>(exchange, lane));
    return answer;
  });
}

inline unsigned ballot(unsigned mask, bool predicate, int line) {
  return collective(mask, predicate, line, [](const Exchange& exchange) {
    unsigned answer = 0;
    for (unsigned lane = 0; lane < kWarpSize; lane++)
      if ((exchange.arrived >> lane & 1) && brought<bool>(exchange, lane)) answer |= 1u << lane;
    return answer;
  });
}

template <class T>
inline unsigned matching_lanes(unsigned mask, T value, int line) {
  return collective(mask, value, line, [=](const Exchange& exchange) {
    unsigned answer = 0;
    for (unsigned lane = 0; lane < kWarpSize; lane++)
      if ((exchange.arrived >> lane & 1) && !__builtin_memcmp(exchange.value[lane], &value, sizeof(T))) answer |= 1u << lane;
    return answer;
  });
}

}  // namespace cuemu

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE()) {
  unsigned lane = cuemu_lane(), segment = lane & ~(width - 1);
  return cuemu::shuffle(mask, value, segment + (source & (width - 1)), line);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  unsigned lane = cuemu_lane(), segment = lane & ~(width - 1);
  delta &= 31;  // a device looks at five bits
  return cuemu::shuffle(mask, value, lane < segment + delta ? lane : lane - delta, line);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  unsigned lane = cuemu_lane(), end = (lane & ~(width - 1)) + width;
  delta &= 31;
  return cuemu::shuffle(mask, value, lane + delta < end ? lane + delta : lane, line);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, int line = __builtin_LINE()) {
  unsigned lane = cuemu_lane(), end = (lane & ~(width - 1)) + width, source = lane ^ (lanes & 31);
  return cuemu::shuffle(mask, value, source < end ? source : lane, line);
}

inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  char nothing = 0;
  cuemu_exchange_done(cuemu_exchange(mask, &nothing, 1, line));
}
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return cuemu::ballot(mask, predicate != 0, line);
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return cuemu::ballot(mask, predicate != 0, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return cuemu::ballot(mask, predicate == 0, line) == 0;
}
CUEMU_UNCHECKED inline unsigned __activemask() { return cuemu_converged_mask(__builtin_return_address(0)); }

template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, int line = __builtin_LINE()) {
  return cuemu::matching_lanes(mask, value, line);
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all_match, int line = __builtin_LINE()) {
  *all_match = cuemu::collective(mask, value, line, [=](const cuemu::Exchange& exchange) {
    for (unsigned lane = 0; lane < cuemu::kWarpSize; lane++)
      if ((exchange.arrived >> lane & 1) && __builtin_memcmp(exchange.value[lane], &value, sizeof(T))) return 0;
    return 1;
  });
  return *all_match ? mask : 0;
}

#define CUEMU_REDUCE(NAME, EXPRESSION)                                                                    \
  template <class T>                                                                                      \
  inline T __reduce_##NAME##_sync(unsigned mask, T value, int line = __builtin_LINE()) {                  \
    return cuemu::reduce(mask, value, [](T a, T b) { return static_cast<T>(EXPRESSION); }, line);         \
  }
CUEMU_REDUCE(add, a + b)
CUEMU_REDUCE(min, b < a ? b : a)
CUEMU_REDUCE(max, a < b ? b : a)
CUEMU_REDUCE(and, a & b)
CUEMU_REDUCE(or, a | b)
CUEMU_REDUCE(xor, a ^ b)
