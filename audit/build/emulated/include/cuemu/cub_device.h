// cub::Device*: each call is one launch of one thread, which does the work through the same checked accesses as any kernel. Asked
// without temporary storage, a call answers how much it needs.
#pragma once
#include "cuemu/cub_device_work.h"

#define CUEMU_DEVICE(NAME, NEEDED)                                                        \
  const std::size_t needed = NEEDED;                                                      \
  if (cudaError_t error; cuemu::is_answered(storage, bytes, needed, error)) return error; \
  cuemu::launch(NAME, line, dim3(1), dim3(1)).with() % [&] { cuemu::use(storage, needed);
#define CUEMU_DONE \
  }                \
  ;                \
  return cudaPeekAtLastError();

namespace cub {

template <class T>
struct DoubleBuffer {
  T* d_buffers[2];
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

// A launch of CUB counts as the source's: a compiler for a GPU makes its kernels of the source's own template arguments.
struct DeviceSegmentedReduce {
  template <class In, class Out, class Begin, class End, class Operation, class T>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, In in, Out out, std::int64_t segments, Begin begin, End end,
                            Operation operation, T first, cudaStream_t = nullptr, int line = __builtin_LINE()) {
    using Total = cuemu::SumOf<Operation, T, cuemu::ValueOf<In>>;
    CUEMU_DEVICE("cub::DeviceSegmentedReduce", 512)
    for (std::int64_t s = 0; s < segments; s++) {
      std::size_t from = begin[s], to = end[s];
      auto item = [&](std::size_t i) { return static_cast<Total>(in[i]); };
      if (static_cast<std::int64_t>(to) <= static_cast<std::int64_t>(from)) out[s] = first;
      else out[s] = operation(static_cast<Total>(first), cuemu::in_pairs<Total>(item, from, to, operation));
    }
    CUEMU_DONE
  }
  // Pairs of a place within the segment and its value.
  template <class In, class Out, class Begin, class End, class Operation>
  static cudaError_t Places(void* storage, std::size_t& bytes, In in, Out out, std::int64_t segments, Begin begin, End end,
                            Operation operation, cuemu::ValueOf<In> nothing, int line) {
    using Pair = KeyValuePair<int, cuemu::ValueOf<In>>;
    CUEMU_DEVICE("cub::DeviceSegmentedReduce", 512)
    for (std::int64_t s = 0; s < segments; s++) {
      std::size_t from = begin[s], to = end[s];
      auto item = [&](std::size_t i) { return Pair(static_cast<int>(i - from), in[i]); };
      if (static_cast<std::int64_t>(to) <= static_cast<std::int64_t>(from)) out[s] = Pair(1, nothing);
      else out[s] = cuemu::in_pairs<Pair>(item, from, to, operation);
    }
    CUEMU_DONE
  }
#define CUEMU_SEGMENTED(NAME, REDUCED, ...)                                                                                    \
  template <class In, class Out, class Begin, class End>                                                                       \
  static cudaError_t NAME(void* storage, std::size_t& bytes, In in, Out out, std::int64_t segments, Begin begin, End end,      \
                          cudaStream_t = nullptr, int line = __builtin_LINE()) {                                               \
    using Limits = std::numeric_limits<cuemu::ValueOf<In>>;                                                                    \
    return REDUCED(storage, bytes, in, out, segments, begin, end, __VA_ARGS__, line);                                          \
  }
  CUEMU_SEGMENTED(Sum, Reduce, cub::Sum(), cuemu::ValueOf<In>(0), nullptr)
  CUEMU_SEGMENTED(Max, Reduce, cub::Max(), Limits::lowest(), nullptr)
  CUEMU_SEGMENTED(Min, Reduce, cub::Min(), Limits::max(), nullptr)
  CUEMU_SEGMENTED(ArgMax, Places, cub::ArgMax(), Limits::lowest())
  CUEMU_SEGMENTED(ArgMin, Places, cub::ArgMin(), Limits::max())
};

struct DeviceReduce {
  template <class In, class Out, class Operation, class T>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, In in, Out out, std::int64_t count, Operation operation, T first,
                            cudaStream_t = nullptr, int line = __builtin_LINE()) {
    using Total = cuemu::SumOf<Operation, T, cuemu::ValueOf<In>>;
    CUEMU_DEVICE("cub::DeviceReduce", cuemu::rounded(count / 1024 * sizeof(Total)))
    auto item = [&](std::size_t i) { return static_cast<Total>(in[i]); };
    *out = count > 0 ? operation(static_cast<Total>(first), cuemu::in_pairs<Total>(item, 0, count, operation)) : Total(first);
    CUEMU_DONE
  }
  template <class In, class Out, class Operation>
  static cudaError_t Places(void* storage, std::size_t& bytes, In in, Out out, std::int64_t count, Operation operation,
                            cuemu::ValueOf<In> nothing, int line) {
    using Pair = KeyValuePair<int, cuemu::ValueOf<In>>;
    CUEMU_DEVICE("cub::DeviceReduce", cuemu::rounded(count / 1024 * sizeof(Pair)))
    auto item = [&](std::size_t i) { return Pair(static_cast<int>(i), in[i]); };
    *out = count > 0 ? cuemu::in_pairs<Pair>(item, 0, count, operation) : Pair(1, nothing);
    CUEMU_DONE
  }
#define CUEMU_REDUCED(NAME, REDUCED, ...)                                                                                      \
  template <class In, class Out>                                                                                               \
  static cudaError_t NAME(void* storage, std::size_t& bytes, In in, Out out, std::int64_t count, cudaStream_t = nullptr,       \
                          int line = __builtin_LINE()) {                                                                       \
    using Limits = std::numeric_limits<cuemu::ValueOf<In>>;                                                                    \
    return REDUCED(storage, bytes, in, out, count, __VA_ARGS__, line);                                                         \
  }
  CUEMU_REDUCED(Sum, Reduce, cub::Sum(), cuemu::ValueOf<In>(0), nullptr)
  CUEMU_REDUCED(Max, Reduce, cub::Max(), Limits::lowest(), nullptr)
  CUEMU_REDUCED(Min, Reduce, cub::Min(), Limits::max(), nullptr)
  CUEMU_REDUCED(ArgMax, Places, cub::ArgMax(), Limits::lowest())
  CUEMU_REDUCED(ArgMin, Places, cub::ArgMin(), Limits::max())
};

