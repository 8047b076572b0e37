// Settings and questions about one kernel. The shared-memory opt-in of any kernel holds for all of the process.
#pragma once
#include "cuemu/device_properties.h"
#include "cuemu/launch.h"

#include <algorithm>
#include <map>

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual,
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte,
};
enum { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0, cudaSharedmemCarveoutMaxShared = 100 };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes = 0, constSizeBytes = 0, localSizeBytes = 0;
  int maxThreadsPerBlock = 1024, numRegs = 32, maxDynamicSharedSizeBytes = 49152;
};

template <class Kernel>
inline cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cuemu::answer();
  bool allowed = value >= 0 && cuemu_allow_dynamic_shared(static_cast<std::size_t>(value));
  return cuemu::answer(allowed ? cudaSuccess : cudaErrorInvalidValue);
}
template <class Kernel>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel) {
  *attributes = cudaFuncAttributes();
  return cuemu::answer();
}
template <class Kernel>
inline cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) {
  return cuemu::answer();
}
template <class Kernel>
inline cudaError_t cudaFuncSetSharedMemConfig(Kernel, cudaSharedMemConfig) {
  return cuemu::answer();
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cuemu::answer(); }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cuemu::answer(); }
inline cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return cuemu::answer(); }
template <class Kernel>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel, std::size_t = 0, int limit = 0) {
  *block = limit ? std::min(limit, 256) : 256;
  *grid = cudaDeviceProp().multiProcessorCount * 1024 / *block;
  return cuemu::answer();
}
template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int block, std::size_t) {
  *blocks = std::max(1, 1024 / std::max(block, 1));
  return cuemu::answer();
}
namespace cuemu {
// Launches of kernels whose address was cast to void*, by that address: the cast is made by what stands below.
using AddressLaunch = cudaError_t (*)(const void*, dim3, dim3, void**, std::size_t);
inline std::map<const void*, AddressLaunch>& launches_by_address() {
  static std::map<const void*, AddressLaunch> known;
  return known;
}
}  // namespace cuemu

// Arguments as an array of pointers need the kernel's signature, which the pointer has; a cast to void* in the call is
// taken away before the source is compiled.
template <class... Parameters>
inline cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared = 0, cudaStream_t = nullptr) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    cuemu::launch("cudaLaunchKernel", 0, grid, block, shared)
        .with(*static_cast<std::remove_cv_t<Parameters>*>(arguments[I])...) % [=](auto... argument) { kernel(argument...); };
  }(std::index_sequence_for<Parameters...>());
  return cuemu::answer(static_cast<cudaError_t>(cuemu_last_error(false)));
}
inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared = 0,
                                    cudaStream_t = nullptr) {
  auto found = cuemu::launches_by_address().find(kernel);
  if (found == cuemu::launches_by_address().end()) return cuemu::answer(cudaErrorInvalidDeviceFunction);
  return found->second(kernel, grid, block, arguments, shared);
}

namespace cuemu {
// The address of a kernel as void*, from which it can be launched; stands in for the cast in the source.
template <class... Parameters>
void* kernel_address(void (*kernel)(Parameters...)) {
  auto* address = reinterpret_cast<void*>(kernel);
  launches_by_address()[address] = [](const void* known, dim3 grid, dim3 block, void** arguments, std::size_t shared) {
    auto typed = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(known));
    return cudaLaunchKernel(typed, grid, block, arguments, shared);
  };
  return address;
}
struct Address {
  template <class... Parameters>
  void* operator%(void (*kernel)(Parameters...)) const {
    return kernel_address(kernel);
  }
};
}  // namespace cuemu

// Clusters are refused by name before anything is compiled; other attributes change when blocks run, not what they do.
enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributePriority = 8,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};
union cudaLaunchAttributeValue {
  int programmaticStreamSerializationAllowed;
  int priority;
  char pad[64];
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                      Arguments&&... arguments) {
  cuemu::launch("cudaLaunchKernelEx", 0, config->gridDim, config->blockDim, config->dynamicSmemBytes)
      .with(std::remove_cv_t<Parameters>(std::forward<Arguments>(arguments))...) %
      [=](auto... argument) { kernel(argument...); };
  return cuemu::answer(static_cast<cudaError_t>(cuemu_last_error(false)));
}
