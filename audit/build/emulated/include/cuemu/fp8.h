// Numbers of eight bits with CUDA's names: E4M3, E5M2, and E8M0, which is the scale of a block and holds powers of two.
#pragma once
#include "cuemu/half.h"

#include <cmath>

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

namespace cuemu {

// Of the NaN of a float, a half or a bfloat nothing is left; a double's keeps its sign, and in E5M2 its second bit.
inline double number(double x) { return x; }
inline double number(float x) { return x == x ? x : bits_as<double>(~std::uint64_t{0} >> 1); }
inline double number(__half_raw x) { return number(HalfBits::widen(x.x)); }
inline double number(__nv_bfloat16_raw x) { return number(BFloatBits::widen(x.x)); }

inline __nv_fp8_storage_t fp8_of(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  const bool e4m3 = kind == __NV_E4M3;
  const unsigned largest = e4m3 ? 0x7e : 0x7b;
  const auto bits = bits_as<std::uint64_t>(x);
  std::uint64_t code = e4m3 ? code_of<3>(x, -6, rn) : code_of<2>(x, -14, rn);
  if (x != x) code = e4m3 ? 0x7f : 0x7e | (bits >> 50 & 1);
  else if (code > largest) code = largest + (saturate == __NV_NOSAT);  // one more is NaN for E4M3, infinity for E5M2
  return static_cast<__nv_fp8_storage_t>(code | bits >> 63 << 7);
}
inline float of_fp8(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  unsigned magnitude = x & 0x7f;
  if (magnitude > (kind == __NV_E4M3 ? 0x7e : 0x7c)) return std::numeric_limits<float>::quiet_NaN();
  // E5M2 is the upper half of a __half; E4M3 moved into one is too small by 2^8, the difference of the biases.
  float value = kind == __NV_E4M3 ? 256.0f * HalfBits::widen(static_cast<unsigned short>(magnitude << 7))
                                  : HalfBits::widen(static_cast<unsigned short>(magnitude << 8));
  return x & 0x80 ? -value : value;
}
// The code 0 is 2^-127, the smallest: there is no zero and no sign.
inline __nv_fp8_storage_t e8m0_of(double x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  if (x != x) return 0xff;
  const bool down = rounding == cudaRoundZero;
  std::uint64_t code = code_of<0>(std::fabs(x), -127, down ? rz : ru);
  if (code > 255) return saturate == __NV_SATFINITE || (down && std::isfinite(x)) ? 254 : 255;
  return static_cast<__nv_fp8_storage_t>(code ? code - 1 : 0);
}
inline float of_e8m0(__nv_fp8_storage_t x) {
  return x == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, x - 127);
}

template <__nv_fp8_interpretation_t Kind>
struct Element {
  static constexpr bool scale = false;
  static __nv_fp8_storage_t code(double x) { return fp8_of(x, __NV_SATFINITE, Kind); }
  static float value(unsigned code) { return of_fp8(static_cast<__nv_fp8_storage_t>(code), Kind); }
};
struct Scale {
  static constexpr bool scale = true;
  static __nv_fp8_storage_t code(double x) { return e8m0_of(x, __NV_SATFINITE, cudaRoundPosInf); }
  static float value(unsigned code) { return of_e8m0(static_cast<__nv_fp8_storage_t>(code)); }
};

template <class Format>
struct Fp8 {
  __nv_fp8_storage_t __x;

  Fp8() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit Fp8(T x) {
    if constexpr (std::is_integral_v<T>) __x = Format::code(marked_double(x));
    else __x = Format::code(number(x));
  }
  explicit Fp8(__half x) : Fp8(float(x)) {}
  explicit Fp8(__nv_bfloat16 x) : Fp8(float(x)) {}

  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit operator T() const {
    if constexpr (std::is_same_v<T, bool>) return Format::scale || (__x & 0x7f);
    else if constexpr (std::is_integral_v<T>) return saturated<T>(Format::value(__x));
    else return Format::value(__x);
  }
  explicit operator __half() const { return __half::of(Format::value(__x)); }
  explicit operator __nv_bfloat16() const { return __nv_bfloat16::of(Format::value(__x)); }
};

template <class Format>
struct alignas(2) Fp8x2 {
  __nv_fp8x2_storage_t __x;

  Fp8x2() = default;
  explicit Fp8x2(__half2 v) : __x(pair(v.x, v.y)) {}
  explicit Fp8x2(__nv_bfloat162 v) : __x(pair(v.x, v.y)) {}
  explicit Fp8x2(float2 v) : __x(pair(v.x, v.y)) {}
  explicit Fp8x2(double2 v) : __x(pair(v.x, v.y)) {}

  explicit operator float2() const { return {value(0), value(8)}; }
  explicit operator __half2() const { return {__half::of(value(0)), __half::of(value(8))}; }
  explicit operator __nv_bfloat162() const requires Format::scale {
    return {__nv_bfloat16::of(value(0)), __nv_bfloat16::of(value(8))};
  }

