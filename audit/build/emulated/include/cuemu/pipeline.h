// cuda::memcpy_async, cuda::barrier and cuda::pipeline. A pipeline of a block stands for threads that are producers and consumers both:
// whoever waits for a stage or gives it back meets the others.
#pragma once
#include "cuemu/cooperative_groups.h"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

template <::std::size_t Alignment>
struct aligned_size_t {
  ::std::size_t value;
  constexpr explicit aligned_size_t(::std::size_t bytes) : value(bytes) {}
  constexpr operator ::std::size_t() const { return value; }
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

template <class Group, class T>
inline __attribute__((always_inline)) void copy_together(const Group& group, T* to, const T* from, ::std::size_t bytes) {
  const ::std::size_t word = 4;
  for (::std::size_t i = word * group.thread_rank(); i < bytes; i += word * group.num_threads())
    cuemu_async_copy(reinterpret_cast<char*>(to) + i, reinterpret_cast<const char*>(from) + i, ::std::min(word, bytes - i), 0, 1);
}

// In shared memory, for threads of the block. A phase that ends orders all threads of the block, also those that take no part. A
// copy of memcpy_async is there once its thread has arrived.
template <thread_scope Scope = thread_scope_system, class Completion = void>
class barrier {
  static_assert(Scope == thread_scope_block, "a barrier of cuda::thread_scope_block is modelled");
  int expected_, pending_;
  unsigned phase_;

 public:
  struct arrival_token {
    unsigned phase;
  };
  barrier() = default;
  barrier(::std::ptrdiff_t expected) { init(this, expected); }

  CUEMU_UNCHECKED arrival_token arrive(::std::ptrdiff_t count = 1) {
    cuemu_async_commit();
    cuemu_async_wait(0);
    arrival_token token = {phase_};
    pending_ -= static_cast<int>(count);
    if (pending_ == 0) end_phase();
    return token;
  }
  CUEMU_UNCHECKED void wait(arrival_token&& token) const {
    while (is_in(token.phase)) cuemu_spin();
  }
  void arrive_and_wait() { wait(arrive()); }
  CUEMU_UNCHECKED void arrive_and_drop() {
    expected_--;
    arrive();
  }
  friend CUEMU_UNCHECKED void init(barrier* made, ::std::ptrdiff_t expected) {
    made->expected_ = made->pending_ = static_cast<int>(expected);
    made->phase_ = 0;
  }

 private:
  CUEMU_UNCHECKED bool is_in(unsigned phase) const { return static_cast<const volatile unsigned&>(phase_) == phase; }
  CUEMU_UNCHECKED void end_phase() {
    pending_ = expected_;
    phase_++;
    cuemu_end_phase();
  }
};

template <class T, class Bytes, thread_scope Scope>
inline __attribute__((always_inline)) void memcpy_async(T* to, const T* from, const Bytes& bytes, barrier<Scope>&) {
  cuemu_async_copy(to, from, static_cast<::std::size_t>(bytes), 0, 1);
}
template <class Group, class T, class Bytes, thread_scope Scope>
inline __attribute__((always_inline)) void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes,
                                                        barrier<Scope>&) {
  copy_together(group, to, from, static_cast<::std::size_t>(bytes));
}

template <class T, class Bytes, thread_scope Scope>
inline __attribute__((always_inline)) void memcpy_async(T* to, const T* from, const Bytes& bytes, pipeline<Scope>&) {
  cuemu_async_copy(to, from, static_cast<::std::size_t>(bytes), 0, 1);
}
template <class Group, class T, class Bytes, thread_scope Scope>
inline __attribute__((always_inline)) void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes,
                                                        pipeline<Scope>&) {
  copy_together(group, to, from, static_cast<::std::size_t>(bytes));
}

}  // namespace cuda
