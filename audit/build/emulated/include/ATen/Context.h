// The settings of all devices. Generated headers of operators include it and use nothing of it: it costs every build 0.1 s.
#ifndef CUEMU_OPERATORS_ALONE
#include_next <ATen/Context.h>
#endif
