#pragma once
#include "cuemu/torch_cuda.h"
