// What lanes and blocks do together in inline PTX.
#pragma once
#include "cuemu/ptx_registers.h"

namespace cuemu::ptx {

// The lane that a shuffle reads, from PTX's two fields of `bounds`; the predicate says whether it lies in the segment.
template <Word Lanes>
inline unsigned source_lane(unsigned operand, unsigned bounds, bool& inside) {
  unsigned lane = cuemu_lane(), by = operand & 31, segment = bounds >> 8 & 31;
  unsigned last = (lane & segment) | (bounds & 31 & ~segment), source;
  if constexpr (Lanes == up_) source = lane - by, inside = static_cast<int>(source) >= static_cast<int>(last);
  else if constexpr (Lanes == down_) source = lane + by, inside = source <= last;
  else if constexpr (Lanes == bfly_) source = lane ^ by, inside = source <= last;
  else source = (lane & segment) | (by & ~segment), inside = source <= last;
  return inside ? source : lane;
}
template <Word Lanes>
inline void shuffle(Register& to, Register& in_segment, Register value, Register by, Register bounds, Register mask,
                    int line = __builtin_LINE()) {
  bool inside;
  unsigned source = source_lane<Lanes>(as<unsigned>(by), as<unsigned>(bounds), inside);
  to = cuemu::shuffle(as<unsigned>(mask), as<unsigned>(value), source, line);
  in_segment = inside;
}
template <Word Lanes>
inline void shuffle(Register& to, Register value, Register by, Register bounds, Register mask, int line = __builtin_LINE()) {
  Register unused;
  shuffle<Lanes>(to, unused, value, by, bounds, mask, line);
}

template <Word Vote>
inline void vote(Register& to, Register predicate, Register mask, int line = __builtin_LINE()) {
  unsigned lanes = as<unsigned>(mask), yes = ballot(lanes, predicate & 1, line);
  if constexpr (Vote == ballot_) to = yes;
  else if constexpr (Vote == any_) to = yes != 0;
  else if constexpr (Vote == all_) to = yes == lanes;
  else to = yes == 0 || yes == lanes;
}
template <class T>
inline void match_any(Register& to, Register value, Register mask, int line = __builtin_LINE()) {
  to = matching_lanes(as<unsigned>(mask), as<T>(value), line);
}
template <Word Reduced, class T>
inline void redux(Register& to, Register value, Register mask, int line = __builtin_LINE()) {
  to = bits_of(reduce(as<unsigned>(mask), as<T>(value), [](T a, T b) {
    if constexpr (Reduced == add_) return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
    else if constexpr (Reduced == min_) return b < a ? b : a;
    else if constexpr (Reduced == max_) return a < b ? b : a;
    else if constexpr (Reduced == and_) return a & b;
    else if constexpr (Reduced == or_) return a | b;
    else return a ^ b;
  }, line));
}
CUEMU_UNCHECKED inline void activemask(Register& to) { to = cuemu_converged_mask(__builtin_return_address(0)); }

inline void block_barrier(Register, int line = __builtin_LINE()) { cuemu_block_barrier(line, 0); }
inline void warp_barrier(Register mask, int line = __builtin_LINE()) { __syncwarp(as<unsigned>(mask), line); }
template <Word Fenced>
inline void fence() {
  if constexpr (Fenced != cta_) cuemu_fence();
}
inline void sleep(Register) { cuemu_spin(); }
inline void trap(int line = __builtin_LINE()) { __trap(line); }

}  // namespace cuemu::ptx
