#pragma once
#include "cuemu/wmma.h"
