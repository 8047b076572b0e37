// cudaMalloc, cudaMemcpy and their relations. Host and device share one memory here; copies are done at once.
#pragma once
#include "cuemu/errors.h"
#include "cuemu/streams.h"

#include <cstdlib>
#include <cstring>
#include <type_traits>

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault,
};
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaHostAllocDefault = 0, cudaHostRegisterDefault = 0 };
enum { cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4 };
enum { cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2 };

template <class T>
inline cudaError_t cudaMalloc(T** address, std::size_t bytes) {
  *address = static_cast<T*>(cuemu_device_malloc(bytes));
  return cuemu::answer();
}
template <class T>
inline cudaError_t cudaMallocAsync(T** address, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(address, bytes);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** address, std::size_t bytes, unsigned = cudaMemAttachGlobal) {
  return cudaMalloc(address, bytes);
}
template <class T>
inline cudaError_t cudaMallocHost(T** address, std::size_t bytes, unsigned = 0) {
  return cudaMalloc(address, bytes);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** address, std::size_t bytes, unsigned) {
  return cudaMalloc(address, bytes);
}
inline cudaError_t cudaFree(void* address) {
  return cuemu::answer(cuemu_device_free(address) ? cudaSuccess : cudaErrorInvalidValue);
}
inline cudaError_t cudaFreeAsync(void* address, cudaStream_t) { return cudaFree(address); }
inline cudaError_t cudaFreeHost(void* address) { return cudaFree(address); }
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** address, void* host, unsigned) {
  *address = static_cast<T*>(host);  // kernels reach all memory of the host here, and on a GPU pinned memory
  return cuemu::answer();
}
inline cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cuemu::answer(); }
inline cudaError_t cudaHostUnregister(void*) { return cuemu::answer(); }

namespace cuemu {

// Whether a copy's kind is possible: memory of the host that is said to be a device's is refused.
inline bool fits(void* to, const void* from, cudaMemcpyKind kind) {
  bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return (!to_device || cuemu_may_be_device(to)) && (!from_device || cuemu_may_be_device(from));
}

}  // namespace cuemu

inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes && !cuemu::fits(to, from, kind)) return cuemu::answer(cudaErrorInvalidValue);
  std::memmove(to, from, bytes);
  return cuemu::answer();
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (width * height && !cuemu::fits(to, from, kind)) return cuemu::answer(cudaErrorInvalidValue);
  for (std::size_t row = 0; row < height; row++)
    std::memmove(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  return cuemu::answer();
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  if (bytes && !cuemu_may_be_device(to)) return cuemu::answer(cudaErrorInvalidValue);
  std::memset(to, value, bytes);
  return cuemu::answer();
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t = nullptr) {
  return cudaMemset(to, value, bytes);
}
inline cudaError_t cudaMemGetInfo(std::size_t* unused, std::size_t* total) {
  *unused = *total = std::size_t{1} << 34;
  return cuemu::answer();
}

namespace cuemu {

// A refusal is reported too: a source that ignores it goes on with what the variable held.
inline cudaError_t refused(const SymbolCopy& copy, cudaError_t error, bool kind_fits) {
  cuemu_refused_copy(&copy, kind_fits);
  return answer(error);
}

inline cudaError_t copy_symbol(const SymbolCopy& copy, void* to, const void* from, cudaMemcpyKind kind, cudaMemcpyKind wrong) {
  if (!copy.bytes) return answer();
  if (kind == wrong || kind == cudaMemcpyHostToHost) return refused(copy, cudaErrorInvalidMemcpyDirection, false);
  if (copy.offset > copy.size || copy.bytes > copy.size - copy.offset) return refused(copy, cudaErrorInvalidValue, true);
  if (!fits(to, from, kind)) return refused(copy, cudaErrorInvalidValue, false);
  std::memmove(to, from, copy.bytes);
  return answer();
}

template <class T>
cudaError_t copy_to(T& symbol, const void* from, cudaMemcpyKind kind, const SymbolCopy& copy) {
  auto* to = reinterpret_cast<char*>(const_cast<std::remove_cv_t<T>*>(&symbol)) + copy.offset;
  return copy_symbol(copy, to, from, kind, cudaMemcpyDeviceToHost);
}

template <class T>
cudaError_t copy_from(void* to, const T& symbol, cudaMemcpyKind kind, const SymbolCopy& copy) {
  auto* from = reinterpret_cast<const char*>(&symbol) + copy.offset;
  return copy_symbol(copy, to, from, kind, cudaMemcpyHostToDevice);
}

}  // namespace cuemu

template <class T>
inline cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice, int line = __builtin_LINE()) {
  return cuemu::copy_to(symbol, from, kind, {__func__, sizeof(T), offset, bytes, line});
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = nullptr,
                                           int line = __builtin_LINE()) {
  return cuemu::copy_to(symbol, from, kind, {__func__, sizeof(T), offset, bytes, line, true});
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost, int line = __builtin_LINE()) {
  return cuemu::copy_from(to, symbol, kind, {__func__, sizeof(T), offset, bytes, line});
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr,
                                             int line = __builtin_LINE()) {
  return cuemu::copy_from(to, symbol, kind, {__func__, sizeof(T), offset, bytes, line, true});
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  *address = const_cast<std::remove_cv_t<T>*>(&symbol);
  cuemu_show_variable(*address);
  return cuemu::answer();
}
