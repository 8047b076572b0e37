// Arithmetic, comparisons and functions on one 16-bit number.
#pragma once
#include "cuemu/float_math.h"
#include "cuemu/half_functions.h"

namespace cuemu {

template <class T>
inline T kept_in_unit(T x) {
  return float(x) > 0.0f ? (float(x) < 1.0f ? x : T(1.0f)) : T(0.0f);
}
template <class T>
inline T not_negative(T x) {
  return float(x) < 0.0f || x.x == 0x8000 ? T(0.0f) : x;
}
template <class T>
inline bool is_nan(T x) {
  return float(x) != float(x);
}
// Of two zeros the positive one is larger; NaN gives way to a number, or wins in the _nan forms.
template <class T>
inline T larger(T a, T b, bool nan_wins) {
  if (is_nan(a) || is_nan(b)) return nan_wins || (is_nan(a) && is_nan(b)) ? T::of_bits(0x7fff) : is_nan(a) ? b : a;
  return float(a) > float(b) || (float(a) == float(b) && !(a.x & 0x8000)) ? a : b;
}
template <class T>
inline T smaller(T a, T b, bool nan_wins) {
  if (is_nan(a) || is_nan(b)) return nan_wins || (is_nan(a) && is_nan(b)) ? T::of_bits(0x7fff) : is_nan(a) ? b : a;
  return float(a) < float(b) || (float(a) == float(b) && (a.x & 0x8000)) ? a : b;
}
template <class T>
inline T fused(T a, T b, T c) {
  return T::of(marked_fma(float(a), float(b), float(c)));
}

}  // namespace cuemu

#define CUEMU_SMALL_BINARY(T, NAME, EXPRESSION) \
  inline T NAME(T a, T b) { return EXPRESSION; }
#define CUEMU_SMALL_UNARY(T, NAME, FUNCTION) \
  inline T NAME(T a) { return T(FUNCTION(float(a))); }
#define CUEMU_SMALL_TEST(T, NAME, OPERATOR)                                  \
  inline bool __h##NAME(T a, T b) { return float(a) OPERATOR float(b); }     \
  inline bool __h##NAME##u(T a, T b) { return cuemu::is_nan(a) || cuemu::is_nan(b) || float(a) OPERATOR float(b); }
#define CUEMU_SMALL_MATH(T)                                                          \
  CUEMU_SMALL_BINARY(T, __hadd, a + b)                                               \
  CUEMU_SMALL_BINARY(T, __hsub, a - b)                                               \
  CUEMU_SMALL_BINARY(T, __hmul, a * b)                                               \
  CUEMU_SMALL_BINARY(T, __hdiv, a / b)                                               \
  CUEMU_SMALL_BINARY(T, __hadd_rn, a + b)                                            \
  CUEMU_SMALL_BINARY(T, __hsub_rn, a - b)                                            \
  CUEMU_SMALL_BINARY(T, __hmul_rn, a * b)                                            \
  CUEMU_SMALL_BINARY(T, __hadd_sat, cuemu::kept_in_unit(a + b))                      \
  CUEMU_SMALL_BINARY(T, __hsub_sat, cuemu::kept_in_unit(a - b))                      \
  CUEMU_SMALL_BINARY(T, __hmul_sat, cuemu::kept_in_unit(a * b))                      \
  CUEMU_SMALL_BINARY(T, __hmax, cuemu::larger(a, b, false))                          \
  CUEMU_SMALL_BINARY(T, __hmin, cuemu::smaller(a, b, false))                         \
  CUEMU_SMALL_BINARY(T, __hmax_nan, cuemu::larger(a, b, true))                       \
  CUEMU_SMALL_BINARY(T, __hmin_nan, cuemu::smaller(a, b, true))                      \
  inline T __hfma(T a, T b, T c) { return cuemu::fused(a, b, c); }                   \
  inline T __hfma_sat(T a, T b, T c) { return cuemu::kept_in_unit(__hfma(a, b, c)); } \
  inline T __hfma_relu(T a, T b, T c) { return cuemu::not_negative(__hfma(a, b, c)); } \
  inline T __hneg(T a) { return -a; }                                                \
  inline T __habs(T a) { return T::of_bits(a.x & 0x7fff); }                          \
  inline bool __hisnan(T a) { return cuemu::is_nan(a); }                             \
  inline int __hisinf(T a) { return std::isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0; } \
  CUEMU_SMALL_TEST(T, eq, ==)                                                        \
  inline bool __hne(T a, T b) { return float(a) < float(b) || float(a) > float(b); } \
  inline bool __hneu(T a, T b) { return float(a) != float(b); }                      \
  CUEMU_SMALL_TEST(T, lt, <)                                                         \
  CUEMU_SMALL_TEST(T, le, <=)                                                        \
  CUEMU_SMALL_TEST(T, gt, >)                                                         \
  CUEMU_SMALL_TEST(T, ge, >=)                                                        \
  CUEMU_SMALL_UNARY(T, hexp, expf)                                                   \
  CUEMU_SMALL_UNARY(T, hexp2, exp2f)                                                 \
  CUEMU_SMALL_UNARY(T, hexp10, cuemu::exp10_of)                                      \
  CUEMU_SMALL_UNARY(T, hlog, logf)                                                   \
  CUEMU_SMALL_UNARY(T, hlog2, log2f)                                                 \
  CUEMU_SMALL_UNARY(T, hlog10, log10f)                                               \
  CUEMU_SMALL_UNARY(T, hsin, sinf)                                                   \
  CUEMU_SMALL_UNARY(T, hcos, cosf)                                                   \
  CUEMU_SMALL_UNARY(T, hsqrt, sqrtf)                                                 \
  CUEMU_SMALL_UNARY(T, hrsqrt, rsqrtf)                                               \
  CUEMU_SMALL_UNARY(T, hrcp, 1.0f / )                                                \
  CUEMU_SMALL_UNARY(T, hfloor, floorf)                                               \
  CUEMU_SMALL_UNARY(T, hceil, ceilf)                                                 \
  CUEMU_SMALL_UNARY(T, hrint, nearbyintf)                                            \
  CUEMU_SMALL_UNARY(T, htrunc, truncf)                                               \
  CUEMU_SMALL_UNARY(T, htanh, tanhf)                                                 \
  CUEMU_SMALL_UNARY(T, htanh_approx, tanhf)

CUEMU_SMALL_MATH(__half)
CUEMU_SMALL_MATH(__nv_bfloat16)
