// The micro rung has our part of it already.
#pragma once
#ifdef CUEMU_REAL_PYBIND
#include_next <ATen/ATen.h>
#endif
