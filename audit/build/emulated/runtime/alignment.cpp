// The callback of -fsanitize=alignment: the compiler calls it where a pointer is no multiple of its type's alignment.
// libubsan is never linked. Code of the host comes by as well and goes on.
#include "checker.h"
#include "device.h"

#include <algorithm>

using namespace cuemu;

namespace {

enum Use : unsigned char { kLoad, kStore, kReference };  // the first of the compiler's numbers; members follow

constexpr std::size_t kWidest = 16;  // bytes that an instruction of a GPU accesses at most

struct Mismatch {
  const char* file;
  unsigned line, column;
  const void* type;
  unsigned char log_alignment, use;
};

}  // namespace

// A copy binds a reference first, and the compiler asks once for both. A member alone (`p->x`) asks a GPU for no more than
// the member's own alignment.
CUEMU_EXPORT void __ubsan_handle_type_mismatch_v1(const Mismatch* found, const void* address) {
  if (found->use > kReference) return;
  check_alignment(address, std::min(std::size_t{1} << found->log_alignment, kWidest), __builtin_return_address(0));
}
