// PYBIND11_MODULE without pybind11: fills a cuemu::Module that audit/build/emulated/library.py calls through ctypes.
#pragma once
#include "cuemu/bind_call.h"
#include "cuemu/bind_objects.h"

namespace pybind11 {

struct arg {
  const char* name;
  bool has_default = false;
  cuemu_value fallback = {};
  explicit arg(const char* name) : name(name) {}
  template <class T>
  arg operator=(const T& value) const {
    arg with = *this;
    with.has_default = true;
    with.fallback = cuemu::Convert<std::decay_t<T>>::to(value);
    return with;
  }
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }
};
struct gil_scoped_release {};
template <class T>
struct call_guard {};
enum class return_value_policy { automatic, copy, move, reference, take_ownership };

// The module's own docstring, __version__ and the like: kept nowhere.
struct unread {
  void operator=(std::string_view) const {}
  void operator=(char) const {}
};

class module_ {
 public:
  explicit module_(cuemu::Module* target) : target_(target) {}

  template <class F, class... Extra>
  module_& def(const char* name, F&& function, const Extra&... extra) {
    using Plain = std::decay_t<F>;
    const void* held = new Plain(std::forward<F>(function));
    constexpr std::size_t parameters = cuemu::Signature<Plain>::count;
    auto* entry = cuemu_add_function(target_, name, parameters, &cuemu::call_with<Plain>, held);
    (add(entry, extra), ...);
    return *this;
  }
  unread doc() { return {}; }
  template <class T>
  unread attr(const T&) {
    return {};
  }

 private:
  static void add(cuemu::Function* entry, const arg& extra) {
    cuemu_name_parameter(entry, extra.name, extra.has_default ? &extra.fallback : nullptr);
  }
  static void add(cuemu::Function* entry, const char* doc) { cuemu_describe_function(entry, doc); }
  static void add(cuemu::Function*, return_value_policy) {}
  template <class T>
  static void add(cuemu::Function*, const call_guard<T>&) {}

  cuemu::Module* target_;
};
using module = module_;

namespace literals {
inline arg operator""_a(const char* name, std::size_t) { return arg(name); }
}

}  // namespace pybind11

namespace py = pybind11;
namespace torch {
namespace py = pybind11;
}

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME extension
#endif
#define PYBIND11_MODULE(NAME, VARIABLE, ...)                                                    \
  static void cuemu_fill_module(pybind11::module_& VARIABLE);                                   \
  extern "C" __attribute__((visibility("default"))) const cuemu::Module* cuemu_module() {       \
    static cuemu::Module* module = nullptr;                                                     \
    if (!module) {                                                                              \
      module = cuemu_new_module();                                                              \
      pybind11::module_ target(module);                                                         \
      cuemu_fill_module(target);                                                                \
    }                                                                                           \
    return module;                                                                              \
  }                                                                                             \
  static void cuemu_fill_module([[maybe_unused]] pybind11::module_& VARIABLE)
