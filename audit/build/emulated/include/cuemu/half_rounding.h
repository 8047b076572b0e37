// Any number to a 16-bit floating-point type, rounded once, in the mode asked for.
#pragma once
#include "cuemu/rounding.h"

#include <type_traits>

namespace cuemu {

// The code of |x| in a format whose smallest normal number is 2^least, with Fraction bits of fraction, as if no exponent
// were too large. An infinity counts as 2^1024, NaN as some number beyond it.
template <int Fraction>
inline std::uint64_t code_of(double x, int least, Mode mode) {
  auto bits = bits_as<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent) fraction |= std::uint64_t{1} << 52;
  exponent = exponent ? exponent - 1023 : -1022;
  int normal = exponent > least ? exponent : least, drop = normal - Fraction - (exponent - 52);
  if (drop > 60) drop = 60;  // all of it is below half of the smallest number
  std::uint64_t kept = fraction >> drop, rest = fraction & ((std::uint64_t{1} << drop) - 1);
  std::uint64_t half = std::uint64_t{1} << (drop - 1);
  bool away = mode == rn ? rest > half || (rest == half && (kept & 1)) : rest && mode == (bits >> 63 ? rd : ru);
  return kept + away + (static_cast<std::uint64_t>(normal - least) << Fraction);
}

// The bits of `x` in a type of 1 sign bit, 15 - Fraction exponent bits and Fraction bits of fraction.
template <int Fraction>
inline unsigned short small_of(double x, Mode mode = rn) {
  constexpr unsigned infinity = 0x7fffu >> Fraction << Fraction;
  constexpr int least = 2 - (1 << (14 - Fraction));  // exponent of the smallest normal number
  unsigned sign = static_cast<unsigned>(bits_as<std::uint64_t>(x) >> 63) << 15;
  if (x != x) return 0x7fff;
  if (x - x != 0) return static_cast<unsigned short>(sign | infinity);
  std::uint64_t result = code_of<Fraction>(x, least, mode);
  if (result < infinity) return static_cast<unsigned short>(sign | result);
  bool to_largest = mode == rz || mode == (sign ? ru : rd);
  return static_cast<unsigned short>(sign | (to_largest ? infinity - 1 : infinity));
}

// A whole number as a double; what does not fit leaves a mark in the last bit, so that one more rounding is the only one.
template <class T>
inline double marked_double(T x) {
  auto magnitude = static_cast<std::uint64_t>(x);
  if constexpr (std::is_signed_v<T>)
    if (x < 0) return -marked_double<std::uint64_t>(-magnitude);
  if (magnitude < std::uint64_t{1} << 53) return static_cast<double>(magnitude);
  std::uint64_t kept = magnitude >> 11 | ((magnitude & 2047) != 0);
  return static_cast<double>(kept) * 2048.0;
}

// a * b + c of 16-bit numbers, marked in the same way.
inline double marked_fma(double a, double b, double c) {
  double product = a * b, sum = product + c;  // the product is exact
  double back = sum - product, error = (product - (sum - back)) + (c - back);
  if (!(error != 0) || sum - sum != 0) return sum;
  auto bits = bits_as<std::uint64_t>(sum);
  if (bits & 1) return sum;
  return bits_as<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

}  // namespace cuemu