 private:
  template <class T>
  static __nv_fp8x2_storage_t pair(T low, T high) {
    return static_cast<__nv_fp8x2_storage_t>(Fp8<Format>(low).__x | Fp8<Format>(high).__x << 8);
  }
  float value(int place) const { return Format::value(__x >> place & 0xff); }
};

template <class Format>
struct alignas(4) Fp8x4 {
  __nv_fp8x4_storage_t __x;

  Fp8x4() = default;
  explicit Fp8x4(__half2 low, __half2 high) : __x(four(low, high)) {}
  explicit Fp8x4(__nv_bfloat162 low, __nv_bfloat162 high) : __x(four(low, high)) {}
  explicit Fp8x4(float4 v) : __x(four(float2{v.x, v.y}, float2{v.z, v.w})) {}
  explicit Fp8x4(double4 v) : __x(four(double2{v.x, v.y}, double2{v.z, v.w})) {}

  explicit operator float4() const { return {value(0), value(8), value(16), value(24)}; }

 private:
  template <class T>
  static __nv_fp8x4_storage_t four(T low, T high) {
    return Fp8x2<Format>(low).__x | static_cast<unsigned>(Fp8x2<Format>(high).__x) << 16;
  }
  float value(int place) const { return Format::value(__x >> place & 0xff); }
};

}  // namespace cuemu

typedef cuemu::Fp8<cuemu::Element<__NV_E4M3>> __nv_fp8_e4m3;
typedef cuemu::Fp8x2<cuemu::Element<__NV_E4M3>> __nv_fp8x2_e4m3;
typedef cuemu::Fp8x4<cuemu::Element<__NV_E4M3>> __nv_fp8x4_e4m3;
typedef cuemu::Fp8<cuemu::Element<__NV_E5M2>> __nv_fp8_e5m2;
typedef cuemu::Fp8x2<cuemu::Element<__NV_E5M2>> __nv_fp8x2_e5m2;
typedef cuemu::Fp8x4<cuemu::Element<__NV_E5M2>> __nv_fp8x4_e5m2;
typedef cuemu::Fp8<cuemu::Scale> __nv_fp8_e8m0;
typedef cuemu::Fp8x2<cuemu::Scale> __nv_fp8x2_e8m0;
typedef cuemu::Fp8x4<cuemu::Scale> __nv_fp8x4_e8m0;

#define CUEMU_TO_FP8(ONE, T, TWO, PAIR, X1, X2, OPTION, FUNCTION)                                      \
  inline __nv_fp8_storage_t __nv_cvt_##ONE##_to_##X1(T x, __nv_saturation_t saturate, OPTION option) { \
    return cuemu::FUNCTION(cuemu::number(x), saturate, option);                                        \
  }                                                                                                    \
  inline __nv_fp8x2_storage_t __nv_cvt_##TWO##_to_##X2(PAIR v, __nv_saturation_t saturate, OPTION option) { \
    return static_cast<__nv_fp8x2_storage_t>(cuemu::FUNCTION(cuemu::number(T{v.x}), saturate, option) |     \
                                             cuemu::FUNCTION(cuemu::number(T{v.y}), saturate, option) << 8); \
  }
CUEMU_TO_FP8(float, float, float2, float2, fp8, fp8x2, __nv_fp8_interpretation_t, fp8_of)
CUEMU_TO_FP8(double, double, double2, double2, fp8, fp8x2, __nv_fp8_interpretation_t, fp8_of)
CUEMU_TO_FP8(halfraw, __half_raw, halfraw2, __half2_raw, fp8, fp8x2, __nv_fp8_interpretation_t, fp8_of)
CUEMU_TO_FP8(bfloat16raw, __nv_bfloat16_raw, bfloat16raw2, __nv_bfloat162_raw, fp8, fp8x2, __nv_fp8_interpretation_t, fp8_of)
CUEMU_TO_FP8(float, float, float2, float2, e8m0, e8m0x2, cudaRoundMode, e8m0_of)
CUEMU_TO_FP8(double, double, double2, double2, e8m0, e8m0x2, cudaRoundMode, e8m0_of)
CUEMU_TO_FP8(bfloat16raw, __nv_bfloat16_raw, bfloat162raw, __nv_bfloat162_raw, e8m0, e8m0x2, cudaRoundMode, e8m0_of)
#undef CUEMU_TO_FP8

inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return __half::of(cuemu::of_fp8(x, kind));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw(x & 0xff, kind).x, __nv_cvt_fp8_to_halfraw(x >> 8, kind).x};
}
inline __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return __nv_bfloat16::of(cuemu::of_e8m0(x));
}
inline __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return {__nv_cvt_e8m0_to_bf16raw(x & 0xff).x, __nv_cvt_e8m0_to_bf16raw(x >> 8).x};
}
