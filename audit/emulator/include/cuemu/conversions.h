// Bit casts and roundings between number types.
#pragma once
#include <cmath>
#include <limits>

namespace cuemu {

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

// As a device converts: out of range saturates, NaN becomes 0.
template <class To, class From>
inline To saturated(From x) {
  if (!(x == x)) return 0;
  if (x <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (x >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

}  // namespace cuemu

inline int __float_as_int(float x) { return cuemu::bits_as<int>(x); }
inline float __int_as_float(int x) { return cuemu::bits_as<float>(x); }
inline unsigned __float_as_uint(float x) { return cuemu::bits_as<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return cuemu::bits_as<float>(x); }
inline long long __double_as_longlong(double x) { return cuemu::bits_as<long long>(x); }
inline double __longlong_as_double(long long x) { return cuemu::bits_as<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(cuemu::bits_as<long long>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(cuemu::bits_as<long long>(x)); }
inline double __hiloint2double(int high, int low) {
  return cuemu::bits_as<double>(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

#define CUEMU_TO_INTEGER(FROM, NAME, TO)                                                       \
  inline TO __##NAME##_rn(FROM x) { return cuemu::saturated<TO>(std::nearbyint(x)); }          \
  inline TO __##NAME##_rz(FROM x) { return cuemu::saturated<TO>(std::trunc(x)); }              \
  inline TO __##NAME##_rd(FROM x) { return cuemu::saturated<TO>(std::floor(x)); }              \
  inline TO __##NAME##_ru(FROM x) { return cuemu::saturated<TO>(std::ceil(x)); }
CUEMU_TO_INTEGER(float, float2int, int)
CUEMU_TO_INTEGER(float, float2uint, unsigned int)
CUEMU_TO_INTEGER(float, float2ll, long long)
CUEMU_TO_INTEGER(float, float2ull, unsigned long long)
CUEMU_TO_INTEGER(double, double2int, int)
CUEMU_TO_INTEGER(double, double2uint, unsigned int)
CUEMU_TO_INTEGER(double, double2ll, long long)
CUEMU_TO_INTEGER(double, double2ull, unsigned long long)

#define CUEMU_FROM_INTEGER(FROM, NAME, TO)                                  \
  inline TO __##NAME##_rn(FROM x) { return static_cast<TO>(x); }            \
  inline TO __##NAME##_rz(FROM x) { return static_cast<TO>(x); }            \
  inline TO __##NAME##_rd(FROM x) { return static_cast<TO>(x); }            \
  inline TO __##NAME##_ru(FROM x) { return static_cast<TO>(x); }
CUEMU_FROM_INTEGER(int, int2float, float)
CUEMU_FROM_INTEGER(unsigned int, uint2float, float)
CUEMU_FROM_INTEGER(long long, ll2float, float)
CUEMU_FROM_INTEGER(unsigned long long, ull2float, float)
CUEMU_FROM_INTEGER(double, double2float, float)
CUEMU_FROM_INTEGER(long long, ll2double, double)
CUEMU_FROM_INTEGER(unsigned long long, ull2double, double)
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned int x) { return x; }
