// Integer operations on the two halves or four bytes of a word at once.
#pragma once
#include <cstdint>

namespace cuemu {

template <class Part>
inline int clamped(int x) {
  constexpr int low = static_cast<Part>(-1) < 0 ? -(1 << (8 * sizeof(Part) - 1)) : 0;
  constexpr int high = low + (1 << 8 * sizeof(Part)) - 1;
  return x < low ? low : x > high ? high : x;
}
template <class Part>
inline unsigned sum_of_differences(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (int at = 0; at < 32; at += 8 * sizeof(Part)) {
    int difference = static_cast<Part>(a >> at) - static_cast<Part>(b >> at);
    sum += static_cast<unsigned>(difference < 0 ? -difference : difference);
  }
  return sum;
}

}  // namespace cuemu

// The expression in x and y for each part of type Part of two words, as an int, of which the lower bits are kept. No
// template: an inline function that calls one has it instantiated in every source.
#define CUEMU_BY_PARTS(NAME, PART, EXPRESSION)                                  \
  inline unsigned NAME(unsigned a, unsigned b) {                                \
    using Part = PART;                                                          \
    constexpr int bits = 8 * sizeof(Part);                                      \
    constexpr unsigned all = (1u << bits) - 1;                                  \
    unsigned result = 0;                                                        \
    for (int at = 0; at < 32; at += bits) {                                     \
      const int x = static_cast<Part>(a >> at), y = static_cast<Part>(b >> at); \
      result |= (static_cast<unsigned>(EXPRESSION) & all) << at;                \
    }                                                                           \
    return result;                                                              \
  }
#define CUEMU_BOTH_COUNTS(NAME, HALF, BYTE, EXPRESSION) \
  CUEMU_BY_PARTS(__v##NAME##2, HALF, EXPRESSION)        \
  CUEMU_BY_PARTS(__v##NAME##4, BYTE, EXPRESSION)
#define CUEMU_SIGNED(NAME, EXPRESSION) CUEMU_BOTH_COUNTS(NAME, std::int16_t, std::int8_t, EXPRESSION)
#define CUEMU_UNSIGNED(NAME, EXPRESSION) CUEMU_BOTH_COUNTS(NAME, std::uint16_t, std::uint8_t, EXPRESSION)
#define CUEMU_BOTH_SIGNS(NAME, EXPRESSION) \
  CUEMU_SIGNED(NAME##s, EXPRESSION)        \
  CUEMU_UNSIGNED(NAME##u, EXPRESSION)
CUEMU_UNSIGNED(add, x + y)
CUEMU_UNSIGNED(sub, x - y)
CUEMU_SIGNED(addss, cuemu::clamped<Part>(x + y))
CUEMU_UNSIGNED(addus, cuemu::clamped<Part>(x + y))
CUEMU_SIGNED(subss, cuemu::clamped<Part>(x - y))
CUEMU_UNSIGNED(subus, cuemu::clamped<Part>(x - y))
CUEMU_BOTH_SIGNS(absdiff, x < y ? y - x : x - y)
CUEMU_BOTH_SIGNS(avg, (x + y + 1) >> 1)
CUEMU_UNSIGNED(haddu, (x + y) >> 1)
CUEMU_BOTH_SIGNS(max, x < y ? y : x)
CUEMU_BOTH_SIGNS(min, y < x ? y : x)
CUEMU_UNSIGNED(cmpeq, -(x == y))
CUEMU_UNSIGNED(cmpne, -(x != y))
CUEMU_BOTH_SIGNS(cmpgt, -(x > y))
CUEMU_BOTH_SIGNS(cmpge, -(x >= y))
CUEMU_BOTH_SIGNS(cmplt, -(x < y))
CUEMU_BOTH_SIGNS(cmple, -(x <= y))
CUEMU_UNSIGNED(seteq, x == y)
CUEMU_UNSIGNED(setne, x != y)
CUEMU_BOTH_SIGNS(setgt, x > y)
CUEMU_BOTH_SIGNS(setge, x >= y)
CUEMU_BOTH_SIGNS(setlt, x < y)
CUEMU_BOTH_SIGNS(setle, x <= y)
#undef CUEMU_BOTH_SIGNS
#undef CUEMU_UNSIGNED
#undef CUEMU_SIGNED
#undef CUEMU_BOTH_COUNTS
#undef CUEMU_BY_PARTS

inline unsigned __vneg2(unsigned a) { return __vsub2(0, a); }
inline unsigned __vneg4(unsigned a) { return __vsub4(0, a); }
inline unsigned __vnegss2(unsigned a) { return __vsubss2(0, a); }
inline unsigned __vnegss4(unsigned a) { return __vsubss4(0, a); }
inline unsigned __vabs2(unsigned a) { return __vmaxs2(a, __vneg2(a)); }
inline unsigned __vabs4(unsigned a) { return __vmaxs4(a, __vneg4(a)); }
inline unsigned __vabsss2(unsigned a) { return __vmaxs2(a, __vnegss2(a)); }
inline unsigned __vabsss4(unsigned a) { return __vmaxs4(a, __vnegss4(a)); }
inline unsigned __vsads2(unsigned a, unsigned b) { return cuemu::sum_of_differences<std::int16_t>(a, b); }
inline unsigned __vsads4(unsigned a, unsigned b) { return cuemu::sum_of_differences<std::int8_t>(a, b); }
inline unsigned __vsadu2(unsigned a, unsigned b) { return cuemu::sum_of_differences<std::uint16_t>(a, b); }
inline unsigned __vsadu4(unsigned a, unsigned b) { return cuemu::sum_of_differences<std::uint8_t>(a, b); }
