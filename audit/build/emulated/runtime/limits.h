// What a GPU of the chosen compute capability refuses to launch.
#pragma once
#include "device.h"

namespace cuemu {

struct Refusal {
  const char* kind = nullptr;  // null: it may run
  std::string why;
  int error = kSuccess;
};

Refusal refusal_of(const LaunchRequest& request);
void check_shared_total(std::size_t static_bytes);

}  // namespace cuemu
