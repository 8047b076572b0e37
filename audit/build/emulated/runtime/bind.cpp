// Calls a function of a kernel's module: picks the overload that the values fit, turns C++ exceptions into Python's names.
#include "cuemu/bind_convert.h"
#include "device.h"

#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <stdexcept>

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
}

namespace cuemu {

struct Parameter {
  std::string name;
  bool has_default;
  cuemu_value fallback;
};

struct Function {
  std::string name, doc;
  std::size_t parameters;
  Caller caller;
  const void* held;  // the function pointer or lambda, for as long as the process
  std::vector<Parameter> named;  // as many as py::arg named, possibly none
};

struct Module {
  std::deque<Function> functions;
};

at::Tensor Convert<at::Tensor>::from(const cuemu_value& value) {
  need(value, value.kind == kTensor || value.kind == kNone, "a Tensor");
  if (value.kind == kNone) return {};
  auto* impl = static_cast<c10::TensorImpl*>(value.tensor);
  return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, at::UndefinedTensorImpl>::reclaim_copy(impl));
}

cuemu_value Convert<at::Tensor>::to(const at::Tensor& tensor) {
  cuemu_value value = {};
  if (!tensor.defined()) return value;
  value.kind = kTensor;
  value.tensor = at::Tensor(tensor).unsafeReleaseTensorImpl();
  return value;
}

std::string Convert<std::string>::from(const cuemu_value& value) {
  need(value, value.kind == kText, "a str");
  return {value.text, value.count};
}

cuemu_value Convert<std::string>::to(const std::string& text) {
  return {kText, 0, 0, nullptr, strdup(text.c_str()), text.size(), nullptr};
}

cuemu_value Convert<const char*>::to(const char* text) { return Convert<std::string>::to(text); }

at::Scalar Convert<at::Scalar>::from(const cuemu_value& value) {
  need(value, value.kind == kReal || value.kind == kInteger || value.kind == kBool, "a number");
  return value.kind == kReal ? at::Scalar(value.real) : at::Scalar(value.integer);
}

}  // namespace cuemu

using namespace cuemu;

namespace {

struct WrongArgument : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

std::string failure_message;

bool fail(cuemu_failure* failure, const char* kind, const std::string& message) {
  failure_message = message;
  *failure = {kind, failure_message.c_str()};
  return false;
}

// The values in the order of the parameters; throws WrongArgument where a name or a value is missing or too much.
// `converting`: tensors may stand for floats too.
std::vector<cuemu_value> arranged(const Function& function, const cuemu_request& request, bool converting) {
  if (request.positional > function.parameters) throw WrongArgument("too many arguments");
  std::vector<cuemu_value> values(function.parameters);
  std::vector<bool> given(function.parameters, false);
  auto set = [&](std::size_t i, const cuemu_value& value) { values[i] = value, given[i] = true; };
  for (std::size_t i = 0; i < request.positional; i++) set(i, request.values[i]);
  for (std::size_t n = 0; n < request.named; n++) {
    std::size_t i = 0;
    while (i < function.named.size() && function.named[i].name != request.names[n]) i++;
    if (i == function.named.size()) throw WrongArgument(std::string("no parameter ") + request.names[n]);
    if (given[i]) throw WrongArgument(std::string("two values for ") + request.names[n]);
    set(i, request.values[request.positional + n]);
  }
  for (std::size_t i = 0; i < function.named.size() && i < values.size(); i++)
    if (!given[i] && function.named[i].has_default) set(i, function.named[i].fallback);
  for (std::size_t i = 0; i < values.size(); i++)
    if (!given[i]) throw WrongArgument("argument " + std::to_string(i + 1) + " is missing");
  for (cuemu_value& value : values)
    if (value.kind == kTensor) value.count = converting ? 2 : 1;
  return values;
}

// As pybind11 picks: the first overload that takes the values as they are, else the first that converts them.
bool call_first_that_fits(const Module& module, const cuemu_request& request, cuemu_value* result,
                          cuemu_failure* failure) {
  std::vector<const Function*> overloads;
  for (const Function& function : module.functions)
    if (function.name == request.function) overloads.push_back(&function);
  std::string misfits;
  for (bool converting = overloads.size() == 1;; converting = true) {
    misfits.clear();
    for (const Function* function : overloads) {
      try {
        *result = function->caller(function->held, arranged(*function, request, converting).data());
        return true;
      } catch (const WrongArgument& error) {
        misfits += std::string(misfits.empty() ? "" : "; ") + error.what();
      }
    }
    if (converting) break;
  }
  return fail(failure, "TypeError", std::string(request.function) + "(): incompatible function arguments: " + misfits);
}

}  // namespace

