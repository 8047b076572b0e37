// What cuemu/torch_check.h declares.
#include <c10/core/Device.h>
#include "cuemu/torch_check.h"

#include <sstream>

namespace cuemu {

#define CUEMU_PRINTS(NAME, TYPE) \
  void print_##NAME(std::ostream& out, const void* value) { print_part<TYPE>(out, value); }
CUEMU_ALL_PRINTED(CUEMU_PRINTS)

void print_text(std::ostream& out, const void* text) { out << static_cast<const char*>(text); }

std::string check_joined(const CheckPart* parts, std::size_t count) {
  std::ostringstream joined;
  for (std::size_t place = 0; place < count; ++place) {
    parts[place].print(joined, parts[place].value);
  }
  return joined.str();
}

}  // namespace cuemu
