#pragma once
#include "cuemu/torch_cuda.h"
#include "cuemu/warp.h"

// torch's names of exchanges between the lanes of a warp.
#define WARP_ACTIVE() __activemask()
inline unsigned WARP_BALLOT(int predicate, unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line);
}
template <class T>
inline T WARP_SHFL(T value, int source, int width = 32, unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  return __shfl_sync(mask, value, source, width, line);
}
template <class T>
inline T WARP_SHFL_XOR(T value, int lanes, int width = 32, unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  return __shfl_xor_sync(mask, value, lanes, width, line);
}
template <class T>
inline T WARP_SHFL_UP(T value, unsigned delta, int width = 32, unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  return __shfl_up_sync(mask, value, delta, width, line);
}
template <class T>
inline T WARP_SHFL_DOWN(T value, unsigned delta, int width = 32, unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  return __shfl_down_sync(mask, value, delta, width, line);
}
