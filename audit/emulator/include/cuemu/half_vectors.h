// half2 and bfloat162: both halves at once.
#pragma once
#include "cuemu/half_functions.h"
#include "cuemu/vector_types.h"

#define CUEMU_PAIR_BINARY(PAIR, NAME, FUNCTION) \
  inline PAIR NAME(PAIR a, PAIR b) { return {FUNCTION(a.x, b.x), FUNCTION(a.y, b.y)}; }
#define CUEMU_PAIR_UNARY(PAIR, NAME, FUNCTION) \
  inline PAIR NAME(PAIR a) { return {FUNCTION(a.x), FUNCTION(a.y)}; }
#define CUEMU_PAIR_FUNCTIONS(PAIR, T)                                                          \
  CUEMU_PAIR_BINARY(PAIR, __hadd2, __hadd)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __hsub2, __hsub)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __hmul2, __hmul)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __h2div, __hdiv)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __hmax2, __hmax)                                                     \
  CUEMU_PAIR_BINARY(PAIR, __hmin2, __hmin)                                                     \
  CUEMU_PAIR_BINARY(PAIR, operator+, __hadd)                                                   \
  CUEMU_PAIR_BINARY(PAIR, operator-, __hsub)                                                   \
  CUEMU_PAIR_BINARY(PAIR, operator*, __hmul)                                                   \
  CUEMU_PAIR_BINARY(PAIR, operator/, __hdiv)                                                   \
  CUEMU_PAIR_UNARY(PAIR, __hneg2, __hneg)                                                      \
  CUEMU_PAIR_UNARY(PAIR, __habs2, __habs)                                                      \
  CUEMU_PAIR_UNARY(PAIR, h2exp, hexp)                                                          \
  CUEMU_PAIR_UNARY(PAIR, h2log, hlog)                                                          \
  CUEMU_PAIR_UNARY(PAIR, h2sqrt, hsqrt)                                                        \
  CUEMU_PAIR_UNARY(PAIR, h2rcp, hrcp)                                                          \
  CUEMU_PAIR_UNARY(PAIR, h2rsqrt, hrsqrt)                                                      \
  CUEMU_PAIR_UNARY(PAIR, h2tanh, htanh)                                                        \
  inline PAIR& operator+=(PAIR& a, PAIR b) { return a = a + b; }                               \
  inline PAIR& operator-=(PAIR& a, PAIR b) { return a = a - b; }                               \
  inline PAIR& operator*=(PAIR& a, PAIR b) { return a = a * b; }                               \
  inline PAIR __hfma2(PAIR a, PAIR b, PAIR c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }

CUEMU_PAIR_FUNCTIONS(__half2, __half)
CUEMU_PAIR_FUNCTIONS(__nv_bfloat162, __nv_bfloat16)

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
inline bool __hbeq2(__half2 a, __half2 b) { return a.x == b.x && a.y == b.y; }

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
