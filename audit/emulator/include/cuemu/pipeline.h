// cuda::memcpy_async and cuda::pipeline of one thread: copies are done when they are asked for.
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

template <thread_scope Scope>
struct pipeline {
  void producer_acquire() {}
  void producer_commit() {}
  void consumer_wait() {}
  void consumer_release() {}
};
inline pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <unsigned Prior, thread_scope Scope>
inline void pipeline_consumer_wait_prior(pipeline<Scope>&) {}

template <class T, class Bytes, thread_scope Scope>
inline void memcpy_async(T* to, const T* from, Bytes bytes, pipeline<Scope>&) {
  cuemu::checked_copy(to, from, static_cast<std::size_t>(bytes));
}
template <class Group, class T, class Bytes, thread_scope Scope>
inline void memcpy_async(const Group& group, T* to, const T* from, Bytes bytes, pipeline<Scope>&) {
  cooperative_groups::memcpy_async(group, to, from, static_cast<std::size_t>(bytes));
}

}  // namespace cuda
