// Conversions, intrinsics and functions on one 16-bit number.
#pragma once
#include "cuemu/half_types.h"

#include <cmath>

inline float __half2float(__half x) { return x; }
inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }
inline __half __int2half_rn(int x) { return __half(x); }
inline __half __uint2half_rn(unsigned x) { return __half(x); }
inline int __half2int_rn(__half x) { return static_cast<int>(nearbyintf(x)); }
inline int __half2int_rz(__half x) { return static_cast<int>(float(x)); }
inline unsigned short __half_as_ushort(__half x) { return x.x; }
inline short __half_as_short(__half x) { return static_cast<short>(x.x); }
inline __half __ushort_as_half(unsigned short bits) { return __half::of_bits(bits); }
inline __half __short_as_half(short bits) { return __half::of_bits(static_cast<unsigned short>(bits)); }

inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.x; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::of_bits(bits); }

#define CUEMU_SMALL_BINARY(T, NAME, EXPRESSION) \
  inline T NAME(T a, T b) { return T(EXPRESSION); }
#define CUEMU_SMALL_TEST(T, NAME, OPERATOR) \
  inline bool NAME(T a, T b) { return float(a) OPERATOR float(b); }
#define CUEMU_SMALL_UNARY(T, NAME, FUNCTION) \
  inline T NAME(T a) { return T(FUNCTION(float(a))); }
#define CUEMU_SMALL_FUNCTIONS(T)                                                             \
  CUEMU_SMALL_BINARY(T, __hadd, float(a) + float(b))                                         \
  CUEMU_SMALL_BINARY(T, __hsub, float(a) - float(b))                                         \
  CUEMU_SMALL_BINARY(T, __hmul, float(a) * float(b))                                         \
  CUEMU_SMALL_BINARY(T, __hdiv, float(a) / float(b))                                         \
  CUEMU_SMALL_BINARY(T, __hmax, fmaxf(a, b))                                                 \
  CUEMU_SMALL_BINARY(T, __hmin, fminf(a, b))                                                 \
  inline T __hfma(T a, T b, T c) { return T(fmaf(a, b, c)); }                                \
  inline T __hneg(T a) { return -a; }                                                        \
  inline T __habs(T a) { return T::of_bits(a.x & 0x7fff); }                                  \
  inline bool __hisnan(T a) { return float(a) != float(a); }                                 \
  inline int __hisinf(T a) { return std::isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0; }    \
  CUEMU_SMALL_TEST(T, __heq, ==)                                                             \
  CUEMU_SMALL_TEST(T, __hne, !=)                                                             \
  CUEMU_SMALL_TEST(T, __hlt, <)                                                              \
  CUEMU_SMALL_TEST(T, __hle, <=)                                                             \
  CUEMU_SMALL_TEST(T, __hgt, >)                                                              \
  CUEMU_SMALL_TEST(T, __hge, >=)                                                             \
  CUEMU_SMALL_UNARY(T, hexp, expf)                                                           \
  CUEMU_SMALL_UNARY(T, hexp2, exp2f)                                                         \
  CUEMU_SMALL_UNARY(T, hlog, logf)                                                           \
  CUEMU_SMALL_UNARY(T, hlog2, log2f)                                                         \
  CUEMU_SMALL_UNARY(T, hsin, sinf)                                                           \
  CUEMU_SMALL_UNARY(T, hcos, cosf)                                                           \
  CUEMU_SMALL_UNARY(T, hsqrt, sqrtf)                                                         \
  CUEMU_SMALL_UNARY(T, hfloor, floorf)                                                       \
  CUEMU_SMALL_UNARY(T, hceil, ceilf)                                                         \
  CUEMU_SMALL_UNARY(T, hrint, nearbyintf)                                                    \
  CUEMU_SMALL_UNARY(T, htrunc, truncf)                                                       \
  CUEMU_SMALL_UNARY(T, htanh, tanhf)                                                         \
  inline T hrcp(T a) { return T(1.0f / float(a)); }                                          \
  inline T hrsqrt(T a) { return T(1.0f / sqrtf(a)); }

CUEMU_SMALL_FUNCTIONS(__half)
CUEMU_SMALL_FUNCTIONS(__nv_bfloat16)
