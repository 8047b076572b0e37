// The micro rung has our part of it already.
#pragma once
#ifdef CUEMU_REAL_PYBIND
#include_next <torch/csrc/utils/pybind.h>
#endif
