// Logic, shifts, fields and selections of inline PTX.
#pragma once
#include "cuemu/ptx_registers.h"

namespace cuemu::ptx {

inline void bits_and(Register& to, Register a, Register b) { to = a & b; }
inline void bits_or(Register& to, Register a, Register b) { to = a | b; }
inline void bits_xor(Register& to, Register a, Register b) { to = a ^ b; }
template <class T>
inline void bits_not(Register& to, Register a) {
  if constexpr (std::is_same_v<T, bool>) to = !(a & 1);
  else to = bits_of(static_cast<T>(~as<T>(a)));
}

// Counts past the width shift everything out.
template <class T>
inline void shift_left(Register& to, Register a, Register count) {
  to = bits_of(static_cast<T>(shifted(as<T>(a)) << as<unsigned>(count)));
}
template <class T>
inline void shift_right(Register& to, Register a, Register count) {
  to = bits_of(static_cast<T>(shifted(as<T>(a)) >> as<unsigned>(count)));
}
template <Word Way, Word Wrap>
inline void funnel(Register& to, Register low, Register high, Register count) {
  unsigned a = as<unsigned>(low), b = as<unsigned>(high), c = as<unsigned>(count);
  if constexpr (Way == l_) to = Wrap == clamp_ ? __funnelshift_lc(a, b, c) : __funnelshift_l(a, b, c);
  else to = Wrap == clamp_ ? __funnelshift_rc(a, b, c) : __funnelshift_r(a, b, c);
}

// A field of `length` bits from bit `first` on; past the top, copies of the sign or zeros.
template <class T>
inline void extract(Register& to, Register a, Register first, Register length) {
  constexpr int top = 8 * sizeof(T) - 1;
  int start = as<std::uint8_t>(first), count = as<std::uint8_t>(length);
  auto bits = static_cast<std::make_unsigned_t<T>>(as<T>(a));
  int last = start + count - 1 < top ? start + count - 1 : top;
  bool sign = std::is_signed_v<T> && count && bits >> (last < 0 ? 0 : last) & 1;
  Register field = 0;
  for (int i = 0; i <= top; i++) field |= Register{i < count && start + i <= top ? bits >> (start + i) & 1 : sign} << i;
  to = field;
}
template <class T>
inline void insert(Register& to, Register field, Register into, Register first, Register length) {
  Register result = bits_of(as<T>(into));
  unsigned start = as<std::uint8_t>(first), count = as<std::uint8_t>(length);
  for (unsigned i = 0; i < count && start + i < 8 * sizeof(T); i++)
    result = (result & ~(Register{1} << (start + i))) | (field >> i & 1) << (start + i);
  to = result;
}
inline void lop3(Register& to, Register a, Register b, Register c, Register table) {
  Register result = 0;
  for (int i = 0; i < 32; i++) {
    Register row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    result |= (table >> row & 1) << i;
  }
  to = result;
}
// As __byte_perm, but the top bit of a nibble of the selector asks for the sign of its byte alone.
inline void permute(Register& to, Register a, Register b, Register selector) {
  Register both = as<unsigned>(b) * (Register{1} << 32) | as<unsigned>(a), result = 0;
  for (int i = 0; i < 4; i++) {
    unsigned nibble = selector >> 4 * i & 15;
    Register byte = both >> 8 * (nibble & 7) & 255;
    result |= (nibble & 8 ? (byte & 128 ? Register{255} : 0) : byte) << 8 * i;
  }
  to = result;
}
template <class T>
inline void population(Register& to, Register a) {
  to = static_cast<Register>(__builtin_popcountll(bits_of(as<T>(a))));
}
template <class T>
inline void leading_zeros(Register& to, Register a) {
  to = static_cast<Register>(sizeof(T) == 4 ? __clz(as<int>(a)) : __clzll(as<long long>(a)));
}
inline void reversed(Register& to, Register a) { to = __brev(as<unsigned>(a)); }

inline void choose(Register& to, Register a, Register b, Register predicate) { to = predicate & 1 ? a : b; }

template <Word Compare, class T>
inline bool compared(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    bool unordered = a != a || b != b;
    if constexpr (Compare == num_) return !unordered;
    else if constexpr (Compare == nan_) return unordered;
    else if constexpr (Compare == equ_) return unordered || a == b;
    else if constexpr (Compare == neu_) return unordered || a != b;
    else if constexpr (Compare == ltu_) return unordered || a < b;
    else if constexpr (Compare == leu_) return unordered || a <= b;
    else if constexpr (Compare == gtu_) return unordered || a > b;
    else if constexpr (Compare == geu_) return unordered || a >= b;
    else if (unordered) return false;
  }
  if constexpr (Compare == eq_) return a == b;
  else if constexpr (Compare == ne_) return a != b;
  else if constexpr (Compare == lt_ || Compare == lo_) return a < b;
  else if constexpr (Compare == le_ || Compare == ls_) return a <= b;
  else if constexpr (Compare == gt_ || Compare == hi_) return a > b;
  else return a >= b;
}
template <Word Compare, class T>
inline void compare(Register& to, Register a, Register b) {
  if constexpr (is_small<T>) to = compared<Compare>(float(as<T>(a)), float(as<T>(b)));
  else to = compared<Compare>(as<T>(a), as<T>(b));
}

// A register to another, several to one that they fill, or one to several that share it.
template <class T>
inline void mov(Register& to, Register from) {
  to = bits_of(as<T>(from));
}
template <class T, int N>
inline void mov(Register& to, Several<N> from) {
  constexpr int width = 8 * sizeof(T) / N;
  Register result = 0;
  for (int i = 0; i < N; i++) result |= (from.value[i] & ((Register{1} << width) - 1)) << width * i;
  to = result;
}
template <class T, int N>
inline void mov(Several<N> to, Register from) {
  constexpr int width = 8 * sizeof(T) / N;
  for (int i = 0; i < N; i++) *to.place[i] = from >> width * i & ((Register{1} << width) - 1);
}

}  // namespace cuemu::ptx
