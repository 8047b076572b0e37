// Python's values in a claim's host code, without Python: None, tensors, numbers, texts, and sequences of those.
#pragma once
#include "cuemu/bind_convert.h"

#include <stdexcept>
#include <string_view>

namespace pybind11 {

struct none {};

struct cast_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The name of an attribute that values here have; a source with another one does not compile, and says so.
struct known_attribute {
  consteval known_attribute(const char* name) {
    if (std::string_view(name) != "data") throw "no such attribute";
  }
};

// Borrows its value, which lives as long as the call.
class object {
 public:
  object() = default;
  object(none) {}  // NOLINT: as pybind11 has it
  explicit object(const cuemu_value& value) : value_(value) {}

  static bool check(const cuemu_value&) { return true; }
  const cuemu_value& value() const { return value_; }
  bool is_none() const { return value_.kind == cuemu::kNone; }
  bool is(const object& other) const {
    bool same = value_.kind == other.value_.kind && value_.tensor == other.value_.tensor;
    return same && (is_none() || value_.kind == cuemu::kTensor);
  }
  object attr(known_attribute) const {
    if (value_.kind != cuemu::kTensor) throw std::runtime_error("the object has no attribute 'data'");
    return *this;
  }
  template <class T>
  T cast() const {
    try {
      return cuemu::Convert<std::decay_t<T>>::from(value_);
    } catch (const std::invalid_argument& error) {
      throw cast_error(std::string("Unable to cast Python instance to C++ type: ") + error.what());
    }
  }

 protected:
  cuemu_value value_ = {};
};

struct int_ : object {
  using object::object;
  int_(std::int64_t number) { value_ = cuemu::Convert<std::int64_t>::to(number); }  // NOLINT
  static bool check(const cuemu_value& value) { return value.kind == cuemu::kInteger || value.kind == cuemu::kBool; }
  operator std::int64_t() const { return value_.integer; }  // NOLINT
};

struct float_ : object {
  using object::object;
  float_(double number) { value_ = cuemu::Convert<double>::to(number); }  // NOLINT
  static bool check(const cuemu_value& value) { return value.kind == cuemu::kReal; }
  operator double() const { return value_.real; }  // NOLINT
};

struct bool_ : object {
  using object::object;
  bool_(bool truth) { value_ = cuemu::Convert<bool>::to(truth); }  // NOLINT
  static bool check(const cuemu_value& value) { return value.kind == cuemu::kBool; }
  operator bool() const { return value_.integer != 0; }  // NOLINT
};

struct sequence : object {
  using object::object;
  static bool check(const cuemu_value& value) { return value.kind == cuemu::kList || value.kind == cuemu::kTuple; }
  std::size_t size() const { return value_.count; }
  object operator[](std::size_t place) const {
    if (place >= size()) throw std::out_of_range("list index out of range");
    return object(value_.items[place]);
  }

  struct iterator {
    const cuemu_value* at;
    object operator*() const { return object(*at); }
    iterator& operator++() { return ++at, *this; }
    bool operator==(const iterator&) const = default;
  };
  iterator begin() const { return {value_.items}; }
  iterator end() const { return {value_.items + value_.count}; }
};

struct list : sequence {
  using sequence::sequence;
  static bool check(const cuemu_value& value) { return value.kind == cuemu::kList; }
};

struct tuple : sequence {
  using sequence::sequence;
  static bool check(const cuemu_value& value) { return value.kind == cuemu::kTuple; }
};

template <class T>
bool isinstance(const object& one) {
  if constexpr (std::is_same_v<T, at::Tensor>) return one.value().kind == cuemu::kTensor;
  else return T::check(one.value());
}

inline bool hasattr(const object& one, known_attribute) { return one.value().kind == cuemu::kTensor; }

template <class T>
T cast(const object& one) {
  return one.cast<T>();
}

template <class T>
std::size_t len(const T& one) {
  return one.size();
}

}  // namespace pybind11

namespace cuemu {

template <>
struct Convert<pybind11::none> {
  static cuemu_value to(pybind11::none) { return {}; }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_base_of_v<pybind11::object, T>>> {
  static T from(const cuemu_value& value) { return T(need(value, T::check(value), "another kind of object")); }
  static cuemu_value to(const T& one) {  // with an ownership of its own
    const cuemu_value& value = one.value();
    if (value.kind == kTensor) return Convert<at::Tensor>::to(Convert<at::Tensor>::from(value));
    if (value.kind == kText) return Convert<std::string>::to(Convert<std::string>::from(value));
    if (value.kind != kList && value.kind != kTuple) return value;
    cuemu_value items = cuemu_new_list(static_cast<Kind>(value.kind), value.count);
    for (std::size_t i = 0; i < value.count; i++)
      items.items[i] = Convert<pybind11::object>::to(pybind11::object(value.items[i]));
    return items;
  }
};

}  // namespace cuemu
