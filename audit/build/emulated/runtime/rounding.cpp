// Arithmetic and conversions in a chosen rounding mode. The machine does them, in that mode; volatile operands keep the
// compiler from moving an operation past the change of mode.
#include "device.h"

#include <cfenv>
#include <cmath>

using namespace cuemu;

namespace {

constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};  // rn, rz, ru, rd

// No time limit may end the launch before the mode is the usual one again.
class InMode {
 public:
  explicit InMode(int mode) { std::fesetround(kModes[mode]); }
  ~InMode() { std::fesetround(FE_TONEAREST); }

 private:
  CriticalSection section_;
};

template <class T>
T rounded(int operation, int mode, T a, T b, T c) {
  volatile T left = a, right = b, third = c, result = 0;
  InMode change(mode);
  switch (static_cast<Rounded>(operation)) {
    case Rounded::add: result = left + right; break;
    case Rounded::subtract: result = left - right; break;
    case Rounded::multiply: result = left * right; break;
    case Rounded::divide: result = left / right; break;
    case Rounded::root: result = std::sqrt(static_cast<T>(left)); break;
    case Rounded::multiply_add: result = std::fma(static_cast<T>(left), static_cast<T>(right), static_cast<T>(third)); break;
  }
  return result;
}

template <class To, class From>
To converted(int mode, From x) {
  volatile From from = x;
  InMode change(mode);
  volatile To to = static_cast<To>(from);
  return to;
}

}  // namespace

CUEMU_EXPORT float cuemu_rounded_float(int operation, int mode, float a, float b, float c) {
  return rounded(operation, mode, a, b, c);
}
CUEMU_EXPORT double cuemu_rounded_double(int operation, int mode, double a, double b, double c) {
  return rounded(operation, mode, a, b, c);
}
CUEMU_EXPORT float cuemu_float_of_double(int mode, double x) { return converted<float>(mode, x); }
CUEMU_EXPORT float cuemu_float_of_signed(int mode, long long x) { return converted<float>(mode, x); }
CUEMU_EXPORT float cuemu_float_of_unsigned(int mode, unsigned long long x) { return converted<float>(mode, x); }
CUEMU_EXPORT double cuemu_double_of_signed(int mode, long long x) { return converted<double>(mode, x); }
CUEMU_EXPORT double cuemu_double_of_unsigned(int mode, unsigned long long x) { return converted<double>(mode, x); }
