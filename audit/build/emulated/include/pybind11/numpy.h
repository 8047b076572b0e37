// The micro rung has our part of it already.
#pragma once
#ifdef CUEMU_REAL_PYBIND
#include_next <pybind11/numpy.h>
#endif
