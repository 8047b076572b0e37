// <cmath> without the ::lerp of C++20, which nvcc does not read by default: sources give a function of their own that name.
#pragma once
#define lerp cuemu_lerp
#include <cmath>
#include <math.h>
#undef lerp
