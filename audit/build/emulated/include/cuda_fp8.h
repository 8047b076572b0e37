#pragma once
#include "cuemu/fp8.h"