struct DeviceScan {
  template <class In, class Out, class Operation>
  static cudaError_t InclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Operation operation, std::int64_t count,
                                   cudaStream_t = nullptr, int line = __builtin_LINE()) {
    using T = cuemu::SumOf<Operation, cuemu::ValueOf<In>, cuemu::ValueOf<In>>;
    CUEMU_DEVICE("cub::DeviceScan", cuemu::rounded(cuemu::scan_room(count) * sizeof(T)))
    cuemu::scan(static_cast<T*>(storage), in, out, count, operation, true, static_cast<const T*>(nullptr));
    CUEMU_DONE
  }
  template <class In, class Out, class Operation, class First>
  static cudaError_t ExclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Operation operation, First from,
                                   std::int64_t count, cudaStream_t = nullptr, int line = __builtin_LINE()) {
    using T = cuemu::SumOf<Operation, First, cuemu::ValueOf<In>>;
    CUEMU_DEVICE("cub::DeviceScan", cuemu::rounded(cuemu::scan_room(count) * sizeof(T)))
    const T first = from;
    cuemu::scan(static_cast<T*>(storage), in, out, count, operation, false, &first);
    CUEMU_DONE
  }
  template <class In, class Out>
  static cudaError_t InclusiveSum(void* storage, std::size_t& bytes, In in, Out out, std::int64_t count,
                                  cudaStream_t stream = nullptr, int line = __builtin_LINE()) {
    return InclusiveScan(storage, bytes, in, out, cub::Sum(), count, stream, line);
  }
  template <class In, class Out>
  static cudaError_t ExclusiveSum(void* storage, std::size_t& bytes, In in, Out out, std::int64_t count,
                                  cudaStream_t stream = nullptr, int line = __builtin_LINE()) {
    return ExclusiveScan(storage, bytes, in, out, cub::Sum(), cuemu::ValueOf<In>(0), count, stream, line);
  }
};

