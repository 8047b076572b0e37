// ATen/cuda/Atomic.cuh: torch's atomics on the types that CUDA leaves out.
#pragma once
#include "cuemu/atomics.h"
#include "cuemu/torch_cuda.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#define CUEMU_TORCH_ATOMIC(NAME, EXPRESSION)                                                           \
  template <class T>                                                                                   \
  inline CUEMU_UNCHECKED T NAME(T* address, std::type_identity_t<T> value) {                           \
    return cuemu::atomic_update(address, __builtin_return_address(0), false,                           \
                                [value](T old) { return static_cast<T>(EXPRESSION); });                \
  }
CUEMU_TORCH_ATOMIC(gpuAtomicAdd, old + value)
CUEMU_TORCH_ATOMIC(gpuAtomicAddNoReturn, old + value)
CUEMU_TORCH_ATOMIC(gpuAtomicMul, old * value)
CUEMU_TORCH_ATOMIC(gpuAtomicMin, value < old ? value : old)
CUEMU_TORCH_ATOMIC(gpuAtomicMax, old < value ? value : old)
CUEMU_ATOMIC_FORM(atomicAdd, device, std::uint8_t, false, old + value)
CUEMU_ATOMIC_FORM(atomicAdd, device, std::int8_t, false, old + value)
CUEMU_ATOMIC_FORM(atomicAdd, device, std::int16_t, false, old + value)
CUEMU_ATOMIC_FORM(atomicAdd, device, std::int64_t, false, old + value)
CUEMU_ATOMIC_FORM(atomicAdd, device, bool, false, old || value)
CUEMU_ATOMIC_FORM(atomicAdd, device, c10::Half, false, old + value)
CUEMU_ATOMIC_FORM(atomicAdd, device, c10::BFloat16, false, old + value)
