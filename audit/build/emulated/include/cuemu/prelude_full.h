// Precompiled for the last rung: the C++ frontend too.
#define CUEMU_REAL_PYBIND 1
#define CUEMU_REAL_TORCH 1
#include "cuemu/math_of_cxx17.h"
#include <torch/extension.h>
#include <pybind11/stl.h>
#include "cuemu/device.h"
#include "cuemu/half.h"
#include "cuemu/torch_check.h"
#include "cuemu/operators.h"
