// Atomic functions. Threads run one at a time, so an atomic is a plain update that the checker is told about.
#pragma once
#include "cuemu/abi.h"
#include "cuemu/qualifiers.h"

#include <type_traits>

namespace cuemu {

// Replaces *address by update(old); an update that changes nothing may be a wait, so others get a turn.
template <class T, class Update>
CUEMU_UNCHECKED T atomic_update(T* address, const void* call_site, bool may_wait, Update update) {
  cuemu_atomic_access(address, sizeof(T), call_site);
  T before = *address;
  T after = update(before);
  *address = after;
  if (may_wait && !__builtin_memcmp(&before, &after, sizeof(T))) cuemu_spin();
  return before;
}

}  // namespace cuemu

#define CUEMU_ATOMIC_FORM(NAME, SUFFIX, MAY_WAIT, EXPRESSION)                                         \
  template <class T>                                                                                  \
  CUEMU_UNCHECKED T NAME##SUFFIX(T* address, std::type_identity_t<T> value) {                   \
    return cuemu::atomic_update(address, __builtin_return_address(0), MAY_WAIT,                       \
                                [value](T old) { return static_cast<T>(EXPRESSION); });               \
  }
#define CUEMU_ATOMIC(NAME, MAY_WAIT, EXPRESSION)             \
  CUEMU_ATOMIC_FORM(NAME, , MAY_WAIT, EXPRESSION)            \
  CUEMU_ATOMIC_FORM(NAME, _block, MAY_WAIT, EXPRESSION)      \
  CUEMU_ATOMIC_FORM(NAME, _system, MAY_WAIT, EXPRESSION)

CUEMU_ATOMIC(atomicAdd, false, old + value)
CUEMU_ATOMIC(atomicSub, false, old - value)
CUEMU_ATOMIC(atomicMin, false, value < old ? value : old)
CUEMU_ATOMIC(atomicMax, false, old < value ? value : old)
CUEMU_ATOMIC(atomicAnd, false, old & value)
CUEMU_ATOMIC(atomicOr, false, old | value)
CUEMU_ATOMIC(atomicXor, false, old ^ value)
CUEMU_ATOMIC(atomicExch, true, value)
CUEMU_ATOMIC(atomicInc, false, old >= value ? 0 : old + 1)
CUEMU_ATOMIC(atomicDec, false, old == 0 || old > value ? value : old - 1)

#define CUEMU_COMPARE_AND_SWAP(SUFFIX)                                                                            \
  template <class T>                                                                                              \
  CUEMU_UNCHECKED T atomicCAS##SUFFIX(T* address, std::type_identity_t<T> expected,                         \
                                      std::type_identity_t<T> value) {                                      \
    return cuemu::atomic_update(address, __builtin_return_address(0), !(value == expected),                       \
                                [=](T old) { return old == expected ? value : old; });                            \
  }
CUEMU_COMPARE_AND_SWAP()
CUEMU_COMPARE_AND_SWAP(_block)
CUEMU_COMPARE_AND_SWAP(_system)
