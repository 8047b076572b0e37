// CUB: the parts that docs/emulated_device.md names; a source that uses another is refused by its name.
#pragma once
#include "cuemu/cub_device.h"
#include "cuemu/cub_exchange.h"
