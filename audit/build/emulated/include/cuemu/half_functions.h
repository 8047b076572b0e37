// Conversions of one 16-bit number: to and from other types, in every rounding mode.
#pragma once
#include "cuemu/half_types.h"

inline float __half2float(__half x) { return x; }
inline __half __float2half(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }
inline unsigned short __half_as_ushort(__half x) { return x.x; }
inline short __half_as_short(__half x) { return static_cast<short>(x.x); }
inline __half __ushort_as_half(unsigned short bits) { return __half::of_bits(bits); }
inline __half __short_as_half(short bits) { return __half::of_bits(static_cast<unsigned short>(bits)); }

inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.x; }
inline short __bfloat16_as_short(__nv_bfloat16 x) { return static_cast<short>(x.x); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::of_bits(bits); }
inline __nv_bfloat16 __short_as_bfloat16(short bits) { return __nv_bfloat16::of_bits(static_cast<unsigned short>(bits)); }

#define CUEMU_BOTH_WAYS(SMALL, NAME, OTHER, WHOLE, MODE)                                       \
  inline SMALL __##OTHER##2##NAME##_##MODE(WHOLE x) { return SMALL::of(x, cuemu::MODE); }      \
  inline WHOLE __##NAME##2##OTHER##_##MODE(SMALL x) {                                          \
    return cuemu::saturated<WHOLE>(cuemu::to_whole(cuemu::MODE, float(x)));                    \
  }
#define CUEMU_IN_MODE(SMALL, NAME, MODE)                                                       \
  inline SMALL __float2##NAME##_##MODE(float x) { return SMALL::of(x, cuemu::MODE); }          \
  CUEMU_BOTH_WAYS(SMALL, NAME, short, short, MODE)                                             \
  CUEMU_BOTH_WAYS(SMALL, NAME, ushort, unsigned short, MODE)                                   \
  CUEMU_BOTH_WAYS(SMALL, NAME, int, int, MODE)                                                 \
  CUEMU_BOTH_WAYS(SMALL, NAME, uint, unsigned int, MODE)                                       \
  CUEMU_BOTH_WAYS(SMALL, NAME, ll, long long, MODE)                                            \
  CUEMU_BOTH_WAYS(SMALL, NAME, ull, unsigned long long, MODE)
#define CUEMU_IN_MODES(SMALL, NAME)                                                                                  \
  CUEMU_IN_MODE(SMALL, NAME, rn)                                                                                     \
  CUEMU_IN_MODE(SMALL, NAME, rz)                                                                                     \
  CUEMU_IN_MODE(SMALL, NAME, ru)                                                                                     \
  CUEMU_IN_MODE(SMALL, NAME, rd)                                                                                     \
  inline signed char __##NAME##2char_rz(SMALL x) { return cuemu::saturated<signed char>(std::trunc(float(x))); }     \
  inline unsigned char __##NAME##2uchar_rz(SMALL x) { return cuemu::saturated<unsigned char>(std::trunc(float(x))); }
CUEMU_IN_MODES(__half, half)
CUEMU_IN_MODES(__nv_bfloat16, bfloat16)
