// Rounding modes of arithmetic and of conversions between float, double and whole numbers. Nearest is the machine's own.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cuemu/qualifiers.h"

extern "C" {
float cuemu_rounded_float(int operation, int mode, float a, float b, float c);
double cuemu_rounded_double(int operation, int mode, double a, double b, double c);
float cuemu_float_of_double(int mode, double x);
float cuemu_float_of_signed(int mode, long long x);
float cuemu_float_of_unsigned(int mode, unsigned long long x);
double cuemu_double_of_signed(int mode, long long x);
double cuemu_double_of_unsigned(int mode, unsigned long long x);
}

namespace cuemu {

enum Mode { rn, rz, ru, rd };
enum Operation { add, subtract, multiply, divide, root, multiply_add };

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

// As a device converts a whole number held by a float or double: out of range saturates. NaN becomes 0, or the sign bit
// alone where source or result have 64 bits.
template <class To, class From>
constexpr To saturated(From x) {
  constexpr bool wide = sizeof(From) == 8 || sizeof(To) == 8;
  if (!(x == x)) return wide ? static_cast<To>(To{1} << (8 * sizeof(To) - 1)) : To{0};
  if (x <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (x >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

// An explicit cast to an integer type. A device converts floats to 32 or 64 bits, then takes the lower ones of narrower
// types; the operators of numbers of 16 and 8 bits saturate at those too.
template <class To, class From>
CUEMU_INLINED constexpr To cast(From x) {
  using Wide = std::conditional_t<(sizeof(To) > 4), To, std::conditional_t<std::is_signed_v<To>, int, unsigned>>;
  if constexpr (std::is_floating_point_v<From>) return static_cast<To>(saturated<Wide>(x));
  else if constexpr (requires { x.operator float(); }) return saturated<To>(float(x));
  else return (To)x;
}

// The left operand of a shift. A device shifts by any count: what the width cannot hold is gone.
template <class T>
struct Shifted {
  T value;
  static constexpr unsigned width = 8 * sizeof(T);
  template <class Count>
  friend CUEMU_INLINED constexpr T operator<<(Shifted left, Count count) {
    unsigned places = static_cast<unsigned>(count);
    return places < width ? left.value << places : T{0};
  }
  template <class Count>
  friend CUEMU_INLINED constexpr T operator>>(Shifted left, Count count) {
    unsigned places = static_cast<unsigned>(count);
    return left.value >> (places < width ? places : width - 1) >> (places >= width && std::is_unsigned_v<T>);
  }
};
template <class T>
CUEMU_INLINED constexpr auto shifted(T left) {
  if constexpr (std::is_integral_v<T>) return Shifted<decltype(left << 0)>{left};
  else return left;
}

template <class T>
inline T to_whole(Mode mode, T x) {
  switch (mode) {
    case rz: return std::trunc(x);
    case ru: return std::ceil(x);
    case rd: return std::floor(x);
    default: return std::nearbyint(x);
  }
}

}  // namespace cuemu

#define CUEMU_ROUNDED(MODE)                                                                                               \
  inline float __fadd_##MODE(float a, float b) { return cuemu_rounded_float(cuemu::add, cuemu::MODE, a, b, 0); }          \
  inline float __fsub_##MODE(float a, float b) { return cuemu_rounded_float(cuemu::subtract, cuemu::MODE, a, b, 0); }     \
  inline float __fmul_##MODE(float a, float b) { return cuemu_rounded_float(cuemu::multiply, cuemu::MODE, a, b, 0); }     \
  inline float __fdiv_##MODE(float a, float b) { return cuemu_rounded_float(cuemu::divide, cuemu::MODE, a, b, 0); }       \
  inline float __frcp_##MODE(float a) { return cuemu_rounded_float(cuemu::divide, cuemu::MODE, 1.0f, a, 0); }             \
  inline float __fsqrt_##MODE(float a) { return cuemu_rounded_float(cuemu::root, cuemu::MODE, a, 0, 0); }                 \
  inline float __fmaf_##MODE(float a, float b, float c) {                                                                 \
    return cuemu_rounded_float(cuemu::multiply_add, cuemu::MODE, a, b, c);                                                \
  }                                                                                                                       \
  inline double __dadd_##MODE(double a, double b) { return cuemu_rounded_double(cuemu::add, cuemu::MODE, a, b, 0); }      \
  inline double __dsub_##MODE(double a, double b) { return cuemu_rounded_double(cuemu::subtract, cuemu::MODE, a, b, 0); } \
  inline double __dmul_##MODE(double a, double b) { return cuemu_rounded_double(cuemu::multiply, cuemu::MODE, a, b, 0); } \
  inline double __ddiv_##MODE(double a, double b) { return cuemu_rounded_double(cuemu::divide, cuemu::MODE, a, b, 0); }   \
  inline double __drcp_##MODE(double a) { return cuemu_rounded_double(cuemu::divide, cuemu::MODE, 1.0, a, 0); }           \
  inline double __dsqrt_##MODE(double a) { return cuemu_rounded_double(cuemu::root, cuemu::MODE, a, 0, 0); }              \
  inline double __fma_##MODE(double a, double b, double c) {                                                              \
    return cuemu_rounded_double(cuemu::multiply_add, cuemu::MODE, a, b, c);                                               \
  }                                                                                                                       \
  inline float __double2float_##MODE(double x) { return cuemu_float_of_double(cuemu::MODE, x); }                          \
  inline float __int2float_##MODE(int x) { return cuemu_float_of_signed(cuemu::MODE, x); }                                \
  inline float __uint2float_##MODE(unsigned x) { return cuemu_float_of_unsigned(cuemu::MODE, x); }                        \
  inline float __ll2float_##MODE(long long x) { return cuemu_float_of_signed(cuemu::MODE, x); }                           \
  inline float __ull2float_##MODE(unsigned long long x) { return cuemu_float_of_unsigned(cuemu::MODE, x); }               \
  inline double __ll2double_##MODE(long long x) { return cuemu_double_of_signed(cuemu::MODE, x); }                        \
  inline double __ull2double_##MODE(unsigned long long x) { return cuemu_double_of_unsigned(cuemu::MODE, x); }
CUEMU_ROUNDED(rz)
CUEMU_ROUNDED(ru)
CUEMU_ROUNDED(rd)
#undef CUEMU_ROUNDED

#define CUEMU_NEAREST(TYPE, LETTER, FMA)                                            \
  inline TYPE __##LETTER##add_rn(TYPE a, TYPE b) { return a + b; }                  \
  inline TYPE __##LETTER##sub_rn(TYPE a, TYPE b) { return a - b; }                  \
  inline TYPE __##LETTER##mul_rn(TYPE a, TYPE b) { return a * b; }                  \
  inline TYPE __##LETTER##div_rn(TYPE a, TYPE b) { return a / b; }                  \
  inline TYPE __##LETTER##rcp_rn(TYPE a) { return TYPE(1) / a; }                    \
  inline TYPE __##LETTER##sqrt_rn(TYPE a) { return std::sqrt(a); }                  \
  inline TYPE FMA##_rn(TYPE a, TYPE b, TYPE c) { return std::fma(a, b, c); }
CUEMU_NEAREST(float, f, __fmaf)
CUEMU_NEAREST(double, d, __fma)
#undef CUEMU_NEAREST
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

#define CUEMU_TO_INTEGER(FROM, NAME, TO, MODE) \
  inline TO __##NAME##_##MODE(FROM x) { return cuemu::saturated<TO>(cuemu::to_whole(cuemu::MODE, x)); }
#define CUEMU_TO_INTEGERS(MODE)                                       \
  CUEMU_TO_INTEGER(float, float2int, int, MODE)                       \
  CUEMU_TO_INTEGER(float, float2uint, unsigned int, MODE)             \
  CUEMU_TO_INTEGER(float, float2ll, long long, MODE)                  \
  CUEMU_TO_INTEGER(float, float2ull, unsigned long long, MODE)        \
  CUEMU_TO_INTEGER(double, double2int, int, MODE)                     \
  CUEMU_TO_INTEGER(double, double2uint, unsigned int, MODE)           \
  CUEMU_TO_INTEGER(double, double2ll, long long, MODE)                \
  CUEMU_TO_INTEGER(double, double2ull, unsigned long long, MODE)
CUEMU_TO_INTEGERS(rn)
CUEMU_TO_INTEGERS(rz)
CUEMU_TO_INTEGERS(ru)
CUEMU_TO_INTEGERS(rd)
