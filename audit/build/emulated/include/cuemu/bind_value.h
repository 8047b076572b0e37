// Values and functions as they cross between Python (ctypes, audit/build/emulated/library.py) and a kernel's library.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

extern "C" {
struct cuemu_value {
  std::int32_t kind;  // a cuemu::Kind
  std::int64_t integer;
  double real;
  void* tensor;  // c10::TensorImpl*, borrowed in arguments, owned in results
  const char* text;
  std::size_t count;  // of items, or of bytes of text
  cuemu_value* items;
};
}

namespace cuemu {

enum Kind : std::int32_t { kNone, kBool, kInteger, kReal, kTensor, kText, kList, kTuple, kDtype };

// The value does not fit the parameter; another overload may fit.
struct WrongArgument : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct Argument {
  std::string name;
  bool has_default = false;
  cuemu_value fallback = {};
};

struct Function {
  std::string name, doc;
  std::size_t parameters;
  std::vector<Argument> arguments;  // as many as py::arg named, possibly none
  std::function<cuemu_value(const cuemu_value* values)> call;
};

struct Module {
  std::string doc;
  std::vector<Function> functions;
};

}  // namespace cuemu

extern "C" {
struct cuemu_request {
  const char* function;
  const cuemu_value* values;  // positional ones, then named ones
  std::size_t positional, named;
  const char* const* names;
};
struct cuemu_failure {
  const char* kind;  // name of a Python exception
  const char* message;
};
bool cuemu_call_function(const cuemu::Module* module, const cuemu_request* request, cuemu_value* result,
                         cuemu_failure* failure);
}
