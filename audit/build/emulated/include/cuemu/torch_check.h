// The text of TORCH_CHECK, in torch's own words. Its code is compiled once, in runtime/torch_check.cpp: made anew in each
// source, it was half of what compiling took.
#pragma once
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

namespace cuemu {

struct CheckPart {
  const void* value;
  void (*print)(std::ostream&, const void*);
};

__attribute__((visibility("default"))) std::string check_joined(const CheckPart* parts, std::size_t count);
__attribute__((visibility("default"))) void print_text(std::ostream& out, const void* text);
template <class T>
__attribute__((visibility("default"))) void print_part(std::ostream& out, const void* value) {
  c10::detail::_str(out, *static_cast<const T*>(value));
}
#define CUEMU_PRINTED(TYPE) template void print_part<TYPE>(std::ostream&, const void*);
#define CUEMU_ALL_PRINTED(OF) \
  OF(bool) OF(int) OF(unsigned) OF(long) OF(unsigned long) OF(long long) OF(unsigned long long) OF(float) OF(double) \
  OF(std::string) OF(c10::Device) OF(c10::DeviceType) OF(c10::ScalarType) OF(c10::IntArrayRef)
#ifndef CUEMU_PRINTS
#define CUEMU_ELSEWHERE(TYPE) extern CUEMU_PRINTED(TYPE)
CUEMU_ALL_PRINTED(CUEMU_ELSEWHERE)
#endif

template <class T>
CheckPart check_part(const T& value) {
  if constexpr (std::is_convertible_v<const T&, const char*>) {
    return {static_cast<const char*>(value), print_text};
  } else {
    return {&value, print_part<T>};
  }
}

inline const char* check_text(const char* otherwise) { return otherwise; }
inline const char* check_text(const char*, const char* said) { return said; }
template <class... T>
std::string check_text(const char*, const T&... said) {
  const CheckPart parts[] = {check_part(said)...};
  return check_joined(parts, sizeof...(said));
}

}  // namespace cuemu

#ifndef STRIP_ERROR_MESSAGES
#undef TORCH_CHECK_MSG
#define TORCH_CHECK_MSG(CONDITION, TYPE, ...)                                                               \
  (::cuemu::check_text("Expected " #CONDITION " to be true, but got false.  (Could this error message be "  \
                       "improved?  If so, please report an enhancement request to PyTorch.)",               \
                       ##__VA_ARGS__))
#endif
