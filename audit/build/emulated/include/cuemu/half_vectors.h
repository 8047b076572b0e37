// half2 and bfloat162: both halves at once.
#pragma once
#include "cuemu/atomics.h"
#include "cuemu/half_math.h"
#include "cuemu/memory_access.h"
#include "cuemu/vector_types.h"

#define CUEMU_PAIR_BINARY(PAIR, NAME, FUNCTION) \
  inline PAIR NAME(PAIR a, PAIR b) { return {FUNCTION(a.x, b.x), FUNCTION(a.y, b.y)}; }
#define CUEMU_PAIR_TERNARY(PAIR, NAME, FUNCTION) \
  inline PAIR NAME(PAIR a, PAIR b, PAIR c) { return {FUNCTION(a.x, b.x, c.x), FUNCTION(a.y, b.y, c.y)}; }
#define CUEMU_PAIR_UNARY(PAIR, NAME, FUNCTION) \
  inline PAIR NAME(PAIR a) { return {FUNCTION(a.x), FUNCTION(a.y)}; }
#define CUEMU_PAIR_TEST(PAIR, TEST)                                                                                  \
  inline PAIR __h##TEST##2(PAIR a, PAIR b) { return {float(__h##TEST(a.x, b.x)), float(__h##TEST(a.y, b.y))}; }      \
  inline unsigned __h##TEST##2_mask(PAIR a, PAIR b) {                                                                \
    return (__h##TEST(a.x, b.x) ? 0xffffu : 0u) | (__h##TEST(a.y, b.y) ? 0xffff0000u : 0u);                          \
  }                                                                                                                  \
  inline bool __hb##TEST##2(PAIR a, PAIR b) { return __h##TEST(a.x, b.x) && __h##TEST(a.y, b.y); }
#define CUEMU_PAIR_FUNCTION(PAIR, NAME) CUEMU_PAIR_UNARY(PAIR, h2##NAME, h##NAME)
#define CUEMU_PAIR_FUNCTIONS(PAIR)                                                             \
  CUEMU_PAIR_BINARY(PAIR, __hadd2, __hadd)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __hsub2, __hsub)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __hmul2, __hmul)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __h2div, __hdiv)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __hadd2_rn, __hadd)                                                  \
  CUEMU_PAIR_BINARY(PAIR, __hsub2_rn, __hsub)                                                  \
  CUEMU_PAIR_BINARY(PAIR, __hmul2_rn, __hmul)                                                  \
  CUEMU_PAIR_BINARY(PAIR, __hadd2_sat, __hadd_sat)                                             \
  CUEMU_PAIR_BINARY(PAIR, __hsub2_sat, __hsub_sat)                                             \
  CUEMU_PAIR_BINARY(PAIR, __hmul2_sat, __hmul_sat)                                             \
  CUEMU_PAIR_BINARY(PAIR, __hmax2, __hmax)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __hmin2, __hmin)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __hmax2_nan, __hmax_nan)                                             \
  CUEMU_PAIR_BINARY(PAIR, __hmin2_nan, __hmin_nan)                                             \
  CUEMU_PAIR_BINARY(PAIR, operator+, __hadd)                                                   \
  CUEMU_PAIR_BINARY(PAIR, operator-, __hsub)                                                   \
  CUEMU_PAIR_BINARY(PAIR, operator*, __hmul)                                                   \
  CUEMU_PAIR_BINARY(PAIR, operator/, __hdiv)                                                   \
  CUEMU_PAIR_TERNARY(PAIR, __hfma2, __hfma)                                                    \
  CUEMU_PAIR_TERNARY(PAIR, __hfma2_sat, __hfma_sat)                                            \
  CUEMU_PAIR_TERNARY(PAIR, __hfma2_relu, __hfma_relu)                                          \
  CUEMU_PAIR_UNARY(PAIR, operator-, __hneg)                                                    \
  CUEMU_PAIR_UNARY(PAIR, __hneg2, __hneg)                                                      \
  CUEMU_PAIR_UNARY(PAIR, __habs2, __habs)                                                      \
  CUEMU_PAIR_UNARY(PAIR, __hisnan2, __hisnan)                                                  \
  CUEMU_PAIR_TEST(PAIR, eq)                                                                    \
  CUEMU_PAIR_TEST(PAIR, ne)                                                                    \
  CUEMU_PAIR_TEST(PAIR, lt)                                                                    \
  CUEMU_PAIR_TEST(PAIR, le)                                                                    \
  CUEMU_PAIR_TEST(PAIR, gt)                                                                    \
  CUEMU_PAIR_TEST(PAIR, ge)                                                                    \
  CUEMU_PAIR_TESTS_UNORDERED(PAIR)                                                             \
  CUEMU_PAIR_FUNCTION(PAIR, exp)                                                               \
  CUEMU_PAIR_FUNCTION(PAIR, exp2)                                                              \
  CUEMU_PAIR_FUNCTION(PAIR, exp10)                                                             \
  CUEMU_PAIR_FUNCTION(PAIR, log)                                                               \
  CUEMU_PAIR_FUNCTION(PAIR, log2)                                                              \
  CUEMU_PAIR_FUNCTION(PAIR, log10)                                                             \
  CUEMU_PAIR_FUNCTION(PAIR, sin)                                                               \
  CUEMU_PAIR_FUNCTION(PAIR, cos)                                                               \
  CUEMU_PAIR_FUNCTION(PAIR, sqrt)                                                              \
  CUEMU_PAIR_FUNCTION(PAIR, rsqrt)                                                             \
  CUEMU_PAIR_FUNCTION(PAIR, rcp)                                                               \
  CUEMU_PAIR_FUNCTION(PAIR, floor)                                                             \
  CUEMU_PAIR_FUNCTION(PAIR, ceil)                                                              \
  CUEMU_PAIR_FUNCTION(PAIR, rint)                                                              \
  CUEMU_PAIR_FUNCTION(PAIR, trunc)                                                             \
  CUEMU_PAIR_FUNCTION(PAIR, tanh)                                                              \
  CUEMU_PAIR_FUNCTION(PAIR, tanh_approx)                                                       \
  inline PAIR& operator+=(PAIR& a, PAIR b) { return a = a + b; }                               \
  inline PAIR& operator-=(PAIR& a, PAIR b) { return a = a - b; }                               \
  inline PAIR& operator*=(PAIR& a, PAIR b) { return a = a * b; }                               \
  inline PAIR& operator/=(PAIR& a, PAIR b) { return a = a / b; }                               \
  inline PAIR __hcmadd(PAIR a, PAIR b, PAIR c) {                                               \
    return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))}; \
  }
