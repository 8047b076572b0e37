#pragma once
#include "cuemu/cooperative_groups.h"
