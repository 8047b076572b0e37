// The work of cub::Device*: reductions in pairs, as by many threads, scans of runs, stable sorts; and its temporary storage.
#pragma once
#include "cuemu/cub_sort.h"

#include <iterator>
#include <limits>

namespace cuemu {

template <class Iterator>
using ValueOf = std::remove_cv_t<typename std::iterator_traits<Iterator>::value_type>;
template <class Operation, class A, class B>
using SumOf = std::decay_t<decltype(std::declval<Operation>()(std::declval<A>(), std::declval<B>()))>;

// Whether a call only asks for the size of its storage, or gave too little.
inline bool is_answered(void* storage, std::size_t& bytes, std::size_t needed, cudaError_t& error) {
  error = !storage || bytes >= needed ? cudaSuccess : answer(cudaErrorInvalidValue);
  if (!storage) bytes = needed;
  return !storage || error;
}
// The storage's first and last byte, so that a smaller one than was said is seen.
CUEMU_INLINED void use(void* storage, std::size_t needed) {
  static_cast<volatile char*>(storage)[0] = 0;
  static_cast<volatile char*>(storage)[needed - 1] = 0;
}
inline std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256 + 256; }

// Of items `from` up to `to`, at least one; `item` gives each.
template <class T, class Item, class Operation>
CUEMU_INLINED T in_pairs(Item item, std::size_t from, std::size_t to, Operation operation) {
  constexpr int kLevels = 48, kRun = 8;  // a partial result for each level that is full, as a binary counter
  T partial[kLevels];
  std::size_t full = 0;
  for (std::size_t at = from; at < to; at += kRun) {
    T value = item(at);
    for (std::size_t i = at + 1; i < at + kRun && i < to; i++) value = operation(value, item(i));
    int level = 0;
    for (; full >> level & 1; level++) value = operation(partial[level], value);
    partial[level] = value;
    full++;
  }
  int level = __builtin_ctzll(full);
  T value = partial[level];
  while (++level < kLevels)
    if (full >> level & 1) value = operation(partial[level], value);
  return value;
}

constexpr std::size_t kRun = 32;
inline std::size_t scan_room(std::size_t count) { return count / (kRun - 1) + 64; }

// Inclusive, in place; `room` holds the sums of runs.
template <class T, class Operation>
inline void scan_in_place(T* items, std::size_t count, Operation operation, T* room) {
  std::size_t runs = (count + kRun - 1) / kRun;
  for (std::size_t run = 0; run < runs; run++)
    for (std::size_t i = run * kRun + 1; i < (run + 1) * kRun && i < count; i++) items[i] = operation(items[i - 1], items[i]);
  if (runs < 2) return;
  for (std::size_t run = 0; run < runs; run++) room[run] = items[std::min((run + 1) * kRun, count) - 1];
  scan_in_place(room, runs, operation, room + runs);
  for (std::size_t i = kRun; i < count; i++) items[i] = operation(room[i / kRun - 1], items[i]);
}

template <class T, class In, class Out, class Operation>
CUEMU_INLINED void scan(T* room, In in, Out out, std::size_t count, Operation operation, bool inclusive, const T* first) {
  std::size_t runs = (count + kRun - 1) / kRun;
  for (std::size_t run = 0; run < runs; run++) {
    std::size_t end = std::min((run + 1) * kRun, count);
    T sum = in[run * kRun];
    for (std::size_t i = run * kRun + 1; i < end; i++) sum = operation(sum, in[i]);
    room[run] = sum;
  }
  scan_in_place(room, runs, operation, room + runs);
  for (std::size_t run = 0; run < runs; run++) {
    bool known = first || run;
    T carry = {};
    if (run) carry = first ? operation(*first, room[run - 1]) : room[run - 1];
    else if (first) carry = *first;
    for (std::size_t i = run * kRun; i < (run + 1) * kRun && i < count; i++) {
      T item = in[i], next = known ? operation(carry, item) : item;
      out[i] = inclusive ? next : carry;
      carry = next;
      known = true;
    }
  }
}

template <class Key, class Value>
CUEMU_INLINED void sort_segment(Sorted<Key>* room, const Key* keys, Key* sorted, const Value* values, Value* moved, std::size_t from,
                                std::size_t to, RadixLess<Key> less) {
  for (std::size_t i = from; i < to; i++) room[i] = {keys[i], static_cast<int>(i)};
  sort(room + from, room + to, less);
  for (std::size_t i = from; i < to; i++) {
    sorted[i] = room[i].key;
    if constexpr (!std::is_same_v<Value, cub::NullType>) moved[i] = values[room[i].place];
  }
}

}  // namespace cuemu
