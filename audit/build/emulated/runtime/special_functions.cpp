// The function of cuemu/special_functions.h that needs the special functions of the C++ library.
#include "device.h"

#include <cmath>
#include <limits>

CUEMU_EXPORT double cuemu_bessel_i(double order, double x) {
  if (x != x) return x;
  double large = std::fabs(x), sign = order && x < 0 ? -1.0 : 1.0;
  if (large < 1e-9) return order ? 0.5 * x : 1.0;
  if (large > 720.0) return sign * std::numeric_limits<double>::infinity();
  return sign * static_cast<double>(std::cyl_bessel_i(static_cast<long double>(order), static_cast<long double>(large)));
}
