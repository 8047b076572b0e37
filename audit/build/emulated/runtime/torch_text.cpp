// What cuemu/torch_text.h declares.
#include "cuemu/torch_text.h"

std::string c10::detail::_str_wrapper<const char*, const int&>::call(const char* const& text, const int& number) {
  std::ostringstream joined;
  joined << text << number;
  return joined.str();
}
