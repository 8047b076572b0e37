// Loads and stores with cache hints, address spaces, asynchronous copies.
#pragma once
#include "cuemu/abi.h"
#include "cuemu/qualifiers.h"

#define CUEMU_LOAD(NAME)                             \
  template <class T>                                 \
  CUEMU_INLINED T NAME(const T* address) {           \
    return *address;                                 \
  }
#define CUEMU_STORE(NAME)                            \
  template <class T>                                 \
  CUEMU_INLINED void NAME(T* address, T value) {     \
    *address = value;                                \
  }
template <class T>
CUEMU_INLINED T __ldg(const T* address, int line = __builtin_LINE()) {
  cuemu_global_only(address, line);
  return *address;
}
CUEMU_LOAD(__ldca)
CUEMU_LOAD(__ldcg)
CUEMU_LOAD(__ldcs)
CUEMU_LOAD(__ldcv)
CUEMU_LOAD(__ldlu)
CUEMU_STORE(__stwb)
CUEMU_STORE(__stcg)
CUEMU_STORE(__stcs)
CUEMU_STORE(__stwt)

inline unsigned __isShared(const void* address) { return cuemu_is_shared(address); }
inline unsigned __isGlobal(const void* address) { return !cuemu_is_shared(address); }
inline std::size_t __cvta_generic_to_shared(const void* address) { return cuemu_shared_address(address); }
inline void* __cvta_shared_to_generic(std::size_t address) { return cuemu_at_shared(static_cast<std::uint32_t>(address)); }
inline std::size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<std::size_t>(address); }

// memcpy, memmove and memset of device code, checked.
CUEMU_INLINED void* cuemu_memcpy(void* to, const void* from, std::size_t bytes) { return __wrap_memcpy(to, from, bytes); }
CUEMU_INLINED void* cuemu_memmove(void* to, const void* from, std::size_t bytes) { return __wrap_memmove(to, from, bytes); }
CUEMU_INLINED void* cuemu_memset(void* to, int value, std::size_t bytes) { return __wrap_memset(to, value, bytes); }

// Copies bytes - zeros bytes and fills the last `zeros` with zero.
CUEMU_INLINED void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0) {
  cuemu_async_copy(to, from, bytes - zeros, zeros, bytes);
}
inline void __pipeline_commit() { cuemu_async_commit(); }
inline void __pipeline_wait_prior(std::size_t groups) { cuemu_async_wait(groups); }
