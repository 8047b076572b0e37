#pragma once
#include "cuemu/cublas.h"
