#pragma once
#include "cuemu/cub.h"
