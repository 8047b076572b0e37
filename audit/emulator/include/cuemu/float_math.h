// Floating-point functions of CUDA. The fast ones are as exact as the others here: tolerances must cover the difference.
#pragma once
#include <cfloat>
#include <climits>
#include <cmath>
#include <limits>
#include <math.h>    // the overloads for float and isnan in the global namespace, where device code looks for them
#include <stdlib.h>

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }
inline float fdividef(float a, float b) { return a / b; }
inline float sinpif(float x) { return static_cast<float>(sin(3.14159265358979323846 * x)); }
inline float cospif(float x) { return static_cast<float>(cos(3.14159265358979323846 * x)); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }

// The C library has declared some of these names for itself, with other meanings: macros keep out of its way.
namespace cuemu {
inline float exp10_of(float x) { return powf(10.0f, x); }
inline double exp10_of(double x) { return pow(10.0, x); }
inline void sincos_of(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
}  // namespace cuemu
#define __expf(x) expf(x)
#define __exp10f(x) ::cuemu::exp10_of(static_cast<float>(x))
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __tanhf(x) tanhf(x)
#define __powf(x, y) powf(x, y)
#define __sincosf(x, s, c) ::cuemu::sincos_of(x, s, c)
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

#define CUEMU_ROUNDED(SUFFIX)                                                                \
  inline float __fadd_##SUFFIX(float a, float b) { return a + b; }                           \
  inline float __fsub_##SUFFIX(float a, float b) { return a - b; }                           \
  inline float __fmul_##SUFFIX(float a, float b) { return a * b; }                           \
  inline float __fdiv_##SUFFIX(float a, float b) { return a / b; }                           \
  inline float __frcp_##SUFFIX(float a) { return 1.0f / a; }                                 \
  inline float __fsqrt_##SUFFIX(float a) { return sqrtf(a); }                                \
  inline float __fmaf_##SUFFIX(float a, float b, float c) { return fmaf(a, b, c); }          \
  inline double __dadd_##SUFFIX(double a, double b) { return a + b; }                        \
  inline double __dsub_##SUFFIX(double a, double b) { return a - b; }                        \
  inline double __dmul_##SUFFIX(double a, double b) { return a * b; }                        \
  inline double __ddiv_##SUFFIX(double a, double b) { return a / b; }                        \
  inline double __drcp_##SUFFIX(double a) { return 1.0 / a; }                                \
  inline double __dsqrt_##SUFFIX(double a) { return sqrt(a); }                               \
  inline double __fma_##SUFFIX(double a, double b, double c) { return fma(a, b, c); }
CUEMU_ROUNDED(rn)
CUEMU_ROUNDED(rz)
CUEMU_ROUNDED(ru)
CUEMU_ROUNDED(rd)
inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }

#define CUDART_INF_F (::std::numeric_limits<float>::infinity())
#define CUDART_NAN_F (::std::numeric_limits<float>::quiet_NaN())
#define CUDART_INF (::std::numeric_limits<double>::infinity())
#define CUDART_NAN (::std::numeric_limits<double>::quiet_NaN())
#define CUDART_MAX_NORMAL_F FLT_MAX
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_LN2_F 0.693147181f
#define CUDART_L2E_F 1.442695041f
