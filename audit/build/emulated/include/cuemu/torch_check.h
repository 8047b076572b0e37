// The text of TORCH_CHECK, in torch's own words. Its code is compiled once, in runtime/torch_check.cpp: made anew in each
// source that checks its arguments, it was a quarter of what compiling took.
#pragma once
#include <cstddef>
#include <ostream>
#include <string>
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
template <class T>
void print_part(std::ostream& out, const void* value) {
  c10::detail::_str(out, *static_cast<const T*>(value));
}
template <class T>
inline constexpr auto printer = print_part<T>;
#define CUEMU_ALL_PRINTED(OF)                                                                             \
  OF(bool, bool) OF(int, int) OF(unsigned, unsigned) OF(long, long) OF(unsigned_long, unsigned long)      \
  OF(long_long, long long) OF(float, float) OF(double, double) OF(string, std::string)                    \
  OF(device, c10::Device) OF(device_type, c10::DeviceType) OF(dtype, c10::ScalarType) OF(sizes, c10::IntArrayRef)
#define CUEMU_PRINTED(NAME, TYPE)                                                                         \
  __attribute__((visibility("default"))) void print_##NAME(std::ostream& out, const void* value);         \
  template <>                                                                                             \
  inline constexpr auto printer<TYPE> = print_##NAME;
__attribute__((visibility("default"))) void print_text(std::ostream& out, const void* text);
CUEMU_ALL_PRINTED(CUEMU_PRINTED)

template <class T>
CheckPart check_part(const T& value) {
  if constexpr (std::is_convertible_v<const T&, const char*>) {
    return {static_cast<const char*>(value), print_text};
  } else {
    return {&value, printer<T>};
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