struct DeviceSegmentedRadixSort {
  template <class Key, class Value, class Begin, class End>
  static cudaError_t Run(void* storage, std::size_t& bytes, const Key* keys, Key* sorted, const Value* values, Value* moved,
                         std::int64_t count, std::int64_t segments, Begin begin, End end, cuemu::RadixLess<Key> less, int line) {
    CUEMU_DEVICE("cub::DeviceRadixSort", cuemu::rounded(count * sizeof(cuemu::Sorted<Key>)))
    for (std::int64_t s = 0; s < segments; s++)
      cuemu::sort_segment(static_cast<cuemu::Sorted<Key>*>(storage), keys, sorted, values, moved, begin[s], end[s], less);
    CUEMU_DONE
  }
#define CUEMU_SEGMENTED_SORT(ORDER, DESCENDING)                                                                                \
  template <class Key, class Begin, class End>                                                                                 \
  static cudaError_t SortKeys##ORDER(void* storage, std::size_t& bytes, const Key* keys, Key* sorted, std::int64_t count,      \
                                     std::int64_t segments, Begin begin, End end, int low = 0, int high = 8 * sizeof(Key),     \
                                     cudaStream_t = nullptr, int line = __builtin_LINE()) {                                    \
    const NullType* none = nullptr;                                                                                            \
    return Run(storage, bytes, keys, sorted, none, static_cast<NullType*>(nullptr), count, segments, begin, end,               \
               {low, high, DESCENDING}, line);                                                                                 \
  }                                                                                                                            \
  template <class Key, class Value, class Begin, class End>                                                                    \
  static cudaError_t SortPairs##ORDER(void* storage, std::size_t& bytes, const Key* keys, Key* sorted, const Value* values,    \
                                      Value* moved, std::int64_t count, std::int64_t segments, Begin begin, End end,           \
                                      int low = 0, int high = 8 * sizeof(Key), cudaStream_t = nullptr,                         \
                                      int line = __builtin_LINE()) {                                                           \
    return Run(storage, bytes, keys, sorted, values, moved, count, segments, begin, end, {low, high, DESCENDING}, line);       \
  }
  CUEMU_SEGMENTED_SORT(, false)
  CUEMU_SEGMENTED_SORT(Descending, true)
};

struct DeviceRadixSort {
#define CUEMU_SORTED(ORDER)                                                                                                    \
  template <class Key>                                                                                                         \
  static cudaError_t SortKeys##ORDER(void* storage, std::size_t& bytes, const Key* keys, Key* sorted, std::int64_t count,      \
                                     int low = 0, int high = 8 * sizeof(Key), cudaStream_t stream = nullptr,                   \
                                     int line = __builtin_LINE()) {                                                            \
    const std::int64_t bounds[] = {0, count};                                                                                  \
    return DeviceSegmentedRadixSort::SortKeys##ORDER(storage, bytes, keys, sorted, count, 1, bounds, bounds + 1, low, high,    \
                                                     stream, line);                                                            \
  }                                                                                                                            \
  template <class Key, class Value>                                                                                            \
  static cudaError_t SortPairs##ORDER(void* storage, std::size_t& bytes, const Key* keys, Key* sorted, const Value* values,    \
                                      Value* moved, std::int64_t count, int low = 0, int high = 8 * sizeof(Key),               \
                                      cudaStream_t stream = nullptr, int line = __builtin_LINE()) {                            \
    const std::int64_t bounds[] = {0, count};                                                                                  \
    return DeviceSegmentedRadixSort::SortPairs##ORDER(storage, bytes, keys, sorted, values, moved, count, 1, bounds,           \
                                                      bounds + 1, low, high, stream, line);                                    \
  }                                                                                                                            \
  template <class Key>                                                                                                         \
  static cudaError_t SortKeys##ORDER(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys, std::int64_t count,           \
                                     int low = 0, int high = 8 * sizeof(Key), cudaStream_t stream = nullptr,                   \
                                     int line = __builtin_LINE()) {                                                            \
    const Key* from = keys.Current();                                                                                          \
    cudaError_t error = SortKeys##ORDER(storage, bytes, from, keys.Alternate(), count, low, high, stream, line);               \
    if (storage && !error) keys.selector ^= 1;                                                                                 \
    return error;                                                                                                              \
  }                                                                                                                            \
  template <class Key, class Value>                                                                                            \
  static cudaError_t SortPairs##ORDER(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys,                              \
                                      DoubleBuffer<Value>& values, std::int64_t count, int low = 0,                            \
                                      int high = 8 * sizeof(Key), cudaStream_t stream = nullptr,                               \
                                      int line = __builtin_LINE()) {                                                           \
    const Key* from = keys.Current();                                                                                          \
    const Value* with = values.Current();                                                                                      \
    cudaError_t error = SortPairs##ORDER(storage, bytes, from, keys.Alternate(), with, values.Alternate(), count, low, high,   \
                                         stream, line);                                                                        \
    if (storage && !error) keys.selector ^= 1, values.selector ^= 1;                                                           \
    return error;                                                                                                              \
  }
  CUEMU_SORTED()
  CUEMU_SORTED(Descending)
};

}  // namespace cub
