// Precompiled for the first rung of the ladder.
#define CUEMU_MICRO 1
#include "cuemu/torch_micro.h"
#include "cuemu/device.h"
#include "cuemu/half.h"
#include "cuemu/torch_cuda.h"
#include "cuemu/bind.h"
