// Loads and stores with cache hints, address spaces, asynchronous copies.
#pragma once
#include "cuemu/abi.h"
#include "cuemu/qualifiers.h"
#include "cuemu/vector_types.h"

// Functions as CUDA declares them (sm_32_intrinsics.h), no templates: a template of the source may have the same name,
// and other types do not compile.
#define CUEMU_LOAD(NAME, T) \
  CUEMU_INLINED T NAME(const T* address) { return *address; }
#define CUEMU_STORE(NAME, T) \
  CUEMU_INLINED void NAME(T* address, T value) { *address = value; }
#define CUEMU_CACHED_READ(T)                                             \
  CUEMU_INLINED T __ldg(const T* address, int line = __builtin_LINE()) { \
    cuemu_global_only(address, line);                                    \
    return *address;                                                     \
  }
#define CUEMU_CACHED(T)    \
  CUEMU_CACHED_READ(T)     \
  CUEMU_LOAD(__ldca, T)    \
  CUEMU_LOAD(__ldcg, T)    \
  CUEMU_LOAD(__ldcs, T)    \
  CUEMU_LOAD(__ldcv, T)    \
  CUEMU_LOAD(__ldlu, T)    \
  CUEMU_STORE(__stwb, T)   \
  CUEMU_STORE(__stcg, T)   \
  CUEMU_STORE(__stcs, T)   \
  CUEMU_STORE(__stwt, T)
CUEMU_CACHED(char) CUEMU_CACHED(signed char) CUEMU_CACHED(unsigned char)
CUEMU_CACHED(short) CUEMU_CACHED(unsigned short) CUEMU_CACHED(int) CUEMU_CACHED(unsigned int)
CUEMU_CACHED(long) CUEMU_CACHED(unsigned long) CUEMU_CACHED(long long) CUEMU_CACHED(unsigned long long)
CUEMU_CACHED(float) CUEMU_CACHED(double)
CUEMU_CACHED(char2) CUEMU_CACHED(char4) CUEMU_CACHED(uchar2) CUEMU_CACHED(uchar4)
CUEMU_CACHED(short2) CUEMU_CACHED(short4) CUEMU_CACHED(ushort2) CUEMU_CACHED(ushort4)
CUEMU_CACHED(int2) CUEMU_CACHED(int4) CUEMU_CACHED(uint2) CUEMU_CACHED(uint4)
CUEMU_CACHED(longlong2) CUEMU_CACHED(ulonglong2)
CUEMU_CACHED(float2) CUEMU_CACHED(float4) CUEMU_CACHED(double2)

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
