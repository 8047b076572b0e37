// float4 and its family, with the alignment that CUDA gives them.
#pragma once
#include "cuemu/abi.h"

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

#define CUEMU_VECTOR_3(T, NAME) \
  struct NAME##3 {              \
    T x, y, z;                  \
  };                            \
  constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }

#define CUEMU_VECTORS(T, NAME, ALIGN_2, ALIGN_4)                                 \
  struct NAME##1 {                                                               \
    T x;                                                                         \
  };                                                                             \
  struct alignas(ALIGN_2) NAME##2 {                                              \
    T x, y;                                                                      \
  };                                                                             \
  struct alignas(ALIGN_4) NAME##4 {                                              \
    T x, y, z, w;                                                                \
  };                                                                             \
  constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                          \
  constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                  \
  constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }

CUEMU_VECTORS(float, float, 8, 16)
CUEMU_VECTORS(double, double, 16, 16)
CUEMU_VECTORS(int, int, 8, 16)
CUEMU_VECTORS(unsigned int, uint, 8, 16)
CUEMU_VECTORS(short, short, 4, 8)
CUEMU_VECTORS(unsigned short, ushort, 4, 8)
CUEMU_VECTORS(signed char, char, 2, 4)
CUEMU_VECTORS(unsigned char, uchar, 2, 4)
CUEMU_VECTORS(long, long, 16, 16)
CUEMU_VECTORS(unsigned long, ulong, 16, 16)
CUEMU_VECTORS(long long, longlong, 16, 16)
CUEMU_VECTORS(unsigned long long, ulonglong, 16, 16)
CUEMU_VECTOR_3(float, float)
CUEMU_VECTOR_3(double, double)
CUEMU_VECTOR_3(int, int)
CUEMU_VECTOR_3(short, short)
CUEMU_VECTOR_3(unsigned short, ushort)
CUEMU_VECTOR_3(signed char, char)
CUEMU_VECTOR_3(unsigned char, uchar)
CUEMU_VECTOR_3(long, long)
CUEMU_VECTOR_3(unsigned long, ulong)
CUEMU_VECTOR_3(long long, longlong)
CUEMU_VECTOR_3(unsigned long long, ulonglong)
constexpr uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return {x, y, z}; }

// Const to a kernel, so that its compiler may keep them in registers; the runtime sets them before each thread.
extern "C" const uint3 threadIdx __asm__("cuemu_thread_index");
extern "C" const uint3 blockIdx __asm__("cuemu_block_index");
extern "C" const uint3 blockDim __asm__("cuemu_block_dim");
extern "C" const uint3 gridDim __asm__("cuemu_grid_dim");
inline int cuemu_warp_size() { return 32; }
static const int warpSize = cuemu_warp_size();  // no constant expression: nvcc refuses an array of that size
