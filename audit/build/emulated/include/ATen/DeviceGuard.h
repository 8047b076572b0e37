// Every operator's header includes this. The micro rung has it without lists of tensors: theirs are the headers that
// took half the time of compiling a small kernel. A source that calls an operator which takes a list gets them.
#pragma once
#ifndef CUEMU_MICRO
#include_next <ATen/DeviceGuard.h>
#else
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

// What those headers bring along without a name of torch's, and sources use unasked.
#include <c10/util/Logging.h>
#include <sys/time.h>
#include <condition_variable>
#include <optional>
#include <semaphore>
#include <set>
#include <thread>
#include <typeindex>
#include <unordered_set>

namespace at {

inline std::optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Device>(tensor.device()) : std::nullopt;
}
inline std::optional<Device> device_of(const std::optional<Tensor>& tensor) {
  return tensor ? device_of(*tensor) : std::nullopt;
}

}  // namespace at
#endif
