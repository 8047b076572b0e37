// cuda::memcpy_async and cuda::pipeline. A pipeline of a block stands for threads that are producers and consumers both:
// whoever waits for a stage or gives it back meets the others.
#pragma once
#include "cuemu/cooperative_groups.h"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

template <std::size_t Alignment>
struct aligned_size_t {
  std::size_t value;
  constexpr explicit aligned_size_t(std::size_t bytes) : value(bytes) {}
  constexpr operator std::size_t() const { return value; }
};

template <thread_scope Scope, unsigned char Stages>
struct pipeline_shared_state {};

template <thread_scope Scope>
struct pipeline {
  unsigned committed = 0, waited = 0;

  void producer_acquire() {}
  void producer_commit() {
    cuemu_async_commit();
    committed++;
  }
  void consumer_wait(int line = __builtin_LINE()) {
    if (waited == committed) return;
    cuemu_async_wait(committed - ++waited);
    meet(line);
  }
  void consumer_release(int line = __builtin_LINE()) { meet(line); }
  bool quit() { return true; }

 private:
  static void meet(int line) {
    if constexpr (Scope != thread_scope_thread) cuemu_block_barrier(line, 0);
  }
};
inline pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <class Group, thread_scope Scope, unsigned char Stages>
inline pipeline<Scope> make_pipeline(const Group&, pipeline_shared_state<Scope, Stages>*) {
  return {};
}
template <unsigned Prior, thread_scope Scope>
inline void pipeline_consumer_wait_prior(pipeline<Scope>& pipe, int line = __builtin_LINE()) {
  cuemu_async_wait(Prior);
  pipe.waited = pipe.committed > Prior ? pipe.committed - Prior : 0;
  if constexpr (Scope != thread_scope_thread) cuemu_block_barrier(line, 0);
}

template <class T, class Bytes, thread_scope Scope>
inline __attribute__((always_inline)) void memcpy_async(T* to, const T* from, const Bytes& bytes, pipeline<Scope>&) {
  cuemu_async_copy(to, from, static_cast<std::size_t>(bytes), 0, 1);
}
template <class Group, class T, class Bytes, thread_scope Scope>
inline __attribute__((always_inline)) void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes,
                                                        pipeline<Scope>&) {
  const std::size_t all = static_cast<std::size_t>(bytes), word = 4;
  for (std::size_t i = word * group.thread_rank(); i < all; i += word * group.num_threads())
    cuemu_async_copy(reinterpret_cast<char*>(to) + i, reinterpret_cast<const char*>(from) + i, std::min(word, all - i), 0, 1);
}

}  // namespace cuda
