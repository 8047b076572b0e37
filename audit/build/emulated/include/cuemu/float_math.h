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
inline float fdividef(float a, float b) { return a / b; }

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

inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }

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
