// Variables of the device at file scope: each tells the runtime where it lies, and so do the gaps behind it.
#pragma once
#include "cuemu/abi.h"

namespace cuemu {

struct Placed {
  template <class T>
  Placed(const T& variable, const char* name, VariableKind kind) {
    cuemu_variable((const void*)__builtin_addressof(variable), sizeof(T), name, kind);
  }
};

constexpr unsigned kGapBytes = 1u << 16;      // where it costs no byte of the file
constexpr unsigned kGapBytesInFile = 1u << 12;

}  // namespace cuemu

// The compiler keeps the order of variables marked so within a section; linkage, initialiser and `const` decide on the section.
#define CUEMU_KEPT __attribute__((no_reorder))
#define CUEMU_GAP __attribute__((no_reorder, aligned(1)))
#define CUEMU_PLACED(NAME, SHOWN, KIND) static const ::cuemu::Placed cuemu_place_##NAME(NAME, SHOWN, ::cuemu::VariableKind::KIND);

#define CUEMU_GAPS(NAME)                                                              \
  char cuemu_outer_##NAME[::cuemu::kGapBytes] CUEMU_GAP;                              \
  static char cuemu_inner_##NAME[::cuemu::kGapBytes] CUEMU_GAP;                       \
  static char cuemu_given_##NAME[::cuemu::kGapBytesInFile] CUEMU_GAP = {1};           \
  static const char cuemu_const_##NAME[::cuemu::kGapBytesInFile] CUEMU_GAP = {1};     \
  CUEMU_PLACED(cuemu_outer_##NAME, "", kGap) CUEMU_PLACED(cuemu_inner_##NAME, "", kGap) \
  CUEMU_PLACED(cuemu_given_##NAME, "", kGap) CUEMU_PLACED(cuemu_const_##NAME, "", kGap)
#define CUEMU_VARIABLE(NAME, KIND) CUEMU_PLACED(NAME, #NAME, KIND)
