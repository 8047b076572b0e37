#pragma once
#include "cuemu/torch_cuda.h"
#include "cuemu/cublas.h"
