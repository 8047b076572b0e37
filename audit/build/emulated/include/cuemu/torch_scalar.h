// The conversions of c10::Scalar, which torch's header has every source instantiate. Their code is compiled once, in
// runtime/torch_scalar.cpp.
#pragma once
#include <c10/core/Scalar.h>

#define CUEMU_FROM_EACH(TO, OF) OF(TO, double) OF(TO, c10::complex<double>) OF(TO, bool) OF(TO, int64_t) OF(TO, uint64_t)
#define CUEMU_EXTERN(TO, FROM) \
  extern template __attribute__((visibility("default"))) TO checked_convert<TO, FROM>(FROM, const char*);
#define CUEMU_EXTERN_TO(TO, NAME) CUEMU_FROM_EACH(TO, CUEMU_EXTERN)

namespace c10 {
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(CUEMU_EXTERN_TO)
CUEMU_EXTERN_TO(uint16_t, )
CUEMU_EXTERN_TO(uint32_t, )
CUEMU_EXTERN_TO(uint64_t, )
}  // namespace c10
