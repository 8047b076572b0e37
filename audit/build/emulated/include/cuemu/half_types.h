// The two 16-bit types themselves. They hold bits only, so that a pointer to torch's may be cast to ours.
#pragma once
#include "cuemu/qualifiers.h"
#include "cuemu/abi.h"
#include "cuemu/half_rounding.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <type_traits>

struct __half_raw {
  unsigned short x;
};
struct __nv_bfloat16_raw {
  unsigned short x;
};
struct alignas(4) __half2_raw {
  unsigned short x, y;
};
struct alignas(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

namespace cuemu {

struct HalfBits {
  using Raw = __half_raw;
  static constexpr int fraction = 10;
  static float widen(unsigned short bits) { return c10::detail::fp16_ieee_to_fp32_value(bits); }
  static unsigned short round(float x) { return c10::detail::fp16_ieee_from_fp32_value(x); }
};
struct BFloatBits {
  using Raw = __nv_bfloat16_raw;
  static constexpr int fraction = 7;
  static float widen(unsigned short bits) { return c10::detail::f32_from_bits(bits); }
  static unsigned short round(float x) { return c10::detail::round_to_nearest_even(x); }
};

template <class Bits, class Torch>
struct Small {
  unsigned short x;

  Small() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Small(T value) : x(bits_of(value)) {}
  Small(Torch value) : x(value.x) {}
  Small(typename Bits::Raw raw) : x(raw.x) {}
  operator float() const { return Bits::widen(x); }
  operator Torch() const { return Torch(x, Torch::from_bits()); }
  operator typename Bits::Raw() const { return {x}; }
  static Small of_bits(unsigned short bits) {
    Small small;
    small.x = bits;
    return small;
  }
  template <class T>
  static Small of(T value, Mode mode = rn) {
    if constexpr (std::is_integral_v<T>) return of_bits(small_of<Bits::fraction>(marked_double(value), mode));
    else return of_bits(small_of<Bits::fraction>(value, mode));
  }

  Small& operator+=(Small b) { return *this = *this + b; }
  Small& operator-=(Small b) { return *this = *this - b; }
  Small& operator*=(Small b) { return *this = *this * b; }
  Small& operator/=(Small b) { return *this = *this / b; }
  Small& operator++() { return *this += Small(1.0f); }
  Small operator-() const { return of_bits(x ^ 0x8000); }
  Small operator+() const { return *this; }
  explicit operator bool() const { return x & 0x7fff; }

  friend Small operator+(Small a, Small b) { return Small(float(a) + float(b)); }
  friend Small operator-(Small a, Small b) { return Small(float(a) - float(b)); }
  friend Small operator*(Small a, Small b) { return product(a, b); }
  friend Small operator/(Small a, Small b) { return quotient(a, b); }
  friend bool operator==(Small a, Small b) { return float(a) == float(b); }
  friend bool operator!=(Small a, Small b) { return float(a) != float(b); }
  friend bool operator<(Small a, Small b) { return float(a) < float(b); }
  friend bool operator>(Small a, Small b) { return float(a) > float(b); }
  friend bool operator<=(Small a, Small b) { return float(a) <= float(b); }
  friend bool operator>=(Small a, Small b) { return float(a) >= float(b); }

 private:
  template <class T>
  static unsigned short bits_of(T value) {
    if constexpr (std::is_same_v<T, float>) return Bits::round(value);
    else return of(value).x;
  }
  // Rounding to float first would round twice where a bfloat is denormal; float has room enough for a half.
  static constexpr bool room = Bits::fraction == 10;
  static Small product(Small a, Small b) {
    if constexpr (room) return Small(float(a) * float(b));
    else return of(double(float(a)) * float(b));
  }
  static Small quotient(Small a, Small b) {
    if constexpr (room) return Small(float(a) / float(b));
    else return of(double(float(a)) / float(b));
  }
};

template <class T>
constexpr bool is_small = false;
template <class Bits, class Torch>
constexpr bool is_small<Small<Bits, Torch>> = true;

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

// What `x.operator __half()` and `p->operator __half()` become.
template <class T>
struct To {};
template <class From, class T, class = std::enable_if_t<std::is_class_v<From>>>
inline T operator->*(const From& value, To<T>) {
  return static_cast<T>(value);
}
template <class From, class T>
inline T operator->*(const From* place, To<T>) {
  return static_cast<T>(*place);
}

}  // namespace cuemu

typedef cuemu::Small<cuemu::HalfBits, c10::Half> __half;
typedef cuemu::Small<cuemu::BFloatBits, c10::BFloat16> __nv_bfloat16;
typedef __half half;
typedef __nv_bfloat16 nv_bfloat16;

struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  __half2(__half a, __half b) : x(a), y(b) {}
  __half2(__half2_raw raw) : x(__half::of_bits(raw.x)), y(__half::of_bits(raw.y)) {}
  operator __half2_raw() const { return {x.x, y.x}; }
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
  __nv_bfloat162(__nv_bfloat162_raw raw) : x(__nv_bfloat16::of_bits(raw.x)), y(__nv_bfloat16::of_bits(raw.y)) {}
  operator __nv_bfloat162_raw() const { return {x.x, y.x}; }
};
typedef __half2 half2;
typedef __nv_bfloat162 nv_bfloat162;
