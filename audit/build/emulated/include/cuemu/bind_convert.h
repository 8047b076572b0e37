// How C++ parameter and result types meet the values of bind_value.h.
#pragma once
#include "cuemu/bind_value.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#define CUEMU_IN_RUNTIME __attribute__((visibility("default")))

namespace cuemu {

template <class T, class = void>
struct Convert;

inline const cuemu_value& need(const cuemu_value& value, bool fits, const char* expected) {
  if (!fits) cuemu_wrong_argument(expected);
  return value;
}

template <>
struct Convert<at::Tensor> {
  CUEMU_IN_RUNTIME static at::Tensor from(const cuemu_value& value);
  CUEMU_IN_RUNTIME static cuemu_value to(const at::Tensor& tensor);
};

template <>
struct Convert<bool> {
  static bool from(const cuemu_value& value) { return need(value, value.kind == kBool, "a bool").integer != 0; }
  static cuemu_value to(bool truth) { return {kBool, truth, 0, nullptr, nullptr, 0, nullptr}; }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static T from(const cuemu_value& given) {
    const cuemu_value value = cuemu_number(&given, 1);
    need(value, value.kind == kInteger || value.kind == kBool, "an int");
    need(value, static_cast<std::int64_t>(static_cast<T>(value.integer)) == value.integer, "an int of fewer bits");
    return static_cast<T>(value.integer);
  }
  static cuemu_value to(T number) {
    return {kInteger, static_cast<std::int64_t>(number), 0, nullptr, nullptr, 0, nullptr};
  }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static T from(const cuemu_value& given) {
    const cuemu_value value = cuemu_number(&given, 2);
    need(value, value.kind == kReal || value.kind == kInteger || value.kind == kBool, "a float");
    return value.kind == kReal ? static_cast<T>(value.real) : static_cast<T>(value.integer);
  }
  static cuemu_value to(T number) { return {kReal, 0, static_cast<double>(number), nullptr, nullptr, 0, nullptr}; }
};

template <>
struct Convert<std::string> {
  CUEMU_IN_RUNTIME static std::string from(const cuemu_value& value);
  CUEMU_IN_RUNTIME static cuemu_value to(const std::string& text);
};
template <>
struct Convert<const char*> {
  CUEMU_IN_RUNTIME static cuemu_value to(const char* text);
};

template <>
struct Convert<at::Scalar> {
  CUEMU_IN_RUNTIME static at::Scalar from(const cuemu_value& value);
};

template <>
struct Convert<at::ScalarType> {
  static at::ScalarType from(const cuemu_value& value) {
    return static_cast<at::ScalarType>(need(value, value.kind == kDtype, "a torch.dtype").integer);
  }
  static cuemu_value to(at::ScalarType type) {
    return {kDtype, static_cast<std::int64_t>(type), 0, nullptr, nullptr, 0, nullptr};
  }
};

template <>
struct Convert<std::nullopt_t> {
  static cuemu_value to(std::nullopt_t) { return {}; }
};

template <class T>
struct Convert<std::optional<T>> {
  static std::optional<T> from(const cuemu_value& value) {
    if (value.kind == kNone) return std::nullopt;
    return Convert<T>::from(value);
  }
  static cuemu_value to(const std::optional<T>& value) { return value ? Convert<T>::to(*value) : cuemu_value{}; }
};

template <class T>
struct Convert<std::vector<T>> {
  static std::vector<T> from(const cuemu_value& value) {
    need(value, value.kind == kList || value.kind == kTuple, "a list");
    std::vector<T> items;
    for (std::size_t i = 0; i < value.count; i++) items.push_back(Convert<T>::from(value.items[i]));
    return items;
  }
  static cuemu_value to(const std::vector<T>& items) {
    cuemu_value value = cuemu_new_list(kList, items.size());
    for (std::size_t i = 0; i < items.size(); i++) value.items[i] = Convert<T>::to(items[i]);
    return value;
  }
};
template <class T>
struct Convert<c10::ArrayRef<T>> {  // the vector lives as long as the call
  static std::vector<T> from(const cuemu_value& value) { return Convert<std::vector<T>>::from(value); }
};

template <class... T>
struct Convert<std::tuple<T...>> {
  static std::tuple<T...> from(const cuemu_value& value) {
    need(value, (value.kind == kList || value.kind == kTuple) && value.count == sizeof...(T), "a tuple of that length");
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>(Convert<T>::from(value.items[I])...);
    }(std::index_sequence_for<T...>());
  }
  static cuemu_value to(const std::tuple<T...>& items) {
    cuemu_value value = cuemu_new_list(kTuple, sizeof...(T));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((value.items[I] = Convert<T>::to(std::get<I>(items))), ...);
    }(std::index_sequence_for<T...>());
    return value;
  }
};
template <class A, class B>
struct Convert<std::pair<A, B>> {
  static std::pair<A, B> from(const cuemu_value& value) {
    auto items = Convert<std::tuple<A, B>>::from(value);
    return {std::get<0>(items), std::get<1>(items)};
  }
  static cuemu_value to(const std::pair<A, B>& pair) { return Convert<std::tuple<A, B>>::to(pair); }
};

}  // namespace cuemu
