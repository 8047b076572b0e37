// min and max in exactly the overloads that CUDA has. The fast build on a GPU includes this file beside CUDA's headers.
#pragma once
#include <cmath>

#define CUEMU_MIN_MAX(RESULT, A, B)                                                                     \
  inline RESULT min(A a, B b) {                                                                         \
    return static_cast<RESULT>(b) < static_cast<RESULT>(a) ? static_cast<RESULT>(b) : static_cast<RESULT>(a); \
  }                                                                                                     \
  inline RESULT max(A a, B b) {                                                                         \
    return static_cast<RESULT>(a) < static_cast<RESULT>(b) ? static_cast<RESULT>(b) : static_cast<RESULT>(a); \
  }
#define CUEMU_MIN_MAX_OF(SIGNED, UNSIGNED)    \
  CUEMU_MIN_MAX(SIGNED, SIGNED, SIGNED)       \
  CUEMU_MIN_MAX(UNSIGNED, UNSIGNED, UNSIGNED) \
  CUEMU_MIN_MAX(UNSIGNED, SIGNED, UNSIGNED)   \
  CUEMU_MIN_MAX(UNSIGNED, UNSIGNED, SIGNED)
CUEMU_MIN_MAX_OF(int, unsigned int)
CUEMU_MIN_MAX_OF(long, unsigned long)
CUEMU_MIN_MAX_OF(long long, unsigned long long)
#define CUEMU_FLOAT_MIN_MAX(RESULT, A, B, MIN, MAX)      \
  inline RESULT min(A a, B b) { return MIN(a, b); }      \
  inline RESULT max(A a, B b) { return MAX(a, b); }
CUEMU_FLOAT_MIN_MAX(float, float, float, fminf, fmaxf)
CUEMU_FLOAT_MIN_MAX(double, double, double, fmin, fmax)
CUEMU_FLOAT_MIN_MAX(double, float, double, fmin, fmax)
CUEMU_FLOAT_MIN_MAX(double, double, float, fmin, fmax)
inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
