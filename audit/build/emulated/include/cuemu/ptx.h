// What inline PTX is translated to, see ptx_table.py: a function for each instruction, its operands in PTX's order. Included
// only where a source has inline PTX.
#pragma once
#include "cuemu/ptx_registers.h"
#include "cuemu/ptx_arithmetic.h"
#include "cuemu/ptx_bits.h"
#include "cuemu/ptx_matrix.h"
#include "cuemu/ptx_memory.h"
#include "cuemu/ptx_warp.h"
