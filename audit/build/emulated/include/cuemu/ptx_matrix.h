// ldmatrix and mma.sync: which lane holds which element is PTX's, the product is that of nvcuda::wmma.
#pragma once
#include "cuemu/ptx_memory.h"

namespace cuemu::ptx {

// A lane reads the row whose address it brings, 16 bytes, and hands it round: lane l gets two elements of row l / 4, or of
// column l / 4 of a transposed matrix.
template <bool Transposed, int N>
CUEMU_INLINED void ldmatrix(Several<N> to, Register address, int line = __builtin_LINE()) {
  using Row = Together<std::uint16_t, 8>;
  __syncwarp(0xffffffffu, line);
  const unsigned lane = cuemu_lane(), row = lane / 4, pair = lane % 4 * 2;
  Row mine = {};
  if (lane < 8 * N) mine = *at<shared_, Row>(address);
  collective(0xffffffffu, mine, line, [=](const Exchange& exchange) {
    for (int i = 0; i < N; i++) {
      auto element = [&](unsigned r, unsigned c) { return Register{brought<Row>(exchange, 8 * i + r).each[c]}; };
      *to.place[i] = Transposed ? element(pair, row) | element(pair + 1, row) << 16
                                : element(row, pair) | element(row, pair + 1) << 16;
    }
    return 0;
  });
}

// Elements of T in the registers of a lane: `rows` along the lanes' groups of four, the rest along the lanes of a group.
template <class T>
constexpr int in_register = 4 / sizeof(tile::Stored<T>);

template <class T>
inline tile::Stored<T> element(Register bits, int number) {
  return as<tile::Stored<T>>(bits >> 8 * sizeof(tile::Stored<T>) * number);
}

template <int K, class D, class A, class B, class C>
struct Product {
  static constexpr int M = 16, N = 8;
  static constexpr int of_a = M * K / 32 / in_register<A>, of_b = K * N / 32 / in_register<B>;
  static constexpr int of_c = M * N / 32 / in_register<C>, of_d = M * N / 32 / in_register<D>;
  Several<of_d> d;
  Several<of_a> a;
  Several<of_b> b;
  Several<of_c> c;

  // Calls `visit(element number of the lane, place in a tile with `columns` columns)`; two rows of a group lie 8 apart.
  template <class T, class Visit>
  static void each_of_rows(unsigned lane, int columns, Visit visit) {
    constexpr int width = in_register<T>;
    for (int i = 0; i < M * columns / 32; i++) {
      int word = i / width, row = static_cast<int>(lane / 4) + 8 * (word % 2);
      visit(i, row * columns + static_cast<int>(lane % 4) * width + i % width + word / 2 * 4 * width);
    }
  }
  // A lane's four results lie two in a row, whatever their type.
  template <class Visit>
  static void each_of_results(unsigned lane, Visit visit) {
    for (int i = 0; i < 4; i++) visit(i, (static_cast<int>(lane / 4) + 8 * (i / 2)) * N + static_cast<int>(lane % 4) * 2 + i % 2);
  }

  using Number = decltype(tile::Operand<A>::read({}));

  CUEMU_UNCHECKED static void compute(void* const operands[kWarpSize], unsigned arrived, void*) {
    if (arrived != 0xffffffffu) return;  // lanes are missing: undefined, and reported as such
    Number left[M * K], right[K * N], sum[M * N];
    for (unsigned lane = 0; lane < kWarpSize; lane++) {
      const Product& own = *static_cast<const Product*>(operands[lane]);
      each_of_rows<A>(lane, K, [&](int i, int at) {
        left[at] = tile::Operand<A>::read(element<A>(own.a.value[i / in_register<A>], i % in_register<A>));
      });
      for (int i = 0; i < K * N / 32; i++) {
        constexpr int width = in_register<B>;
        int k = static_cast<int>(lane % 4) * width + i % width + i / width * 4 * width;
        right[k * N + lane / 4] = tile::Operand<B>::read(element<B>(own.b.value[i / width], i % width));
      }
      each_of_results(lane, [&](int i, int at) {
        sum[at] = static_cast<Number>(element<C>(own.c.value[i / in_register<C>], i % in_register<C>));
      });
    }
    tile::multiply_add<M, N, K>(left, right, sum);
    for (unsigned lane = 0; lane < kWarpSize; lane++) {
      const Product& own = *static_cast<const Product*>(operands[lane]);
      Register results[of_d] = {};
      each_of_results(lane, [&](int i, int at) {
        results[i / in_register<D>] |= bits_of(static_cast<D>(sum[at])) << 8 * sizeof(D) * (i % in_register<D>);
      });
      for (int i = 0; i < of_d; i++) *own.d.place[i] = results[i];
    }
  }
};

template <int K, class D, class A, class B, class C, int ND, int NA, int NB, int NC>
CUEMU_INLINED void mma(Several<ND> d, Several<NA> a, Several<NB> b, Several<NC> c, int line = __builtin_LINE()) {
  Product<K, D, A, B, C> mine{d, a, b, c};
  cuemu_combine(0xffffffffu, &mine, line, &Product<K, D, A, B, C>::compute, nullptr);
}

}  // namespace cuemu::ptx
