// Variables of the device at file scope, which lie in the image of the kernel's library.
#pragma once
#include <cstddef>

namespace cuemu {

extern const char* lowest_variable;
extern std::size_t bytes_of_variables;  // from the lowest one on; 0: the source has none

inline bool is_near_variables(const void* address) {
  return static_cast<std::size_t>(static_cast<const char*>(address) - lowest_variable) < bytes_of_variables;
}

void check_variable(const char* address, std::size_t bytes, unsigned access, const void* program_counter);

}  // namespace cuemu
