// Ours is cuemu/operators.h.
#pragma once
#ifdef CUEMU_REAL_TORCH
#include_next <torch/library.h>
#endif
