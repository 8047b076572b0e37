// TORCH_LIBRARY without torch's dispatcher: a cuemu::Module of what a source registers for CUDA tensors. A function's
// name in it is `space::name`; an entry with a `(` in its name is a schema. audit/build/emulated/library.py reads both.
#pragma once
#include "cuemu/bind_call.h"

#include <c10/core/DeviceType.h>
#include <c10/core/DispatchKey.h>

#include <string>
#include <string_view>

namespace cuemu {

// The name of a C++ type in a schema, where torch infers one: as in torch, no other integer or float has one.
template <class T>
struct Type {};
inline std::string in_schema(Type<at::Tensor>) { return "Tensor"; }
inline std::string in_schema(Type<std::int64_t>) { return "int"; }
inline std::string in_schema(Type<double>) { return "float"; }
inline std::string in_schema(Type<bool>) { return "bool"; }
inline std::string in_schema(Type<std::string>) { return "str"; }
inline std::string in_schema(Type<at::Scalar>) { return "Scalar"; }
inline std::string in_schema(Type<at::ScalarType>) { return "ScalarType"; }
template <class T>
std::string in_schema(Type<std::optional<T>>) {
  return in_schema(Type<T>{}) + "?";
}
template <class T>
std::string in_schema(Type<std::vector<T>>) {
  return in_schema(Type<T>{}) + "[]";
}
template <class T>
std::string in_schema(Type<c10::ArrayRef<T>>) {
  return in_schema(Type<T>{}) + "[]";
}
template <class... T>
std::string in_schema(Type<std::tuple<T...>>) {
  std::string names;
  ((names += (names.empty() ? "" : ", ") + in_schema(Type<T>{})), ...);
  return "(" + names + ")";
}

template <class R, class... A>
std::string inferred(Type<std::tuple<A...>>) {
  std::string parameters;
  int i = 0;
  ((parameters += (i ? ", " : "") + in_schema(Type<A>{}) + " _" + std::to_string(i), i++), ...);
  if constexpr (std::is_void_v<R>) return "(" + parameters + ") -> ()";
  else return "(" + parameters + ") -> " + in_schema(Type<std::decay_t<R>>{});
}

template <class T>
concept Callable = std::is_function_v<std::remove_pointer_t<std::decay_t<T>>> || requires { &std::decay_t<T>::operator(); };

// The type within optionals and lists.
template <class T>
struct Held {
  using type = T;
};
template <class T>
struct Held<std::optional<T>> : Held<T> {};
template <class T>
struct Held<std::vector<T>> : Held<T> {};
template <class T>
struct Held<c10::ArrayRef<T>> : Held<T> {};
template <class T>
concept Known = std::is_void_v<T> || requires { sizeof(Convert<typename Held<std::decay_t<T>>::type>); };
template <class... A>
constexpr bool all_known(Type<std::tuple<A...>>) {
  return (Known<A> && ...);
}
// Whether Python's values meet all types of a function; one with others is never called, and its operator has none.
template <class F>
concept Called = Known<typename Signature<F>::Result> &&
                 all_known(Type<typename Signature<F>::Parameters>{});

[[maybe_unused]] static Module* operators() {
  static Module* module = cuemu_new_module();
  return module;
}

constexpr bool runs_here(c10::DispatchKey key) {
  using enum c10::DispatchKey;
  return key == CUDA || key == CatchAll || key == CompositeExplicitAutograd || key == CompositeImplicitAutograd;
}
#ifdef CUFAST
constexpr bool runs_here(c10::DeviceType type) { return type == c10::DeviceType::CUDA; }
#else
constexpr bool runs_here(c10::DeviceType type) { return type == c10::DeviceType::CPU; }  // kCUDA, by after_includes.h
#endif

template <class Key, class F>
struct Dispatched {
  Key key;
  F function;
};

class Operators {
 public:
  Operators(std::string space, c10::DispatchKey key) : space_(std::move(space) + "::"), here_(runs_here(key)) {}

  template <class... More>
  Operators& def(std::string_view text, More&&... more) {
    const std::string name(text.substr(0, text.find('(')));
    if (name.size() < text.size()) declare(text);
    (define(name, std::forward<More>(more), name.size() == text.size()), ...);
    return *this;
  }

  template <Callable F>
  Operators& impl(std::string_view name, F&& function) {
    using Plain = std::decay_t<F>;
    if constexpr (Called<Plain>) {
      constexpr std::size_t parameters = Signature<Plain>::count;
      const void* held = new Plain(std::forward<F>(function));
      if (here_) cuemu_add_function(operators(), full(name).c_str(), parameters, &call_with<Plain>, held);
    }
    return *this;
  }
  template <class Key, Callable F>
  Operators& impl(std::string_view name, Key key, F&& function) {
    return runs_here(key) ? impl(name, std::forward<F>(function)) : *this;
  }
  template <class Key, class F>
  Operators& impl(std::string_view name, const Dispatched<Key, F>& one) {
    return impl(name, one.key, one.function);
  }

 private:
  std::string full(std::string_view name) const {
    return name.starts_with(space_) ? std::string(name) : space_ + std::string(name);
  }
  void declare(std::string_view schema) {
    cuemu_add_function(operators(), full(schema).c_str(), 0, nullptr, nullptr);
  }
  template <Callable F>
  void define(const std::string& name, F&& function, bool infer) {
    using Shape = Signature<std::decay_t<F>>;
    if constexpr (Called<std::decay_t<F>>) {
      using Parameters = Type<typename Shape::Parameters>;
      if (infer) declare(name + inferred<typename Shape::Result>(Parameters{}));
    }
    impl(name, std::forward<F>(function));
  }
  template <class Tags>
    requires(!Callable<Tags>)
  void define(const std::string&, const Tags&, bool) {}

  std::string space_;
  bool here_;
};

}  // namespace cuemu

extern "C" __attribute__((used, visibility("default"))) inline cuemu::Module* cuemu_operators() {
  return cuemu::operators();
}

#ifndef CUEMU_REAL_TORCH  // whose own function of that name returns what hides its function
namespace torch {
template <class Key, class F>
cuemu::Dispatched<Key, std::decay_t<F>> dispatch(Key key, F&& function) {
  return {key, std::forward<F>(function)};
}
}  // namespace torch
#endif

#undef TORCH_FN
#undef TORCH_LIBRARY
#undef TORCH_LIBRARY_FRAGMENT
#undef TORCH_LIBRARY_IMPL
#define TORCH_FN(function) &function
#define TORCH_LIBRARY(space, library) CUEMU_REGISTERS(space, CatchAll, library, __COUNTER__)
#define TORCH_LIBRARY_FRAGMENT(space, library) CUEMU_REGISTERS(space, CatchAll, library, __COUNTER__)
#define TORCH_LIBRARY_IMPL(space, key, library) CUEMU_REGISTERS(space, key, library, __COUNTER__)
#define CUEMU_REGISTERS(space, key, library, number) CUEMU_REGISTERS_AS(space, key, library, number)
#define CUEMU_REGISTERS_AS(space, key, library, number)                                       \
  static void cuemu_register_##number(cuemu::Operators&);                                     \
  [[maybe_unused]] static const bool cuemu_registered_##number = [] {                         \
    cuemu::Operators into(#space, c10::DispatchKey::key);                                     \
    return cuemu_register_##number(into), true;                                               \
  }();                                                                                        \
  static void cuemu_register_##number(cuemu::Operators& library)
