// Atomic functions. Threads run one at a time, so an atomic is a plain update that the checker is told about.
#pragma once
#include "cuemu/abi.h"
#include "cuemu/qualifiers.h"

// Replaces *address by AFTER, in which `old` is what it holds; an update that changes nothing may be a wait, so others get a
// turn. A macro, since a template would be instantiated for each of the functions below in each source.
#define CUEMU_ATOMIC_UPDATE(T, SCOPE, CALL_SITE, MAY_WAIT, AFTER)             \
  {                                                                           \
    cuemu_##SCOPE##_atomic(address, sizeof(T), CALL_SITE);                    \
    T old = *address;                                                         \
    T after = static_cast<T>(AFTER);                                          \
    *address = after;                                                         \
    if (MAY_WAIT && !__builtin_memcmp(&old, &after, sizeof(T))) cuemu_spin(); \
    return old;                                                               \
  }

namespace cuemu {

template <class T, class Update>
CUEMU_UNCHECKED T atomic_update(T* address, const void* call_site, bool may_wait, Update update)
CUEMU_ATOMIC_UPDATE(T, device, call_site, may_wait, update(old))

// In global memory an atomic sum of floats takes and gives denormal numbers as zeros; in shared memory it does not.
inline float flushed(float x) { return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x; }
inline float sum_at(const float* address, float old, float value) {
  return cuemu_is_shared(address) ? old + value : flushed(flushed(old) + flushed(value));
}

}  // namespace cuemu

// In exactly the overloads that CUDA has: a pointer to another type does not compile there either.
#define CUEMU_ATOMIC_FORM(NAME, SCOPE, T, MAY_WAIT, EXPRESSION) \
  inline CUEMU_UNCHECKED T NAME(T* address, T value) \
  CUEMU_ATOMIC_UPDATE(T, SCOPE, __builtin_return_address(0), MAY_WAIT, EXPRESSION)
#define CUEMU_ATOMIC(NAME, T, MAY_WAIT, EXPRESSION)                 \
  CUEMU_ATOMIC_FORM(NAME, device, T, MAY_WAIT, EXPRESSION)          \
  CUEMU_ATOMIC_FORM(NAME##_block, block, T, MAY_WAIT, EXPRESSION)   \
  CUEMU_ATOMIC_FORM(NAME##_system, device, T, MAY_WAIT, EXPRESSION)
#define CUEMU_ATOMIC_OF_WORDS(NAME, MAY_WAIT, EXPRESSION)    \
  CUEMU_ATOMIC(NAME, int, MAY_WAIT, EXPRESSION)              \
  CUEMU_ATOMIC(NAME, unsigned int, MAY_WAIT, EXPRESSION)     \
  CUEMU_ATOMIC(NAME, unsigned long long, MAY_WAIT, EXPRESSION)
#define CUEMU_ATOMIC_OF_INTEGERS(NAME, EXPRESSION)       \
  CUEMU_ATOMIC_OF_WORDS(NAME, false, EXPRESSION)         \
  CUEMU_ATOMIC(NAME, long long, false, EXPRESSION)

CUEMU_ATOMIC_OF_WORDS(atomicAdd, false, old + value)
CUEMU_ATOMIC(atomicAdd, float, false, cuemu::sum_at(address, old, value))
CUEMU_ATOMIC(atomicAdd, double, false, old + value)
CUEMU_ATOMIC(atomicSub, int, false, old - value)
CUEMU_ATOMIC(atomicSub, unsigned int, false, old - value)
CUEMU_ATOMIC_OF_INTEGERS(atomicMin, value < old ? value : old)
CUEMU_ATOMIC_OF_INTEGERS(atomicMax, old < value ? value : old)
CUEMU_ATOMIC_OF_INTEGERS(atomicAnd, old & value)
CUEMU_ATOMIC_OF_INTEGERS(atomicOr, old | value)
CUEMU_ATOMIC_OF_INTEGERS(atomicXor, old ^ value)
CUEMU_ATOMIC_OF_WORDS(atomicExch, true, value)
CUEMU_ATOMIC(atomicExch, float, true, value)
CUEMU_ATOMIC(atomicInc, unsigned int, false, old >= value ? 0 : old + 1)
CUEMU_ATOMIC(atomicDec, unsigned int, false, old == 0 || old > value ? value : old - 1)

#define CUEMU_COMPARE_AND_SWAP_FORM(NAME, SCOPE, T)                \
  inline CUEMU_UNCHECKED T NAME(T* address, T expected, T value)   \
  CUEMU_ATOMIC_UPDATE(T, SCOPE, __builtin_return_address(0), !(value == expected), old == expected ? value : old)
#define CUEMU_COMPARE_AND_SWAP(T)                            \
  CUEMU_COMPARE_AND_SWAP_FORM(atomicCAS, device, T)          \
  CUEMU_COMPARE_AND_SWAP_FORM(atomicCAS_block, block, T)     \
  CUEMU_COMPARE_AND_SWAP_FORM(atomicCAS_system, device, T)
CUEMU_COMPARE_AND_SWAP(int)
CUEMU_COMPARE_AND_SWAP(unsigned int)
CUEMU_COMPARE_AND_SWAP(unsigned long long)
CUEMU_COMPARE_AND_SWAP(unsigned short)
