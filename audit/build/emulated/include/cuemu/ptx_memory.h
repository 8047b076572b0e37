// Loads, stores, atomic operations and asynchronous copies of inline PTX: checked as those of C++ are.
#pragma once
#include "cuemu/ptx_registers.h"

namespace cuemu::ptx {

template <Word Space, class T>
CUEMU_INLINED T* at(Register address) {
  if constexpr (Space == shared_) return static_cast<T*>(cuemu_at_shared(static_cast<std::uint32_t>(address)));
  else if constexpr (Space == global_) return static_cast<T*>(cuemu_at_global(reinterpret_cast<void*>(address)));
  else return reinterpret_cast<T*>(address);
}

// N values that one instruction moves.
template <class T, int N>
struct alignas(N * sizeof(T)) Together {
  static_assert(N * sizeof(T) <= 16, "this instruction moves at most 16 bytes");
  T each[N];
};

template <Word Space, Word Strong, class T, int N>
CUEMU_INLINED Together<T, N> loaded(Register address) {
  auto& memory = *at<Space, Together<T, N>>(address);
  if constexpr (Strong == weak_) return memory;
  Together<T, N> values;
  for (int i = 0; i < N; i++) values.each[i] = const_cast<volatile T*>(memory.each)[i];
  if constexpr (Strong == acquire_) cuemu_spin();  // perhaps in a loop that waits for another thread
  return values;
}
template <Word Space, Word Strong, class T>
CUEMU_INLINED void load(Register& to, Register address) {
  to = bits_of(loaded<Space, Strong, T, 1>(address).each[0]);
}
template <Word Space, Word Strong, class T, int N>
CUEMU_INLINED void load(Several<N> to, Register address) {
  Together<T, N> values = loaded<Space, Strong, T, N>(address);
  for (int i = 0; i < N; i++) *to.place[i] = bits_of(values.each[i]);
}

// What came before an operation that says so is released to whoever sees it.
template <Word Strong>
CUEMU_INLINED void release() {
  if constexpr (Strong == release_ || Strong == acq_rel_) cuemu_fence();
}

template <Word Space, Word Strong, class T, int N>
CUEMU_INLINED void store_together(Register address, const Together<T, N>& values) {
  auto& memory = *at<Space, Together<T, N>>(address);
  release<Strong>();
  if constexpr (Strong == weak_) memory = values;
  else
    for (int i = 0; i < N; i++) const_cast<volatile T*>(memory.each)[i] = values.each[i];
}
template <Word Space, Word Strong, class T>
CUEMU_INLINED void store(Register address, Register value) {
  store_together<Space, Strong, T, 1>(address, {{as<T>(value)}});
}
template <Word Space, Word Strong, class T, int N>
CUEMU_INLINED void store(Register address, Several<N> values) {
  Together<T, N> together;
  for (int i = 0; i < N; i++) together.each[i] = as<T>(values.value[i]);
  store_together<Space, Strong, T, N>(address, together);
}

template <Word Operation, class T>
inline T updated(const T* address, T old, T value) {
  if constexpr (Operation == add_ && std::is_same_v<T, float>) return sum_at(address, old, value);
  else if constexpr (Operation == add_) return static_cast<T>(old + value);
  else if constexpr (Operation == min_) return value < old ? value : old;
  else if constexpr (Operation == max_) return old < value ? value : old;
  else if constexpr (Operation == and_) return old & value;
  else if constexpr (Operation == or_) return old | value;
  else if constexpr (Operation == xor_) return old ^ value;
  else if constexpr (Operation == inc_) return old >= value ? T{0} : old + 1;
  else if constexpr (Operation == dec_) return old == 0 || old > value ? value : old - 1;
  else return value;
}
template <Word Operation, Word Strong, Word Space, class T>
CUEMU_UNCHECKED void atom(Register& before, Register address, Register value) {
  release<Strong>();
  T* place = at<Space, T>(address);
  before = bits_of(atomic_update(place, __builtin_return_address(0), Operation == exch_,
                                 [=](T old) { return updated<Operation>(place, old, as<T>(value)); }));
}
template <Word Operation, Word Strong, Word Space, class T>
CUEMU_UNCHECKED void red(Register address, Register value) {
  release<Strong>();
  T* place = at<Space, T>(address);
  atomic_update(place, __builtin_return_address(0), false,
                [=](T old) { return updated<Operation>(place, old, as<T>(value)); });
}
template <Word Strong, Word Space, class T>
CUEMU_UNCHECKED void compare_and_swap(Register& before, Register address, Register expected, Register value) {
  release<Strong>();
  before = bits_of(atomic_update(at<Space, T>(address), __builtin_return_address(0), as<T>(value) != as<T>(expected),
                                 [=](T old) { return old == as<T>(expected) ? as<T>(value) : old; }));
}

template <class... Operand>
CUEMU_INLINED void nothing(Operand...) {}
// No cache is modelled.
template <class... Operand>
CUEMU_INLINED void policy(Register& to, Operand...) {
  to = 0;
}

template <Word Space>
CUEMU_INLINED void to_space(Register& to, Register address) {
  to = Space == shared_ ? __cvta_generic_to_shared(reinterpret_cast<void*>(address)) : address;
}
template <Word Space>
CUEMU_INLINED void to_generic(Register& to, Register address) {
  to = Space == shared_ ? reinterpret_cast<Register>(__cvta_shared_to_generic(address)) : address;
}

template <Word Cached, unsigned long long Bytes>
CUEMU_INLINED void copy_async(Register to, Register from, Constant<Bytes>, Register kept = Bytes) {
  static_assert(Bytes == 16 || (Cached == ca_ && (Bytes == 4 || Bytes == 8)),
                "cp.async copies 4, 8 or 16 bytes, with .cg 16 alone: a compiler for a GPU refuses this size");
  std::size_t read = static_cast<std::uint32_t>(kept) < Bytes ? static_cast<std::uint32_t>(kept) : Bytes;
  void* source = read ? at<global_, void>(from) : reinterpret_cast<void*>(from);
  cuemu_async_copy(at<shared_, void>(to), source, read, Bytes - read, Bytes);
}
inline void commit_group() { cuemu_async_commit(); }
template <unsigned long long Left>
inline void wait_group(Constant<Left>) {
  cuemu_async_wait(Left);
}
inline void wait_all() {
  cuemu_async_commit();
  cuemu_async_wait(0);
}

}  // namespace cuemu::ptx
