// Integer and bit functions of CUDA.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cuemu/min_max.h"
#include "cuemu/vector_types.h"

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; i++) reversed |= (x >> i & 1) << (31 - i);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32));
}
// Position of the offset-th set bit from `base`, upwards or downwards; all ones if there are not so many.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
  int step = offset < 0 ? -1 : 1, left = offset < 0 ? -offset : offset;
  for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step)
    if ((mask >> i & 1) && --left == 0) return static_cast<unsigned>(i);
  return ~0u;
}

inline int __mul24(int a, int b) {
  long long low_a = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8;
  return static_cast<int>(low_a * (static_cast<int>(static_cast<unsigned>(b) << 8) >> 8));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) {
  return (a > b ? static_cast<unsigned>(a) - static_cast<unsigned>(b) : static_cast<unsigned>(b) - static_cast<unsigned>(a)) + c;
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

// Four bytes picked from eight by the lower three bits of each nibble.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) result |= static_cast<unsigned>(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

namespace cuemu {

// c and the products of four bytes, or of two 16-bit numbers of `a` with the lower or upper two bytes of `b`.
template <class Byte, class Whole>
inline Whole dot_bytes(Whole a, Whole b, Whole c) {
  unsigned sum = static_cast<unsigned>(c);
  for (int i = 0; i < 4; i++)
    sum += static_cast<unsigned>(static_cast<Byte>(a >> 8 * i) * static_cast<Byte>(b >> 8 * i));
  return static_cast<Whole>(sum);
}
template <class Short, class Byte, class Whole>
inline Whole dot_shorts(Whole a, Whole b, Whole c, int from) {
  unsigned sum = static_cast<unsigned>(c);
  for (int i = 0; i < 2; i++)
    sum += static_cast<unsigned>(static_cast<Short>(a >> 16 * i) * static_cast<Byte>(b >> (from + 8 * i)));
  return static_cast<Whole>(sum);
}
template <class To, class From>
inline To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

}  // namespace cuemu

inline int __dp4a(int a, int b, int c) { return cuemu::dot_bytes<std::int8_t>(a, b, c); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return cuemu::dot_bytes<std::uint8_t>(a, b, c); }
inline int __dp4a(char4 a, char4 b, int c) { return __dp4a(cuemu::same_bits<int>(a), cuemu::same_bits<int>(b), c); }
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return __dp4a(cuemu::same_bits<unsigned>(a), cuemu::same_bits<unsigned>(b), c);
}
inline int __dp2a_lo(int a, int b, int c) { return cuemu::dot_shorts<std::int16_t, std::int8_t>(a, b, c, 0); }
inline int __dp2a_hi(int a, int b, int c) { return cuemu::dot_shorts<std::int16_t, std::int8_t>(a, b, c, 16); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return cuemu::dot_shorts<std::uint16_t, std::uint8_t>(a, b, c, 0);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return cuemu::dot_shorts<std::uint16_t, std::uint8_t>(a, b, c, 16);
}
