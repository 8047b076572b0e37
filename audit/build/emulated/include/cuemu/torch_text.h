// The text of an assertion that torch's tensors make in every source. Its code is compiled once, in runtime/torch_text.cpp.
#pragma once
#ifndef __ASSEMBLER__
#include <c10/util/StringUtil.h>

namespace c10::detail {

template <>
struct _str_wrapper<const char*, const int&> final {
  __attribute__((visibility("default"))) static std::string call(const char* const& text, const int& number);
};

}  // namespace c10::detail
#endif
