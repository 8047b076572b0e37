#pragma once
#include "cuemu/torch_atomics.h"
