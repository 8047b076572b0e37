// Host code (reference counts, std::atomic) is instrumented too; its atomics stay plain atomics.
#include "checker.h"
#include "device.h"
#include "stale.h"

namespace {

template <class T>
void see(const volatile T* address, const void* call_site) {
  if (__builtin_expect(cuemu::hides, 0)) cuemu::put_back();
  if (__builtin_expect(cuemu::gives_stale, 0)) cuemu::note_turn(const_cast<const T*>(address));
  if (__builtin_expect(cuemu::checking, 0))
    cuemu::check_access(const_cast<const T*>(address), sizeof(T), cuemu::kAtomic, call_site);
}

}  // namespace

#define CUEMU_SEEN see(address, __builtin_return_address(0));

#define CUEMU_FETCH(BITS, TYPE, NAME)                                                          \
  CUEMU_EXPORT TYPE __tsan_atomic##BITS##_fetch_##NAME(volatile TYPE* address, TYPE value, int) { \
    CUEMU_SEEN                                                                             \
    return __atomic_fetch_##NAME(address, value, __ATOMIC_SEQ_CST);                            \
  }
#define CUEMU_SWAP(BITS, TYPE, NAME)                                                                          \
  CUEMU_EXPORT int __tsan_atomic##BITS##_compare_exchange_##NAME(volatile TYPE* address, TYPE* expected, TYPE value, int, \
                                                                 int) {                                       \
    CUEMU_SEEN                                                                             \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
  }
#define CUEMU_ATOMICS(BITS, TYPE)                                                         \
  CUEMU_EXPORT TYPE __tsan_atomic##BITS##_load(const volatile TYPE* address, int) {       \
    CUEMU_SEEN                                                                             \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                    \
  }                                                                                       \
  CUEMU_EXPORT void __tsan_atomic##BITS##_store(volatile TYPE* address, TYPE value, int) { \
    CUEMU_SEEN                                                                             \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                   \
  }                                                                                       \
  CUEMU_EXPORT TYPE __tsan_atomic##BITS##_exchange(volatile TYPE* address, TYPE value, int) { \
    CUEMU_SEEN                                                                             \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                         \
  }                                                                                       \
  CUEMU_FETCH(BITS, TYPE, add)                                                            \
  CUEMU_FETCH(BITS, TYPE, sub)                                                            \
  CUEMU_FETCH(BITS, TYPE, and)                                                            \
  CUEMU_FETCH(BITS, TYPE, or)                                                             \
  CUEMU_FETCH(BITS, TYPE, xor)                                                            \
  CUEMU_SWAP(BITS, TYPE, strong)                                                          \
  CUEMU_SWAP(BITS, TYPE, weak)                                                            \
  CUEMU_EXPORT TYPE __tsan_atomic##BITS##_compare_exchange_val(volatile TYPE* address, TYPE expected, TYPE value, int, \
                                                               int) {                     \
    CUEMU_SEEN                                                                             \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                      \
  }

CUEMU_ATOMICS(8, std::uint8_t)
CUEMU_ATOMICS(16, std::uint16_t)
CUEMU_ATOMICS(32, std::uint32_t)
CUEMU_ATOMICS(64, std::uint64_t)

CUEMU_EXPORT void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
CUEMU_EXPORT void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
