#pragma once
#include "cuemu/cublas_lt.h"
