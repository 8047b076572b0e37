// The micro rung has our part of it already.
#pragma once
#include <torch/cuda.h>
#ifdef CUEMU_REAL_TORCH
#include_next <torch/script.h>
#endif
