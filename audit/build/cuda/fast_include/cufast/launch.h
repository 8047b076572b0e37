// What nvcc's own host stubs do, through the runtime's documented library interface: `K<<<cfg>>>(args)` becomes
// `(configure(cfg), K(args))`, and K's body on the host launches the kernel that was bound to its key.
#pragma once
#include <cuda_runtime.h>

#include <c10/util/Exception.h>

#include <unordered_map>
#include <vector>

namespace cufast {

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
struct Target {
  void* handle;  // a cudaKernel_t, or the address of a variable in device memory
  std::size_t bytes;  // of the variable
};

// By the host's address of a kernel, of the key in its body, or of a variable's shadow.
inline std::unordered_map<const void*, Target> targets;
inline thread_local std::vector<Configuration> pending;  // arguments may launch kernels of their own

inline void configure(dim3 grid, dim3 block, std::size_t shared = 0, cudaStream_t stream = nullptr) {
  pending.push_back({grid, block, shared, stream});
}

inline void* kernel(const void* address) {
  auto found = targets.find(address);
  TORCH_CHECK_NOT_IMPLEMENTED(found != targets.end(), "the fast build left this kernel out, since it needs torch's "
                              "types on the device; run the published build");
  return found->second.handle;
}

// Errors stay where <<<>>> leaves them, in the CUDA runtime's last error. A block too large is cudaErrorInvalidValue,
// where nvcc's stub leaves cudaErrorInvalidConfiguration: the driver alone checks the kernels of a loaded library.
inline void launch(const void* key, void** arguments) {
  Configuration asked = pending.back();
  pending.pop_back();
  static_cast<void>(::cudaLaunchKernel(kernel(key), asked.grid, asked.block, arguments, asked.shared, asked.stream));
}

inline const void* plain(const void* address) { return address; }
template <class... Parameters>
const void* plain(void (*function)(Parameters...)) {
  return reinterpret_cast<const void*>(function);
}

template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel function, dim3 grid, dim3 block, void** arguments, std::size_t shared = 0,
                             cudaStream_t stream = nullptr) {
  return ::cudaLaunchKernel(kernel(plain(function)), grid, block, arguments, shared, stream);
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel function, cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute(static_cast<const void*>(kernel(plain(function))), attribute, value);
}
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel function) {
  return ::cudaFuncGetAttributes(attributes, static_cast<const void*>(kernel(plain(function))));
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel function, int block, std::size_t shared) {
  const void* handle = kernel(plain(function));
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, block, shared);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel function, std::size_t shared = 0,
                                               int limit = 0) {
  return ::cudaOccupancyMaxPotentialBlockSize(grid, block, static_cast<const void*>(kernel(plain(function))), shared,
                                              limit);
}

// The variable's memory on the device, or the runtime's own refusal.
template <class Symbol>
cudaError_t part_of(const Symbol& symbol, std::size_t offset, std::size_t count, char** place) {
  auto found = targets.find(&symbol);
  if (found == targets.end()) {
    void* nowhere = nullptr;
    return ::cudaGetSymbolAddress(&nowhere, static_cast<const void*>(&symbol));
  }
  *place = static_cast<char*>(found->second.handle) + offset;
  bool inside = offset <= found->second.bytes && count <= found->second.bytes - offset;
  return inside ? cudaSuccess : cudaErrorInvalidValue;
}
template <class Symbol>
cudaError_t cudaMemcpyToSymbol(const Symbol& symbol, const void* from, std::size_t count, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  char* place = nullptr;
  cudaError_t error = part_of(symbol, offset, count, &place);
  return error == cudaSuccess ? ::cudaMemcpy(place, from, count, kind) : error;
}
template <class Symbol>
cudaError_t cudaMemcpyToSymbolAsync(const Symbol& symbol, const void* from, std::size_t count, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  char* place = nullptr;
  cudaError_t error = part_of(symbol, offset, count, &place);
  return error == cudaSuccess ? ::cudaMemcpyAsync(place, from, count, kind, stream) : error;
}
template <class Symbol>
cudaError_t cudaMemcpyFromSymbol(void* to, const Symbol& symbol, std::size_t count, std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  char* place = nullptr;
  cudaError_t error = part_of(symbol, offset, count, &place);
  return error == cudaSuccess ? ::cudaMemcpy(to, place, count, kind) : error;
}
template <class Symbol>
cudaError_t cudaGetSymbolAddress(void** address, const Symbol& symbol) {
  char* place = nullptr;
  cudaError_t error = part_of(symbol, 0, 0, &place);
  if (error == cudaSuccess) *address = place;
  return error;
}

}  // namespace cufast