CUEMU_EXPORT bool cuemu_call_function(const Module* module, const cuemu_request* request, cuemu_value* result,
                                      cuemu_failure* failure) {
  try {
    return call_first_that_fits(*module, *request, result, failure);
  } catch (const c10::IndexError& error) {
    return fail(failure, "IndexError", error.what_without_backtrace());
  } catch (const c10::ValueError& error) {
    return fail(failure, "ValueError", error.what_without_backtrace());
  } catch (const c10::TypeError& error) {
    return fail(failure, "TypeError", error.what_without_backtrace());
  } catch (const c10::NotImplementedError& error) {
    return fail(failure, "NotImplementedError", error.what_without_backtrace());
  } catch (const c10::Error& error) {
    return fail(failure, "RuntimeError", error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return fail(failure, "MemoryError", "out of memory on the emulated device");
  } catch (const std::out_of_range& error) {
    return fail(failure, "IndexError", error.what());
  } catch (const std::invalid_argument& error) {
    return fail(failure, "ValueError", error.what());
  } catch (const std::domain_error& error) {
    return fail(failure, "ValueError", error.what());
  } catch (const std::exception& error) {
    return fail(failure, "RuntimeError", error.what());
  } catch (...) {
    return fail(failure, "RuntimeError", "the extension threw something that is no std::exception");
  }
}

CUEMU_EXPORT Module* cuemu_new_module() { return new Module; }

CUEMU_EXPORT Function* cuemu_add_function(Module* module, const char* name, std::size_t parameters, Caller caller,
                                          const void* held) {
  return &module->functions.emplace_back(Function{name, "", parameters, caller, held, {}});
}

CUEMU_EXPORT void cuemu_name_parameter(Function* function, const char* name, const cuemu_value* fallback) {
  function->named.push_back({name, fallback != nullptr, fallback ? *fallback : cuemu_value{}});
}

CUEMU_EXPORT void cuemu_describe_function(Function* function, const char* doc) { function->doc = doc; }

CUEMU_EXPORT cuemu_value cuemu_new_list(Kind kind, std::size_t count) {
  return {kind, 0, 0, nullptr, nullptr, count, new cuemu_value[count ? count : 1]()};
}

CUEMU_EXPORT void cuemu_wrong_argument(const char* expected) {
  throw WrongArgument(std::string("expected ") + expected);
}

CUEMU_EXPORT cuemu_value cuemu_number(const cuemu_value* value, std::size_t least) {
  if (value->kind != kTensor || value->count < least) return *value;
  const at::Tensor tensor = Convert<at::Tensor>::from(*value);
  if (!tensor.defined() || tensor.numel() != 1 || tensor.is_complex()) return *value;
  if (tensor.is_floating_point()) return {kReal, 0, tensor.item<double>(), nullptr, nullptr, 0, nullptr};
  return {kInteger, tensor.item<std::int64_t>(), 0, nullptr, nullptr, 0, nullptr};
}

// Names and docstrings for Python; null past the end.
CUEMU_EXPORT const char* cuemu_function_name(const Module* module, std::size_t i) {
  return i < module->functions.size() ? module->functions[i].name.c_str() : nullptr;
}
CUEMU_EXPORT const char* cuemu_function_doc(const Module* module, std::size_t i) {
  return module->functions[i].doc.c_str();
}

CUEMU_EXPORT void cuemu_value_release(cuemu_value* value) {
  if (value->tensor) c10::raw::intrusive_ptr::decref(static_cast<c10::TensorImpl*>(value->tensor));
  if (value->kind == kText) std::free(const_cast<char*>(value->text));
  for (std::size_t i = 0; i < value->count && value->items; i++) cuemu_value_release(&value->items[i]);
  delete[] value->items;
  *value = {};
}
