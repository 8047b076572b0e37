// What host code can ask about the GPU: the emulated device poses as one of its compute capability.
#pragma once
#include "cuemu/errors.h"
#include "cuemu/qualifiers.h"

#include <cstddef>

struct cudaDeviceProp {
  char name[256] = "emulated device";
  std::size_t totalGlobalMem = std::size_t{1} << 34;
  std::size_t totalConstMem = 65536;
  std::size_t sharedMemPerBlock = 49152;
  std::size_t sharedMemPerBlockOptin = cuemu_shared_limit_opt_in();
  std::size_t sharedMemPerMultiprocessor = cuemu_shared_limit_opt_in();
  int regsPerBlock = 65536;
  int regsPerMultiprocessor = 65536;
  int warpSize = 32;
  int maxThreadsPerBlock = 1024;
  int maxThreadsDim[3] = {1024, 1024, 64};
  int maxGridSize[3] = {2147483647, 65535, 65535};
  int major = cuemu_compute_capability() / 10;
  int minor = cuemu_compute_capability() % 10;
  int multiProcessorCount = 40;
  int maxThreadsPerMultiProcessor = 1024;
  int maxBlocksPerMultiProcessor = 16;
  int l2CacheSize = 4 << 20;
  int clockRate = 1590000;
  int memoryClockRate = 5001000;
  int memoryBusWidth = 256;
  int concurrentKernels = 1;
  int cooperativeLaunch = 0;
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = cudaDeviceProp();
  return cuemu::answer();
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  cudaDeviceProp device;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = device.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = device.maxThreadsDim[0]; break;
    case cudaDevAttrMaxGridDimX: *value = device.maxGridSize[0]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(device.sharedMemPerBlock); break;
    case cudaDevAttrWarpSize: *value = device.warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = device.multiProcessorCount; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = device.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = device.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = device.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = static_cast<int>(device.sharedMemPerMultiprocessor); break;
    case cudaDevAttrCooperativeLaunch: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(device.sharedMemPerBlockOptin); break;
    default: return cuemu::answer(cudaErrorInvalidValue);
  }
  return cuemu::answer();
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cuemu::answer();
}
inline cudaError_t cudaSetDevice(int device) { return cuemu::answer(device ? cudaErrorInvalidDevice : cudaSuccess); }
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cuemu::answer();
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cuemu::answer();
}
inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
