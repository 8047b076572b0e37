// Precompiled for the first rung of the ladder.
#define CUEMU_MICRO 1
#define AT_PER_OPERATOR_HEADERS 1  // else a header of torch's brings all of them
#include <cstddef>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS  // special functions of <cmath>, which every source would have instantiated
#include "cuemu/math_of_cxx17.h"
#include "cuemu/torch_text.h"
#include "cuemu/torch_micro.h"
#include "cuemu/device.h"
#include "cuemu/half.h"
#include "cuemu/torch_check.h"
#include "cuemu/bind.h"
#include "cuemu/operators.h"
