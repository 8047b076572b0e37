#pragma once
#include "cuemu/half.h"
