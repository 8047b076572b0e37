// Bit casts, and conversions of a floating-point number to a whole one as a device makes them.
#pragma once
#include "cuemu/rounding.h"

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
