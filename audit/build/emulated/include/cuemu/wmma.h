// nvcuda::wmma. A tile is spread over the lanes of a warp as numbered elements; which lane holds which element is ours, not a
// GPU's: CUDA leaves it open. Elements of half tiles are held more than once, so that num_elements is a GPU's.
#pragma once
#include "cuemu/half.h"
#include "cuemu/warp.h"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment;

}  // namespace nvcuda::wmma

#include "cuemu/wmma_tile.h"

namespace nvcuda::wmma {

template <class Use, int M, int N, int K, class T, class Layout>
struct fragment {
  using element_type = cuemu::tile::Stored<T>;
  using storage_element_type = element_type;
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? K : M;
  static constexpr int columns = std::is_same_v<Use, matrix_a> ? K : N;
  static constexpr int share = rows * columns / 32;
  static constexpr bool doubled = std::is_same_v<T, __half> && !std::is_same_v<Use, accumulator>;
  static constexpr int num_elements = doubled ? 16 : share;
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};

template <class Fragment, class T>
inline void fill_fragment(Fragment& fragment, T value) {
  for (auto& element : fragment.x) element = static_cast<typename Fragment::element_type>(value);
}

}  // namespace nvcuda::wmma

namespace cuemu::tile {

// The stride between rows or columns in memory, which has to be a multiple of 8 halves or 4 floats.
template <class Memory>
inline void check_stride(unsigned leading_dimension, int line) {
  constexpr unsigned step = sizeof(Memory) == 2 ? 8 : std::is_same_v<Memory, float> ? 4 : 1;
  if (leading_dimension % step) cuemu_tile_stride(leading_dimension, step, line);
}

// Calls `touch(element of the fragment, offset in memory)` for what this lane holds; each memory element once or equally.
template <class Fragment, class Touch>
inline void for_held(Fragment& fragment, unsigned leading_dimension, bool column_major, Touch touch) {
  constexpr unsigned count = Fragment::rows * Fragment::columns;
  for (int i = 0; i < Fragment::num_elements; i++) {
    unsigned number = (cuemu_lane() * Fragment::num_elements + i) % count;
    unsigned row = number / Fragment::columns, column = number % Fragment::columns;
    touch(fragment.x[i], column_major ? column * leading_dimension + row : row * leading_dimension + column);
  }
}

}  // namespace cuemu::tile

namespace nvcuda::wmma {

template <class Use, int M, int N, int K, class T, class Layout, class Memory>
inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& fragment, const Memory* from, unsigned leading_dimension,
                             int line = __builtin_LINE()) {
  static_assert(!std::is_void_v<Layout>, "an accumulator is loaded with a layout_t");
  cuemu::tile::check_stride<Memory>(leading_dimension, line);
  __syncwarp(0xffffffffu, line);
  cuemu::tile::for_held(fragment, leading_dimension, std::is_same_v<Layout, col_major>,
                        [from](auto& element, unsigned at) { element = from[at]; });
}
template <int M, int N, int K, class T, class Memory>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T>& fragment, const Memory* from, unsigned leading_dimension,
                             layout_t layout, int line = __builtin_LINE()) {
  cuemu::tile::check_stride<Memory>(leading_dimension, line);
  __syncwarp(0xffffffffu, line);
  cuemu::tile::for_held(fragment, leading_dimension, layout == mem_col_major,
                        [from](auto& element, unsigned at) { element = from[at]; });
}
template <int M, int N, int K, class T, class Memory>
inline void store_matrix_sync(Memory* to, const fragment<accumulator, M, N, K, T>& fragment, unsigned leading_dimension,
                              layout_t layout, int line = __builtin_LINE()) {
  cuemu::tile::check_stride<Memory>(leading_dimension, line);
  __syncwarp(0xffffffffu, line);
  cuemu::tile::for_held(fragment, leading_dimension, layout == mem_col_major,
                        [to](const auto& element, unsigned at) { to[at] = element; });
  __syncwarp(0xffffffffu, line);  // wmma.store.sync: no lane goes on before all have executed it (PTX ISA)
}

template <int M, int N, int K, class A, class LayoutA, class B, class LayoutB, class C, class D>
inline void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, A, LayoutA>& a,
                     const fragment<matrix_b, M, N, K, B, LayoutB>& b, const fragment<accumulator, M, N, K, C>& c,
                     bool = false, int line = __builtin_LINE()) {
  using Product = cuemu::tile::Product<M, N, K, std::decay_t<decltype(a)>, std::decay_t<decltype(b)>,
                                       std::decay_t<decltype(c)>, std::decay_t<decltype(d)>>;
  Product mine{&a, &b, &c, &d};
  cuemu_combine(0xffffffffu, &mine, line, &Product::compute, nullptr);
}

// Round to nearest, ties away from zero, 10 bits of mantissa (cvt.rna.tf32.f32).
inline float __float_to_tf32(float x) {
  return x - x == 0.0f ? cuemu::bits_as<float>((cuemu::bits_as<unsigned>(x) + 0x1000u) & 0xffffe000u) : x;
}

}  // namespace nvcuda::wmma

using nvcuda::wmma::__float_to_tf32;
