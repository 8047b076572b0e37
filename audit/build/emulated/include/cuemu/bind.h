// PYBIND11_MODULE without pybind11: fills a cuemu::Module that audit/build/emulated/library.py calls through ctypes.
#pragma once
#include "cuemu/bind_convert.h"

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
cuemu_value call_with(const F& function, const cuemu_value* values) {
  using Shape = Signature<F>;
  using Result = typename Shape::Result;
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> cuemu_value {
    auto held = std::make_tuple(Convert<std::tuple_element_t<I, typename Shape::Parameters>>::from(values[I])...);
    if constexpr (std::is_void_v<Result>) {
      function(std::get<I>(held)...);
      return {};
    } else {
      return Convert<std::decay_t<Result>>::to(function(std::get<I>(held)...));
    }
  }(std::make_index_sequence<Shape::count>());
}

}  // namespace cuemu

namespace pybind11 {

struct arg {
  cuemu::Argument argument;
  explicit arg(const char* name) { argument.name = name; }
  template <class T>
  arg operator=(const T& value) const {
    arg with = *this;
    with.argument.has_default = true;
    with.argument.fallback = cuemu::Convert<std::decay_t<T>>::to(value);
    return with;
  }
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }
};
struct none {};
struct gil_scoped_release {};
template <class T>
struct call_guard {};
enum class return_value_policy { automatic, copy, move, reference, take_ownership };

class module_ {
 public:
  explicit module_(cuemu::Module& target) : target_(target) {}

  template <class F, class... Extra>
  module_& def(const char* name, F&& function, const Extra&... extra) {
    using Plain = std::decay_t<F>;
    cuemu::Function entry{name, "", cuemu::Signature<Plain>::count, {}, {}};
    entry.call = [held = Plain(function)](const cuemu_value* values) { return cuemu::call_with<Plain>(held, values); };
    (add(entry, extra), ...);
    target_.functions.push_back(std::move(entry));
    return *this;
  }
  std::string& doc() { return target_.doc; }
  template <class T>
  std::string& attr(const T&) {  // __version__ and the like: kept nowhere
    return attribute_;
  }

 private:
  static void add(cuemu::Function& entry, const arg& extra) { entry.arguments.push_back(extra.argument); }
  static void add(cuemu::Function& entry, const char* doc) { entry.doc = doc; }
  static void add(cuemu::Function&, return_value_policy) {}
  template <class T>
  static void add(cuemu::Function&, const call_guard<T>&) {}

  cuemu::Module& target_;
  std::string attribute_;
};
using module = module_;

namespace literals {
inline arg operator""_a(const char* name, std::size_t) { return arg(name); }
}

}  // namespace pybind11

namespace cuemu {
template <>
struct Convert<pybind11::none> {
  static cuemu_value to(pybind11::none) { return {}; }
};
}  // namespace cuemu

namespace py = pybind11;
namespace torch {
namespace py = pybind11;
}

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME emulated_kernel
#endif
#define PYBIND11_MODULE(NAME, VARIABLE, ...)                                                    \
  static void cuemu_fill_module(pybind11::module_& VARIABLE);                                   \
  extern "C" __attribute__((visibility("default"))) const cuemu::Module* cuemu_module() {       \
    static cuemu::Module module;                                                                \
    if (module.functions.empty()) {                                                             \
      pybind11::module_ target(module);                                                         \
      cuemu_fill_module(target);                                                                \
    }                                                                                           \
    return &module;                                                                             \
  }                                                                                             \
  static void cuemu_fill_module([[maybe_unused]] pybind11::module_& VARIABLE)
