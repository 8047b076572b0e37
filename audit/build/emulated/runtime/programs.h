// Kernels that run outside of the device's own threads tell it their programs and what these touch.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cuemu {

// Begins a launch of which `count` programs are run; whether a GPU takes a grid of that size.
bool begin_programs(const char* kernel, std::uint32_t line, std::uint32_t x, std::uint32_t y, std::uint32_t z,
                    std::uint64_t count);
void begin_program();

// Ends the launch; one that is not kept is not listed.
void end_programs(bool kept);

// One access of a program: looks over each element where accesses are checked, and writes `values` there unless null, since
// a race is one only where a value changes. `mapped[i]` tells whether element i can be touched at all; if not, it was reported.
void touch(const std::uint64_t* addresses, std::uint64_t count, std::uint64_t bytes, unsigned access, std::uint32_t line,
           const char* values, std::uint8_t* mapped);

}  // namespace cuemu
