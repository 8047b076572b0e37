// Loads and stores with cache hints, address spaces, asynchronous copies (done at once).
#pragma once
#include "cuemu/abi.h"

#define CUEMU_LOAD(NAME)                     \
  template <class T>                         \
  inline T NAME(const T* address) {          \
    return *address;                         \
  }
#define CUEMU_STORE(NAME)                    \
  template <class T>                         \
  inline void NAME(T* address, T value) {    \
    *address = value;                        \
  }
CUEMU_LOAD(__ldg)
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
inline std::size_t __cvta_generic_to_shared(const void* address) { return reinterpret_cast<std::size_t>(address); }
inline std::size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<std::size_t>(address); }

namespace cuemu {

// In pieces of 4 bytes where it can be, as one piece each for the checker.
inline void checked_copy(void* to, const void* from, std::size_t bytes) {
  std::size_t i = 0;
  for (; i + 4 <= bytes; i += 4)
    reinterpret_cast<unsigned*>(to)[i / 4] = reinterpret_cast<const unsigned*>(from)[i / 4];
  for (; i < bytes; i++) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
}

}  // namespace cuemu

// Copies bytes - zeros bytes and fills the last `zeros` with zero.
inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0) {
  cuemu::checked_copy(to, from, bytes - zeros);
  for (std::size_t i = bytes - zeros; i < bytes; i++) static_cast<char*>(to)[i] = 0;
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(std::size_t) {}
