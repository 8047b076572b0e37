// __shared__ variables after rewriting.
#pragma once
#include "cuemu/abi.h"

extern "C" const std::uint32_t cuemu_launch_number;

namespace cuemu {

// The block's variable of this type; Tag tells declarations apart. The first thread of a launch gets it its place.
template <class T, class Tag>
inline T& shared() {
  static SharedSlot slot;
  if (slot.launch != cuemu_launch_number) cuemu_shared_slot(&slot, sizeof(T), alignof(T));
  return *static_cast<T*>(slot.address);
}

inline void* dynamic_shared() { return cuemu_dynamic_shared(); }

// `extern __shared__ T name[];` outside every function.
template <class T>
struct DynamicShared {
  operator T*() const { return static_cast<T*>(cuemu_dynamic_shared()); }
  template <class Other>
  explicit operator Other*() const {
    return static_cast<Other*>(cuemu_dynamic_shared());
  }
};

}  // namespace cuemu
