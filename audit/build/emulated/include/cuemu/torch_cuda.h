// at::cuda and c10::cuda as host code uses them; a CPU build of torch lacks them.
#pragma once
#include "cuemu/device_properties.h"
#include "cuemu/streams.h"
#include "cuemu/torch_check.h"

#include <c10/core/Device.h>

namespace at::cuda {

struct CUDAStream {
  cudaStream_t stream() const { return nullptr; }
  operator cudaStream_t() const { return nullptr; }
  void synchronize() const {}
  bool query() const { return true; }
  c10::DeviceIndex device_index() const { return 0; }
  std::int64_t id() const { return 0; }
};
inline CUDAStream getCurrentCUDAStream(std::int64_t = -1) { return {}; }
inline CUDAStream getDefaultCUDAStream(std::int64_t = -1) { return {}; }
inline CUDAStream getStreamFromPool(bool = false, std::int64_t = -1) { return {}; }
inline CUDAStream getStreamFromExternal(cudaStream_t, std::int64_t) { return {}; }
inline void setCurrentCUDAStream(CUDAStream) {}

struct CUDAEvent {
  CUDAEvent() = default;
  explicit CUDAEvent(unsigned) {}
  void record() {}
  void record(CUDAStream) {}
  void recordOnce(CUDAStream) {}
  void block(CUDAStream) {}
  bool query() const { return true; }
  void synchronize() const {}
};

struct CUDAStreamGuard {
  explicit CUDAStreamGuard(CUDAStream) {}
};
struct CUDAGuard {
  explicit CUDAGuard(std::int64_t) {}
  explicit CUDAGuard(c10::Device) {}
  void set_device(c10::Device) {}
  void set_index(std::int64_t) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  template <class D>
  explicit OptionalCUDAGuard(const D&) {}
  void set_device(c10::Device) {}
};

inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties;
  return &properties;
}
inline cudaDeviceProp* getDeviceProperties(std::int64_t) { return getCurrentDeviceProperties(); }
inline int warp_size() { return 32; }
inline c10::DeviceIndex current_device() { return 0; }
inline std::int64_t device_count() { return 1; }
inline bool is_available() { return true; }

}  // namespace at::cuda

namespace c10::cuda {

using at::cuda::CUDAGuard;
using at::cuda::CUDAStream;
using at::cuda::CUDAStreamGuard;
using at::cuda::current_device;
using at::cuda::device_count;
using at::cuda::getCurrentCUDAStream;
using at::cuda::getDefaultCUDAStream;
using at::cuda::getStreamFromExternal;
using at::cuda::getStreamFromPool;
using at::cuda::OptionalCUDAGuard;
using at::cuda::setCurrentCUDAStream;
inline void device_synchronize() {}
inline void set_device(std::int64_t) {}
inline int ExchangeDevice(std::int64_t) { return 0; }
inline int MaybeExchangeDevice(std::int64_t) { return 0; }
inline cudaError_t SetDevice(std::int64_t) { return cudaSuccess; }
inline cudaError_t MaybeSetDevice(std::int64_t) { return cudaSuccess; }

namespace CUDACachingAllocator {
template <class Memory>
void recordStream(const Memory&, CUDAStream) {}
inline void emptyCache() {}
}  // namespace CUDACachingAllocator

}  // namespace c10::cuda

namespace at {
using at::cuda::CUDAGuard;
using at::cuda::OptionalCUDAGuard;
}  // namespace at

#define C10_CUDA_CHECK(EXPRESSION)                                                              \
  do {                                                                                          \
    cudaError_t cuemu_error = (EXPRESSION);                                                     \
    TORCH_CHECK(cuemu_error == cudaSuccess, "CUDA error: ", cudaGetErrorString(cuemu_error));   \
  } while (0)
#define AT_CUDA_CHECK(EXPRESSION) C10_CUDA_CHECK(EXPRESSION)
#define C10_CUDA_CHECK_WARN(EXPRESSION) static_cast<void>(EXPRESSION)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_CUDA_CHECK(EXPRESSION) C10_CUDA_CHECK(EXPRESSION)
