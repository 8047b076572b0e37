#pragma once
#include "cuemu/device.h"
