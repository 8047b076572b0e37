// Precompiled for the second rung: all of ATen and the real pybind11.
#define CUEMU_REAL_PYBIND 1
#include "cuemu/math_of_cxx17.h"
#include <ATen/ATen.h>
#include <torch/csrc/utils/pybind.h>
#include <pybind11/stl.h>
#include "cuemu/torch_micro.h"
#include "cuemu/device.h"
#include "cuemu/half.h"
#include "cuemu/torch_check.h"
#include "cuemu/operators.h"

namespace py = pybind11;
