// Precompiled once for the host part of every fast build: torch's micro headers, CUDA's, the binding, the launcher.
#pragma once
#define CUFAST 1
#include "cuemu/torch_micro.h"

#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <unordered_map>

#include "cuemu/bind.h"
#include "cuemu/operators.h"
#include "cuemu/min_max.h"  // nvcc gives host code CUDA's min and max too
#include "cufast/device_names.h"
#include "cufast/launch.h"

#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)  // of ATen/cuda/Exceptions.h, which needs the libraries' headers too
