// Values and functions as they cross between Python (ctypes, audit/build/emulated/library.py) and a kernel's library.
// A module's functions and the conversions that need no template live in runtime/bind.cpp, which is compiled once.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {
struct cuemu_value {
  std::int32_t kind;  // a cuemu::Kind
  std::int64_t integer;
  double real;
  void* tensor;  // c10::TensorImpl*, borrowed in arguments, owned in results
  const char* text;
  std::size_t count;  // of items, or of bytes of text; of a tensor: 1 may stand for an int, 2 for a float too
  cuemu_value* items;
};
}

namespace cuemu {

enum Kind : std::int32_t { kNone, kBool, kInteger, kReal, kTensor, kText, kList, kTuple, kDtype };

struct Module;
struct Function;
using Caller = cuemu_value (*)(const void* held, const cuemu_value* values);

}  // namespace cuemu

extern "C" {
cuemu::Module* cuemu_new_module();
cuemu::Function* cuemu_add_function(cuemu::Module* module, const char* name, std::size_t parameters,
                                    cuemu::Caller caller, const void* held);
void cuemu_name_parameter(cuemu::Function* function, const char* name, const cuemu_value* fallback);  // or null
void cuemu_describe_function(cuemu::Function* function, const char* doc);
cuemu_value cuemu_new_list(cuemu::Kind kind, std::size_t count);
// The one number of a tensor whose count is at least that; any other value as it is.
cuemu_value cuemu_number(const cuemu_value* value, std::size_t least);
// The value does not fit the parameter; another overload may fit.
[[noreturn]] void cuemu_wrong_argument(const char* expected);
}
