// The part of torch that most extensions use: tensors, dispatch, factories. No pybind11, no Python.h.
#pragma once
#define CUEMU_OPERATORS_ALONE
#include <ATen/core/Tensor.h>
#include <ATen/core/TensorAccessor.h>
#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/TensorOptions.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include "cuemu/torch_scalar.h"
#undef CUEMU_OPERATORS_ALONE

namespace torch {

using namespace at;
using std::nullopt;
using std::optional;
using Dtype = at::ScalarType;

template <class T>
struct RestrictPtrTraits {
  typedef T* __restrict__ PtrType;
};
struct NoGradGuard {
  c10::AutoGradMode mode{false};
};

constexpr auto kUInt8 = at::kByte;
constexpr auto kInt8 = at::kChar;
constexpr auto kInt16 = at::kShort;
constexpr auto kInt32 = at::kInt;
constexpr auto kInt64 = at::kLong;
constexpr auto kFloat16 = at::kHalf;
constexpr auto kFloat32 = at::kFloat;
constexpr auto kFloat64 = at::kDouble;
constexpr auto kI32 = at::kInt;
constexpr auto kI64 = at::kLong;
constexpr auto kF16 = at::kHalf;
constexpr auto kF32 = at::kFloat;
constexpr auto kF64 = at::kDouble;

namespace autograd {
using variable_list = std::vector<at::Tensor>;
}

}  // namespace torch

namespace at {
using torch::RestrictPtrTraits;
}

#define AT_ASSERTM(...) TORCH_CHECK(__VA_ARGS__)
#define AT_CHECK(...) TORCH_CHECK(__VA_ARGS__)
