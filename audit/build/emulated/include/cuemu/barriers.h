// Block barriers, fences and traps.
#pragma once
#include "cuemu/abi.h"

inline void __syncthreads(int line = __builtin_LINE()) { cuemu_block_barrier(line, 0); }
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return cuemu_block_barrier(line, predicate).count;
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return cuemu_block_barrier(line, predicate).all;
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return cuemu_block_barrier(line, predicate).any;
}

inline void __threadfence() { cuemu_fence(); }
inline void __threadfence_system() { cuemu_fence(); }
inline void __threadfence_block() {}
inline void __nanosleep(unsigned int) { cuemu_spin(); }
inline void __trap(int line = __builtin_LINE()) { cuemu_trap("the kernel called __trap()", line); }
inline void __brkpt() {}
inline long long clock64() { return static_cast<long long>(cuemu_clock()); }
inline unsigned long long __globaltimer() { return cuemu_clock(); }

namespace cuemu {

// assert() of device code; of host code too, where it ends the process as ever.
inline void assert_failed(const char* condition, const char* file, int line) {
  if (cuemu_in_kernel()) cuemu_trap("device-side assert triggered", line);
  __builtin_printf("%s:%d: assertion `%s' failed\n", file, line, condition);
  __builtin_abort();
}

}  // namespace cuemu
