// What cuemu/torch_scalar.h declares.
#include <c10/core/Scalar.h>
#include "cuemu/torch_scalar.h"

#define CUEMU_COMPILED(TO, FROM) template TO checked_convert<TO, FROM>(FROM, const char*);
#define CUEMU_COMPILED_TO(TO, NAME) CUEMU_FROM_EACH(TO, CUEMU_COMPILED)

namespace c10 {
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(CUEMU_COMPILED_TO)
CUEMU_COMPILED_TO(uint16_t, )
CUEMU_COMPILED_TO(uint32_t, )
CUEMU_COMPILED_TO(uint64_t, )
}  // namespace c10
