// Arithmetic and conversions of inline PTX. Approximate functions are as exact as those of the C library; .ftz keeps denormals.
#pragma once
#include "cuemu/ptx_registers.h"

namespace cuemu::ptx {

template <class T>
constexpr bool is_pair = std::is_same_v<T, __half2> || std::is_same_v<T, __nv_bfloat162>;

// Whole numbers wrap.
#define CUEMU_PTX_WRAPPING(NAME, OPERATOR)                                                              \
  template <class T>                                                                                    \
  inline void NAME(Register& to, Register a, Register b) {                                              \
    if constexpr (std::is_integral_v<T>) to = bits_of(static_cast<T>(a OPERATOR b));                    \
    else to = bits_of(static_cast<T>(as<T>(a) OPERATOR as<T>(b)));                                      \
  }
CUEMU_PTX_WRAPPING(add, +)
CUEMU_PTX_WRAPPING(subtract, -)
CUEMU_PTX_WRAPPING(product, *)
#undef CUEMU_PTX_WRAPPING

template <class T>
inline void divide(Register& to, Register a, Register b) {
  to = bits_of(static_cast<T>(as<T>(a) / as<T>(b)));
}

template <class T>
using Twice = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
template <Word Half, class T>
inline Register multiplied(Register a, Register b) {
  auto whole = static_cast<Twice<T>>(as<T>(a)) * static_cast<Twice<T>>(as<T>(b));
  if constexpr (Half == wide_) return static_cast<Register>(whole);
  return bits_of(static_cast<T>(Half == hi_ ? whole >> 8 * sizeof(T) : whole));
}
template <Word Half, class T>
inline void multiply(Register& to, Register a, Register b) {
  to = multiplied<Half, T>(a, b);
}
template <Word Half, class T>
inline void multiply_add(Register& to, Register a, Register b, Register c) {
  to = multiplied<Half, T>(a, b) + c;
}

// A field of `Bits` bits, with the sign of T.
template <class T, int Bits>
inline int field(Register bits, int first) {
  unsigned upper = static_cast<unsigned>(bits >> first) << (32 - Bits);
  return std::is_signed_v<T> ? static_cast<int>(upper) >> (32 - Bits) : static_cast<int>(upper >> (32 - Bits));
}
// c and the products of four bytes, or of two 16-bit numbers of `a` with two bytes of `b`.
template <class A, class B>
inline void dot_of_bytes(Register& to, Register a, Register b, Register c) {
  unsigned sum = as<unsigned>(c);
  for (int i = 0; i < 32; i += 8) sum += static_cast<unsigned>(field<A, 8>(a, i) * field<B, 8>(b, i));
  to = sum;
}
template <class A, class B, int From>
inline void dot_of_shorts(Register& to, Register a, Register b, Register c) {
  unsigned sum = as<unsigned>(c);
  for (int i = 0; i < 2; i++) sum += static_cast<unsigned>(field<A, 16>(a, 16 * i) * field<B, 8>(b, From + 8 * i));
  to = sum;
}
template <class T>
inline void absolute_difference(Register& to, Register a, Register b, Register c) {
  T x = as<T>(a), y = as<T>(b);
  to = bits_of(static_cast<T>(c + (x < y ? bits_of(y) - bits_of(x) : bits_of(x) - bits_of(y))));
}
template <class T, bool Relu>
inline void fma(Register& to, Register a, Register b, Register c) {
  if constexpr (is_pair<T>) {
    to = bits_of(Relu ? __hfma2_relu(as<T>(a), as<T>(b), as<T>(c)) : __hfma2(as<T>(a), as<T>(b), as<T>(c)));
  } else if constexpr (is_small<T>) {
    to = bits_of(Relu ? __hfma_relu(as<T>(a), as<T>(b), as<T>(c)) : __hfma(as<T>(a), as<T>(b), as<T>(c)));
  } else {
    static_assert(!Relu, "fma.relu is one of halves and bfloats");
    to = bits_of(std::fma(as<T>(a), as<T>(b), as<T>(c)));
  }
}

// NaN gives way to a number.
#define CUEMU_PTX_EXTREME(NAME, OF_PAIR, OF_SMALL, OF_FLOAT, SIGN)                          \
  template <class T>                                                                        \
  inline void NAME(Register& to, Register left, Register right) {                           \
    T a = as<T>(left), b = as<T>(right);                                                    \
    if constexpr (is_pair<T>) to = bits_of(OF_PAIR(a, b));                                  \
    else if constexpr (is_small<T>) to = bits_of(OF_SMALL(a, b));                           \
    else if constexpr (std::is_floating_point_v<T>) to = bits_of(OF_FLOAT(a, b));           \
    else to = bits_of(b SIGN a ? b : a);                                                    \
  }
CUEMU_PTX_EXTREME(least, __hmin2, __hmin, std::fmin, <)
CUEMU_PTX_EXTREME(greatest, __hmax2, __hmax, std::fmax, >)
#undef CUEMU_PTX_EXTREME

template <class T>
inline void negate(Register& to, Register a) {
  if constexpr (std::is_integral_v<T>) to = bits_of(static_cast<T>(0 - a));
  else to = bits_of(-as<T>(a));
}
template <class T>
inline void absolute(Register& to, Register a) {
  if constexpr (is_pair<T>) to = bits_of(__habs2(as<T>(a)));
  else if constexpr (is_small<T>) to = bits_of(__habs(as<T>(a)));
  else if constexpr (std::is_integral_v<T>) to = as<T>(a) < 0 ? bits_of(static_cast<T>(0 - a)) : bits_of(as<T>(a));
  else to = bits_of(std::fabs(as<T>(a)));
}

#define CUEMU_PTX_FUNCTION(NAME, EXPRESSION)                                                                 \
  template <class T>                                                                                         \
  inline void NAME(Register& to, Register a) {                                                               \
    auto of = [](auto x) { return EXPRESSION; };                                                             \
    if constexpr (is_pair<T>) to = bits_of(T(of(float(as<T>(a).x)), of(float(as<T>(a).y))));                 \
    else if constexpr (is_small<T>) to = bits_of(T(of(float(as<T>(a)))));                                    \
    else to = bits_of(static_cast<T>(of(as<T>(a))));                                                         \
  }
CUEMU_PTX_FUNCTION(exp2, std::exp2(x))
CUEMU_PTX_FUNCTION(log2, std::log2(x))
CUEMU_PTX_FUNCTION(sine, std::sin(x))
CUEMU_PTX_FUNCTION(cosine, std::cos(x))
CUEMU_PTX_FUNCTION(tanh, std::tanh(x))
CUEMU_PTX_FUNCTION(reciprocal, 1 / x)
CUEMU_PTX_FUNCTION(root, std::sqrt(x))
CUEMU_PTX_FUNCTION(reciprocal_root, 1 / std::sqrt(x))
#undef CUEMU_PTX_FUNCTION

constexpr Mode mode_of(Word rounding) {
  return rounding == rz_ || rounding == rzi_   ? cuemu::rz
         : rounding == rm_ || rounding == rmi_ ? cuemu::rd
         : rounding == rp_ || rounding == rpi_ ? cuemu::ru
                                               : cuemu::rn;
}
constexpr bool to_whole_number(Word rounding) { return rounding == rni_ || rounding == rzi_ || rounding == rmi_ || rounding == rpi_; }

// One number in another type, rounded once.
template <class To, Word Rounding, class From>
inline To converted(From value) {
  constexpr Mode mode = mode_of(Rounding);
  if constexpr (is_small<From>) return converted<To, Rounding>(float(value));
  else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) return static_cast<To>(value);
  else if constexpr (std::is_integral_v<To>) return saturated<To>(to_whole(mode, value));
  else if constexpr (is_small<To>) return To::of(value, mode);
  else if constexpr (std::is_integral_v<From>) {
    static_assert(mode == cuemu::rn || sizeof(To) == 4, "whole numbers are converted to float in every mode, to double in one");
    if constexpr (mode == cuemu::rn) return static_cast<To>(value);
    else if constexpr (std::is_signed_v<From>) return cuemu_float_of_signed(mode, value);
    else return cuemu_float_of_unsigned(mode, value);
  } else if constexpr (to_whole_number(Rounding)) return static_cast<To>(to_whole(mode, value));
  else if constexpr (sizeof(To) < sizeof(From)) return cuemu_float_of_double(mode, value);
  else return static_cast<To>(value);
}

