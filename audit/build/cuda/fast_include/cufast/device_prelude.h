// What torch's headers bring to device code and NVRTC lacks: integer types, limits, a little of namespace std.
#pragma once

#ifdef CUFAST_CCCL
#include <cuda/std/cstdint>
#else
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#endif
typedef unsigned int uint;

#define CHAR_BIT 8
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define INT32_MAX INT_MAX
#define INT32_MIN INT_MIN
#define UINT32_MAX UINT_MAX
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1)
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ULL
#define INT64_MAX LONG_MAX
#define INT64_MIN LONG_MIN
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define HUGE_VALF INFINITY
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000)
#define NAN __builtin_bit_cast(float, 0x7fc00000)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

// What TMA reads its copies from; NVRTC has no cuda.h.
struct alignas(64) CUtensorMap {
  uint64_t opaque[16];
};

// nvcc lets the word pass, NVRTC does not.
#define register

namespace at {

template <class T>
struct AccumulatesIn;
template <>
struct AccumulatesIn<float> {
  typedef float type;
};
template <>
struct AccumulatesIn<double> {
  typedef double type;
};
template <class T, bool OnGpu>
using acc_type = typename AccumulatesIn<T>::type;
template <class T>
using opmath_type = T;

}  // namespace at

#ifdef CUFAST_STD
namespace std {

using ::abs;
using ::ceil;
using ::cos;
using ::erf;
using ::exp;
using ::exp2;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::log;
using ::log1p;
using ::log2;
using ::pow;
using ::round;
using ::rsqrt;
using ::sin;
using ::size_t;
using ::sqrt;
using ::tanh;
using ::int32_t;
using ::int64_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;

template <class T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T>
constexpr void swap(T& a, T& b) {
  T held = a;
  a = b;
  b = held;
}

template <class A, class B>
struct is_same {
  static constexpr bool value = false;
};
template <class A>
struct is_same<A, A> {
  static constexpr bool value = true;
};
template <class A, class B>
inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool Condition, class A, class B>
struct conditional {
  typedef A type;
};
template <class A, class B>
struct conditional<false, A, B> {
  typedef B type;
};
template <bool Condition, class A, class B>
using conditional_t = typename conditional<Condition, A, B>::type;
template <bool Condition, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};
template <bool Condition, class T = void>
using enable_if_t = typename enable_if<Condition, T>::type;

template <class T>
struct numeric_limits;
template <>
struct numeric_limits<float> {
  static constexpr float max() { return FLT_MAX; }
  static constexpr float min() { return FLT_MIN; }
  static constexpr float lowest() { return -FLT_MAX; }
  static constexpr float epsilon() { return FLT_EPSILON; }
  static constexpr float infinity() { return INFINITY; }
  static constexpr float quiet_NaN() { return NAN; }
};
template <>
struct numeric_limits<double> {
  static constexpr double max() { return DBL_MAX; }
  static constexpr double min() { return DBL_MIN; }
  static constexpr double lowest() { return -DBL_MAX; }
  static constexpr double epsilon() { return DBL_EPSILON; }
  static constexpr double infinity() { return HUGE_VAL; }
  static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7ff8000000000000); }
};
#define CUFAST_INTEGER(T, LEAST, MOST)               \
  template <>                                        \
  struct numeric_limits<T> {                         \
    static constexpr T max() { return MOST; }        \
    static constexpr T min() { return LEAST; }       \
    static constexpr T lowest() { return LEAST; }    \
  };
CUFAST_INTEGER(int, INT_MIN, INT_MAX)
CUFAST_INTEGER(unsigned int, 0, UINT_MAX)
CUFAST_INTEGER(long, LONG_MIN, LONG_MAX)
CUFAST_INTEGER(long long, LLONG_MIN, LLONG_MAX)
CUFAST_INTEGER(unsigned long long, 0, ULLONG_MAX)
#undef CUFAST_INTEGER

}  // namespace std
#endif
