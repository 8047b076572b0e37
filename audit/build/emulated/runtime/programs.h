// Kernels that run outside of the device's own threads tell it their programs and what these touch.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cuemu {

void begin_programs(const char* kernel, std::uint32_t programs);
void begin_program();
void end_programs();

// One access of a program: looks over each element where accesses are checked, and writes `values` there unless null, since
// a race is one only where a value changes. `mapped[i]` tells whether element i can be touched at all; if not, it was reported.
void touch(const std::uint64_t* addresses, std::uint64_t count, std::uint64_t bytes, unsigned access, std::uint32_t line,
           const char* values, std::uint8_t* mapped);

}  // namespace cuemu
