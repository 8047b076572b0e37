// The two 16-bit types themselves. They hold bits only, so that a pointer to torch's may be cast to ours.
#pragma once
#include "cuemu/qualifiers.h"
#include "cuemu/abi.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <type_traits>

namespace cuemu {

struct HalfBits {
  static float widen(unsigned short bits) { return c10::detail::fp16_ieee_to_fp32_value(bits); }
  static unsigned short round(float x) { return c10::detail::fp16_ieee_from_fp32_value(x); }
};
struct BFloatBits {
  static float widen(unsigned short bits) { return c10::detail::f32_from_bits(bits); }
  static unsigned short round(float x) { return c10::detail::round_to_nearest_even(x); }
};

template <class Bits, class Torch>
struct Small {
  unsigned short x;

  Small() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Small(T value) : x(Bits::round(static_cast<float>(value))) {}
  Small(Torch value) : x(value.x) {}
  operator float() const { return Bits::widen(x); }
  operator Torch() const { return Torch(x, Torch::from_bits()); }
  static Small of_bits(unsigned short bits) {
    Small small;
    small.x = bits;
    return small;
  }

  Small& operator+=(Small b) { return *this = Small(float(*this) + float(b)); }
  Small& operator-=(Small b) { return *this = Small(float(*this) - float(b)); }
  Small& operator*=(Small b) { return *this = Small(float(*this) * float(b)); }
  Small& operator/=(Small b) { return *this = Small(float(*this) / float(b)); }
  Small& operator++() { return *this += Small(1.0f); }
  Small operator-() const { return of_bits(x ^ 0x8000); }
  Small operator+() const { return *this; }
  explicit operator bool() const { return x & 0x7fff; }

  friend Small operator+(Small a, Small b) { return Small(float(a) + float(b)); }
  friend Small operator-(Small a, Small b) { return Small(float(a) - float(b)); }
  friend Small operator*(Small a, Small b) { return Small(float(a) * float(b)); }
  friend Small operator/(Small a, Small b) { return Small(float(a) / float(b)); }
  friend bool operator==(Small a, Small b) { return float(a) == float(b); }
  friend bool operator!=(Small a, Small b) { return float(a) != float(b); }
  friend bool operator<(Small a, Small b) { return float(a) < float(b); }
  friend bool operator>(Small a, Small b) { return float(a) > float(b); }
  friend bool operator<=(Small a, Small b) { return float(a) <= float(b); }
  friend bool operator>=(Small a, Small b) { return float(a) >= float(b); }
};

// Mixed with a number of another type the operation is that type's, as CUDA's implicit conversions have it.
#define CUEMU_MIXED(OPERATOR)                                                                       \
  template <class B, class C, class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>           \
  inline auto operator OPERATOR(Small<B, C> a, T b) {                                               \
    return float(a) OPERATOR b;                                                                     \
  }                                                                                                 \
  template <class B, class C, class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>           \
  inline auto operator OPERATOR(T a, Small<B, C> b) {                                               \
    return a OPERATOR float(b);                                                                     \
  }
CUEMU_MIXED(+)
CUEMU_MIXED(-)
CUEMU_MIXED(*)
CUEMU_MIXED(/)
CUEMU_MIXED(==)
CUEMU_MIXED(!=)
CUEMU_MIXED(<)
CUEMU_MIXED(>)
CUEMU_MIXED(<=)
CUEMU_MIXED(>=)

}  // namespace cuemu

typedef cuemu::Small<cuemu::HalfBits, c10::Half> __half;
typedef cuemu::Small<cuemu::BFloatBits, c10::BFloat16> __nv_bfloat16;
typedef __half half;
typedef __nv_bfloat16 nv_bfloat16;

struct __half_raw {
  unsigned short x;
};

struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  __half2(__half a, __half b) : x(a), y(b) {}
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
typedef __half2 half2;
typedef __nv_bfloat162 nv_bfloat162;
