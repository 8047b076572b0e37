// Names of device-only headers, so that declarations which mention them still parse on the host. None is ever used.
#pragma once

#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif

namespace nvcuda::wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };
template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment;
}  // namespace nvcuda::wmma

namespace cooperative_groups {
class thread_block;
class coalesced_group;
template <unsigned int Size, class Parent = void>
class thread_block_tile;
}  // namespace cooperative_groups
