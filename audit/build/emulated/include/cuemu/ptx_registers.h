// Registers and operands of inline PTX. A register holds up to 64 bits; the instruction says how many of them it means.
#pragma once
#include "cuemu/device.h"
#include "cuemu/half.h"
#include "cuemu/wmma.h"

namespace cuemu::ptx {

using Register = std::uint64_t;
constexpr Register unwritten = 0xfff5fff5fff5fff5ull;

// The modifiers that change what an instruction does.
enum Word {
  generic_, global_, shared_,
  weak_, volatile_, relaxed_, acquire_, release_, acq_rel_, mmio_,
  add_, min_, max_, and_, or_, xor_, exch_, inc_, dec_,
  ca_, cg_,
  up_, down_, bfly_, idx_,
  any_, all_, uni_, ballot_,
  cta_, gl_, gpu_, sys_,
  unstated_, rn_, rz_, rm_, rp_, rni_, rzi_, rmi_, rpi_, rna_,
  lo_, hi_, wide_,
  eq_, ne_, lt_, le_, gt_, ge_, ls_, hs_, equ_, neu_, ltu_, leu_, gtu_, geu_, num_, nan_,
  wrap_, clamp_, l_, r_,
};

// A number in the text of an instruction, or an operand that has to be one.
template <unsigned long long Value>
struct Constant {
  constexpr operator Register() const { return Value; }
};

// What is written to `_`.
struct Sink {
  Register held;
};

// The lower bits as a number of that type, and a number as bits; of a signed one all upper bits are its sign.
template <class T>
CUEMU_INLINED T as(Register bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <>
CUEMU_INLINED bool as<bool>(Register bits) {
  return bits & 1;
}
template <class T>
CUEMU_INLINED Register bits_of(T value) {
  if constexpr (std::is_integral_v<T>) return static_cast<Register>(value);
  Register bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}

// Several registers in curly brackets, to read or to write.
template <int N>
struct Several {
  Register value[N];
  Register* place[N];
};
CUEMU_INLINED Register* place_of(Register& one) { return &one; }
template <unsigned long long Value>
CUEMU_INLINED Register* place_of(Constant<Value>) {
  return nullptr;
}
CUEMU_INLINED Register* place_of(Register&& one) { return &one; }
template <class... Each>
CUEMU_INLINED Several<sizeof...(Each)> several(Each&&... each) {
  return {{static_cast<Register>(each)...}, {place_of(static_cast<Each&&>(each))...}};
}

// An operand of the statement to a register and back. A compiler for a GPU takes these types and no others.
template <char Constraint, class T>
constexpr bool fits =
    Constraint == 'f' ? std::is_same_v<T, float> : Constraint == 'd' ? std::is_same_v<T, double>
    : (std::is_integral_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>) &&
          sizeof(T) == (Constraint == 'h' ? 2 : Constraint == 'r' ? 4 : 8);
template <char Constraint, class T>
CUEMU_INLINED Register taken(T value) {
  static_assert(fits<Constraint, T>, "asm operand type size does not match type/size implied by its constraint");
  Register bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <char Constraint, class T>
CUEMU_INLINED void give(T& place, Register bits) {
  using Plain = std::remove_cv_t<T>;
  static_assert(fits<Constraint, Plain>, "asm operand type size does not match type/size implied by its constraint");
  place = as<Plain>(bits);
}

}  // namespace cuemu::ptx
