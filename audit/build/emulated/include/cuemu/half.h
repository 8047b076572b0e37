// __half and __nv_bfloat16 with CUDA's names; the arithmetic is float's, rounded to nearest even after each operation.
#pragma once
#include "cuemu/half_types.h"
#include "cuemu/half_functions.h"
#include "cuemu/half_math.h"
#include "cuemu/half_vectors.h"
