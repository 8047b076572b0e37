// Functions that CUDA has and the C library lacks. They are computed with more digits than they return.
#pragma once
#include <cmath>
#include <limits>

extern "C" double cuemu_bessel_i(double order, double x);

namespace cuemu {

// sin(pi x) and cos(pi x), exact at halves however large x is.
inline double sine_of_pi(double x) {
  double turn = fmod(x, 2.0), quarter = nearbyint(2.0 * turn), rest = 3.14159265358979323846 * (turn - 0.5 * quarter);
  switch (static_cast<int>(quarter) & 3) {
    case 0: return rest == 0.0 ? copysign(0.0, x) : sin(rest);
    case 1: return cos(rest);
    case 2: return rest == 0.0 ? copysign(0.0, x) : -sin(rest);
    default: return -cos(rest);
  }
}
inline double cosine_of_pi(double x) {
  double turn = fmod(fabs(x), 2.0), quarter = nearbyint(2.0 * turn), rest = 3.14159265358979323846 * (turn - 0.5 * quarter);
  switch (static_cast<int>(quarter) & 3) {
    case 0: return cos(rest);
    case 1: return rest == 0.0 ? 0.0 : -sin(rest);
    case 2: return -cos(rest);
    default: return rest == 0.0 ? 0.0 : sin(rest);
  }
}

// x with erfc(x) = y for y in (0, 1], by Newton's method with the second derivative.
inline double inverse_of_erfc_above(double y) {
  long double x = y > 0.1 ? 0.886226925452758 * (1.0 - y) : sqrt(-log(y * 1.7724538509055159 * sqrt(-log(y))));
  for (int i = 0; i < 8; i++) {
    long double error = erfcl(x) - y, slope = 1.1283791670955125739L * expl(-x * x);
    x += error / (slope - x * error);
  }
  return static_cast<double>(x);
}
inline double inverse_of_erfc(double y) {
  if (!(y >= 0.0 && y <= 2.0)) return std::numeric_limits<double>::quiet_NaN();
  if (y == 0.0) return std::numeric_limits<double>::infinity();
  if (y == 2.0) return -std::numeric_limits<double>::infinity();
  return y <= 1.0 ? inverse_of_erfc_above(y) : -inverse_of_erfc_above(2.0 - y);
}
inline double inverse_of_erf(double y) {
  if (fabs(y) > 0.5) return copysign(inverse_of_erfc(1.0 - fabs(y)), y);
  if (fabs(y) < 1e-9 || y != y) return y * 0.88622692545275801365;
  double x = 0.88622692545275801365 * y;
  for (int i = 0; i < 8; i++) {
    double error = erf(x) - y, slope = 1.1283791670955126 * exp(-x * x);
    x -= error / (slope + x * error);
  }
  return x;
}

// exp(x * x) * erfc(x)
inline double scaled_erfc(double x) {
  if (x < 100.0) return static_cast<double>(expl(static_cast<long double>(x) * x) * erfcl(x));
  double s = 1.0 / (x * x);
  return 0.56418958354775628695 / x * (1.0 - 0.5 * s * (1.0 - 1.5 * s * (1.0 - 2.5 * s * (1.0 - 3.5 * s))));
}
inline double normal_below(double x) { return static_cast<double>(0.5L * erfcl(-x * 0.707106781186547524400844362104849039L)); }

inline long double length(long double x, long double y, long double z = 0, long double w = 0) {
  return hypotl(hypotl(x, y), hypotl(z, w));
}

}  // namespace cuemu

#define CUEMU_BOTH_SIZES(NAME, EXPRESSION)                                     \
  inline double NAME(double x) { return EXPRESSION; }                          \
  inline float NAME##f(float value) {                                          \
    double x = value;                                                          \
    return static_cast<float>(EXPRESSION);                                     \
  }
CUEMU_BOTH_SIZES(sinpi, cuemu::sine_of_pi(x))
CUEMU_BOTH_SIZES(cospi, cuemu::cosine_of_pi(x))
CUEMU_BOTH_SIZES(erfinv, cuemu::inverse_of_erf(x))
CUEMU_BOTH_SIZES(erfcinv, cuemu::inverse_of_erfc(x))
CUEMU_BOTH_SIZES(erfcx, cuemu::scaled_erfc(x))
CUEMU_BOTH_SIZES(normcdf, cuemu::normal_below(x))
CUEMU_BOTH_SIZES(normcdfinv, -1.41421356237309504880 * cuemu::inverse_of_erfc(2.0 * x))
CUEMU_BOTH_SIZES(rcbrt, 1.0 / cbrt(x))
CUEMU_BOTH_SIZES(cyl_bessel_i0, cuemu_bessel_i(0.0, x))
CUEMU_BOTH_SIZES(cyl_bessel_i1, cuemu_bessel_i(1.0, x))
#undef CUEMU_BOTH_SIZES
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }

#define CUEMU_LENGTHS(TYPE, SUFFIX)                                                                                     \
  inline TYPE rhypot##SUFFIX(TYPE x, TYPE y) { return static_cast<TYPE>(1.0L / cuemu::length(x, y)); }                  \
  inline TYPE norm3d##SUFFIX(TYPE x, TYPE y, TYPE z) { return static_cast<TYPE>(cuemu::length(x, y, z)); }              \
  inline TYPE rnorm3d##SUFFIX(TYPE x, TYPE y, TYPE z) { return static_cast<TYPE>(1.0L / cuemu::length(x, y, z)); }      \
  inline TYPE norm4d##SUFFIX(TYPE x, TYPE y, TYPE z, TYPE w) { return static_cast<TYPE>(cuemu::length(x, y, z, w)); }   \
  inline TYPE rnorm4d##SUFFIX(TYPE x, TYPE y, TYPE z, TYPE w) {                                                         \
    return static_cast<TYPE>(1.0L / cuemu::length(x, y, z, w));                                                         \
  }
CUEMU_LENGTHS(float, f)
CUEMU_LENGTHS(double, )
#undef CUEMU_LENGTHS
