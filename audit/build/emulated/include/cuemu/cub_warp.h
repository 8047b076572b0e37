// cub::WarpReduce and cub::WarpScan.
#pragma once
#include "cuemu/cub_types.h"

namespace cub {

template <class T, int Threads = 32, int = 0>
class WarpReduce {
  int line_;

 public:
  struct TempStorage {};

  WarpReduce(TempStorage&, int line = __builtin_LINE()) : line_(line) {}

  template <class Operation>
  CUEMU_INLINED T Reduce(T input, Operation operation, int valid = Threads) {
    cuemu::Segment<Threads> lanes;
    T value = lanes.reduce(input, operation, valid, line_);
    return lanes.rank ? cuemu::undefined<T>() : value;  // only the first lane is promised the result
  }
  CUEMU_INLINED T Sum(T input, int valid = Threads) { return Reduce(input, cub::Sum(), valid); }
  CUEMU_INLINED T Max(T input, int valid = Threads) { return Reduce(input, cub::Max(), valid); }
  CUEMU_INLINED T Min(T input, int valid = Threads) { return Reduce(input, cub::Min(), valid); }
};

template <class T, int Threads = 32, int = 0>
class WarpScan {
  int line_;

 public:
  struct TempStorage {};

  WarpScan(TempStorage&, int line = __builtin_LINE()) : line_(line) {}

  template <class Operation>
  CUEMU_INLINED void InclusiveScan(T input, T& inclusive, Operation operation) {
    inclusive = cuemu::Segment<Threads>().scan(input, operation, line_);
  }
  template <class Operation>
  CUEMU_INLINED void InclusiveScan(T input, T& inclusive, Operation operation, T& aggregate) {
    InclusiveScan(input, inclusive, operation);
    aggregate = last(inclusive);
  }
  // Without a first value the first lane's result is undefined.
  template <class Operation>
  CUEMU_INLINED void ExclusiveScan(T input, T& exclusive, Operation operation) {
    cuemu::Segment<Threads> lanes;
    T inclusive = lanes.scan(input, operation, line_);
    exclusive = cuemu::of_lane(lanes.mask, inclusive, lanes.rank ? cuemu_lane() - 1 : cuemu_lane(), line_);
    if (!lanes.rank) exclusive = cuemu::undefined<T>();
  }
  template <class Operation>
  CUEMU_INLINED void ExclusiveScan(T input, T& exclusive, T first, Operation operation) {
    ExclusiveScan(input, exclusive, operation);
    exclusive = cuemu::Segment<Threads>().rank ? operation(first, exclusive) : first;
  }
  template <class Operation>
  CUEMU_INLINED void ExclusiveScan(T input, T& exclusive, T first, Operation operation, T& aggregate) {
    T inclusive = cuemu::Segment<Threads>().scan(input, operation, line_);
    ExclusiveScan(input, exclusive, first, operation);
    aggregate = last(inclusive);
  }
  CUEMU_INLINED void InclusiveSum(T input, T& inclusive) { InclusiveScan(input, inclusive, cub::Sum()); }
  CUEMU_INLINED void InclusiveSum(T input, T& inclusive, T& aggregate) {
    InclusiveScan(input, inclusive, cub::Sum(), aggregate);
  }
  CUEMU_INLINED void ExclusiveSum(T input, T& exclusive) { ExclusiveScan(input, exclusive, T(0), cub::Sum()); }
  CUEMU_INLINED void ExclusiveSum(T input, T& exclusive, T& aggregate) {
    ExclusiveScan(input, exclusive, T(0), cub::Sum(), aggregate);
  }
  CUEMU_INLINED T Broadcast(T input, unsigned lane) {
    cuemu::Segment<Threads> lanes;
    return cuemu::of_lane(lanes.mask, input, lanes.first + lane, line_);
  }

 private:
  CUEMU_INLINED T last(const T& inclusive) {
    cuemu::Segment<Threads> lanes;
    return cuemu::of_lane(lanes.mask, inclusive, lanes.first + lanes.size - 1, line_);
  }
};

}  // namespace cub