template <class To, class From, Word Rounding, bool Relu>
inline void convert(Register& to, Register from) {
  if constexpr (std::is_same_v<To, nvcuda::wmma::precision::tf32>) {
    static_assert(Rounding == rna_ && !Relu && std::is_same_v<From, float>, "cvt.rna.tf32.f32 is the one to tf32");
    to = bits_of(__float_to_tf32(as<float>(from)));
  } else {
    To result = converted<To, Rounding>(as<From>(from));
    if constexpr (Relu) result = not_negative(result);
    to = bits_of(result);
  }
}
// A whole number is clamped to its type, which conversions of floats do without a word; a float to 0 and 1, NaN to 0.
template <class To, class From>
inline To clamped(From value) {
  using Limits = std::numeric_limits<To>;
  __int128 wide = value;
  return wide < Limits::lowest() ? Limits::lowest() : wide > Limits::max() ? Limits::max() : static_cast<To>(value);
}
template <class To, class From, Word Rounding>
inline void convert_saturated(Register& to, Register from) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    to = bits_of(clamped<To>(as<From>(from)));
  } else if constexpr (std::is_integral_v<To>) {
    convert<To, From, Rounding, false>(to, from);
  } else {
    To value = converted<To, Rounding>(as<From>(from));
    to = bits_of(value > 1 ? To(1) : value > 0 ? value : To(0));
  }
}
// Two clamped numbers below the lower bits of a third one.
template <class To>
inline void pack(Register& to, Register high, Register low, Register above = 0) {
  constexpr int width = 8 * sizeof(To);
  using Bits = std::make_unsigned_t<To>;
  auto field = [](Register each) { return static_cast<Register>(static_cast<Bits>(clamped<To>(as<int>(each)))); };
  to = static_cast<std::uint32_t>(above << 2 * width | field(high) << width | field(low));
}
// Two numbers to a pair: the first becomes the upper half.
template <class To, class From, Word Rounding, bool Relu>
inline void convert(Register& to, Register high, Register low) {
  static_assert(is_pair<To>, "two numbers are converted to a pair");
  Register upper, lower;
  using Half = decltype(To::x);
  convert<Half, From, Rounding, Relu>(upper, high);
  convert<Half, From, Rounding, Relu>(lower, low);
  to = upper << 16 | lower;
}

}  // namespace cuemu::ptx
