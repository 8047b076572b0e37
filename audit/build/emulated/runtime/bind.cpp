// Calls a function of a kernel's module: picks the overload that the values fit, turns C++ exceptions into Python's names.
#include "cuemu/bind_value.h"
#include "device.h"

#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <new>

using namespace cuemu;

namespace {

std::string failure_message;

bool fail(cuemu_failure* failure, const char* kind, const std::string& message) {
  failure_message = message;
  *failure = {kind, failure_message.c_str()};
  return false;
}

// The values in the order of the parameters; throws WrongArgument where a name or a value is missing or too much.
std::vector<cuemu_value> arranged(const Function& function, const cuemu_request& request) {
  if (request.positional > function.parameters) throw WrongArgument("too many arguments");
  std::vector<cuemu_value> values(function.parameters);
  std::vector<bool> given(function.parameters, false);
  auto set = [&](std::size_t i, const cuemu_value& value) { values[i] = value, given[i] = true; };
  for (std::size_t i = 0; i < request.positional; i++) set(i, request.values[i]);
  for (std::size_t n = 0; n < request.named; n++) {
    std::size_t i = 0;
    while (i < function.arguments.size() && function.arguments[i].name != request.names[n]) i++;
    if (i == function.arguments.size()) throw WrongArgument(std::string("no parameter ") + request.names[n]);
    if (given[i]) throw WrongArgument(std::string("two values for ") + request.names[n]);
    set(i, request.values[request.positional + n]);
  }
  for (std::size_t i = 0; i < function.arguments.size() && i < values.size(); i++)
    if (!given[i] && function.arguments[i].has_default) set(i, function.arguments[i].fallback);
  for (std::size_t i = 0; i < values.size(); i++)
    if (!given[i]) throw WrongArgument("argument " + std::to_string(i + 1) + " is missing");
  return values;
}

bool call_first_that_fits(const Module& module, const cuemu_request& request, cuemu_value* result,
                          cuemu_failure* failure) {
  std::string misfits;
  for (const Function& function : module.functions) {
    if (function.name != request.function) continue;
    try {
      *result = function.call(arranged(function, request).data());
      return true;
    } catch (const WrongArgument& error) {
      misfits += std::string(misfits.empty() ? "" : "; ") + error.what();
    }
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