#define CUEMU_PAIR_TESTS_UNORDERED(PAIR) \
  CUEMU_PAIR_TEST(PAIR, equ)             \
  CUEMU_PAIR_TEST(PAIR, neu)             \
  CUEMU_PAIR_TEST(PAIR, ltu)             \
  CUEMU_PAIR_TEST(PAIR, leu)             \
  CUEMU_PAIR_TEST(PAIR, gtu)             \
  CUEMU_PAIR_TEST(PAIR, geu)

CUEMU_PAIR_FUNCTIONS(__half2)
CUEMU_PAIR_FUNCTIONS(__nv_bfloat162)

inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline float2 __half22float2(__half2 v) { return {float(v.x), float(v.y)}; }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline float __low2float(__half2 v) { return v.x; }
inline float __high2float(__half2 v) { return v.y; }
inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {__nv_bfloat16(x), __nv_bfloat16(x)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {float(v.x), float(v.y)}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline float __low2float(__nv_bfloat162 v) { return v.x; }
inline float __high2float(__nv_bfloat162 v) { return v.y; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return {v.x, v.x}; }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return {v.y, v.y}; }
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return {v.y, v.x}; }

CUEMU_ATOMIC(atomicAdd, __half, false, old + value)
CUEMU_ATOMIC(atomicAdd, __nv_bfloat16, false, old + value)
CUEMU_ATOMIC(atomicAdd, __half2, false, old + value)
CUEMU_ATOMIC(atomicAdd, __nv_bfloat162, false, old + value)

CUEMU_CACHED(__half)
CUEMU_CACHED(__nv_bfloat16)
CUEMU_CACHED(__half2)
CUEMU_CACHED(__nv_bfloat162)

// torch's own, which its headers define for a compiler of CUDA alone.
namespace c10 {
CUEMU_CACHED_READ(Half)
CUEMU_CACHED_READ(BFloat16)
}  // namespace c10
