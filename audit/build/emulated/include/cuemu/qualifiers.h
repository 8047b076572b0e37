// The words of CUDA C++ that a C++ compiler does not know.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // nothing: the standard library writes __attribute__((__noinline__))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
// What rewritten texts ask instead of nvcc's __CUDACC__ and the like.
#define CUEMU_CUDACC 1
#define CUEMU_NVCC 1
#define CUEMU_CUDACC_VER_MAJOR 12
#define CUEMU_CUDACC_VER_MINOR 4
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040
#define CUDARTAPI
#define CUDART_CB

// Functions of ours that touch device memory on a kernel's behalf: their own accesses are not the kernel's.
#define CUEMU_UNCHECKED __attribute__((no_sanitize("thread"), noinline))

// Inlined in every build: a report names the line of the call.
#define CUEMU_INLINED inline __attribute__((always_inline))
