// The arithmetic behind nvcuda::wmma: the last lane to arrive multiplies the whole tile once, for all.
#pragma once
#include "cuemu/abi.h"
#include "cuemu/conversions.h"
#include "cuemu/half_types.h"

namespace cuemu::tile {

template <class T>
struct StoredAs {
  using type = T;
};
template <>
struct StoredAs<nvcuda::wmma::precision::tf32> {
  using type = float;
};
template <class T>
using Stored = typename StoredAs<T>::type;

// A multiplier reads only the upper 19 bits of a tf32 operand.
template <class T>
struct Operand {
  static float read(const Stored<T>& x) { return static_cast<float>(x); }
};
template <>
struct Operand<nvcuda::wmma::precision::tf32> {
  static float read(float x) { return bits_as<float>(bits_as<unsigned>(x) & 0xffffe000u); }
};
template <>
struct Operand<signed char> {
  static int read(signed char x) { return x; }
};
template <>
struct Operand<unsigned char> {
  static int read(unsigned char x) { return x; }
};
template <>
struct Operand<double> {
  static double read(double x) { return x; }
};

// sum += left * right, tiles by rows.
template <int M, int N, int K, class Number>
inline void multiply_add(const Number* left, const Number* right, Number* sum) {
  for (int m = 0; m < M; m++)
    for (int k = 0; k < K; k++)
      for (int n = 0; n < N; n++) sum[m * N + n] += left[m * K + k] * right[k * N + n];
}

template <class Fragment>
struct ElementOf;
template <class Use, int M, int N, int K, class T, class Layout>
struct ElementOf<nvcuda::wmma::fragment<Use, M, N, K, T, Layout>> {
  using type = T;
};

template <int M, int N, int K, class A, class B, class C, class D>
struct Product {
  const A* a;
  const B* b;
  const C* c;
  D* d;

  using ReadA = Operand<typename ElementOf<A>::type>;
  using ReadB = Operand<typename ElementOf<B>::type>;
  using Number = decltype(ReadA::read({}));

  static const Product& of(void* const operands[kWarpSize], unsigned lane) {
    return *static_cast<const Product*>(operands[lane]);
  }

  // Element `number` of a tile lies in lane number / num_elements.
  template <class Fragment>
  static auto& element(Fragment& fragment, unsigned number) {
    return fragment.x[number % std::remove_const_t<Fragment>::num_elements];
  }

  CUEMU_UNCHECKED static void compute(void* const operands[kWarpSize], unsigned arrived, void*) {
    if (arrived != 0xffffffffu) return;  // lanes are missing: undefined, and reported as such
    Number left[M * K], right[K * N];
    for (int i = 0; i < M * K; i++) left[i] = ReadA::read(element(*of(operands, i / A::num_elements).a, i));
    for (int i = 0; i < K * N; i++) right[i] = ReadB::read(element(*of(operands, i / B::num_elements).b, i));
    Number sum[M * N];
    for (int i = 0; i < M * N; i++) sum[i] = static_cast<Number>(element(*of(operands, i / C::num_elements).c, i));
    multiply_add<M, N, K>(left, right, sum);
    for (int i = 0; i < M * N; i++)
      element(*of(operands, i / D::num_elements).d, i) = static_cast<typename D::element_type>(sum[i]);
  }
};

}  // namespace cuemu::tile
