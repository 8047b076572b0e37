// Calls a C++ function with Python's values.
#pragma once
#include "cuemu/bind_convert.h"

#include <tuple>
#include <type_traits>
#include <utility>

namespace cuemu {

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  using Parameters = std::tuple<std::decay_t<A>...>;
  static constexpr std::size_t count = sizeof...(A);
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};

// Converts the values, calls, converts the result.
template <class F>
cuemu_value call_with(const void* held, const cuemu_value* values) {
  using Shape = Signature<F>;
  using Result = typename Shape::Result;
  const F& function = *static_cast<const F*>(held);
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> cuemu_value {
    auto call = [&](auto... arguments) -> Result { return function(arguments...); };
    if constexpr (std::is_void_v<Result>) {
      call(Convert<std::tuple_element_t<I, typename Shape::Parameters>>::from(values[I])...);
      return {};
    } else {
      return Convert<std::decay_t<Result>>::to(
          call(Convert<std::tuple_element_t<I, typename Shape::Parameters>>::from(values[I])...));
    }
  }(std::make_index_sequence<Shape::count>());
}

}  // namespace cuemu
