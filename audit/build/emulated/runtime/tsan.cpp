// The callbacks of -fsanitize=thread: the compiler calls them before each access, we check it. libtsan is never linked.
#include "block.h"
#include "checker.h"
#include "memory.h"
#include "part.h"
#include "stale.h"

#include <cstring>

using namespace cuemu;

#define CUEMU_CALL_SITE __builtin_return_address(0)

namespace {

// Old warp-synchronous code: the lanes of a warp do each volatile access of shared memory together.
void in_lockstep(const void* address, const void* call_site) {
  if (!device.in_kernel || !cuemu_is_shared(address) || block.size == 1) return;
  cuemu_converged_mask(call_site);
}

void see(const void* address, std::size_t bytes, unsigned access, const void* call_site) {
  if (hides) put_back();
  if (access & kWrite && notes_writes()) note_written(address, bytes);
  if (checking) check_access(address, bytes, access, call_site);
}

void see_volatile(void* address, std::size_t bytes, unsigned access, const void* call_site) {
  see(address, bytes, access, call_site);
  if (!gives_stale) return;
  if (access & kWrite) before_volatile_write(address, bytes);
  else before_volatile_read(address, bytes, call_site);
}

// In the order lockstep they do every access of shared and device memory together, as warps without reason to part do.
void tell(void* address, std::size_t bytes, unsigned access, const void* call_site) {
  std::uint64_t offset = static_cast<char*>(address) - region.base;
  bool own = offset < region.used || is_in_arena(offset);
  bool together = device.settings.thread_order == Order::lockstep && own && block.size > 1;
  if (together) cuemu_converged_mask(call_site);
  see(address, bytes, access, call_site);
}

}  // namespace

#define CUEMU_HEEDED(ACCESS) ((ACCESS) & kWrite ? heeded_writes : heeded)
#define CUEMU_PLAIN(NAME, BYTES, ACCESS)                                              \
  CUEMU_EXPORT void __tsan_##NAME(void* address) {                                    \
    if (__builtin_expect(CUEMU_HEEDED(ACCESS), 0)) tell(address, BYTES, ACCESS, CUEMU_CALL_SITE); \
  }
#define CUEMU_VOLATILE(NAME, BYTES, ACCESS)                                           \
  CUEMU_EXPORT void __tsan_volatile_##NAME(void* address) {                           \
    in_lockstep(address, CUEMU_CALL_SITE);                                            \
    if (CUEMU_HEEDED(ACCESS)) see_volatile(address, BYTES, ACCESS | kVolatile, CUEMU_CALL_SITE); \
  }
#define CUEMU_ACCESSES(BYTES)                      \
  CUEMU_PLAIN(read##BYTES, BYTES, kPlainLoad)           \
  CUEMU_PLAIN(write##BYTES, BYTES, kWrite)         \
  CUEMU_PLAIN(unaligned_read##BYTES, BYTES, kPlainLoad) \
  CUEMU_PLAIN(unaligned_write##BYTES, BYTES, kWrite) \
  CUEMU_VOLATILE(read##BYTES, BYTES, kRead)        \
  CUEMU_VOLATILE(write##BYTES, BYTES, kWrite)      \
  CUEMU_VOLATILE(unaligned_read##BYTES, BYTES, kRead) \
  CUEMU_VOLATILE(unaligned_write##BYTES, BYTES, kWrite)

CUEMU_ACCESSES(1)
CUEMU_ACCESSES(2)
CUEMU_ACCESSES(4)
CUEMU_ACCESSES(8)
CUEMU_ACCESSES(16)

CUEMU_EXPORT void __tsan_read_range(void* address, std::size_t bytes) {
  if (heeded) tell(address, bytes, kRead, CUEMU_CALL_SITE);
}
CUEMU_EXPORT void __tsan_write_range(void* address, std::size_t bytes) {
  if (heeded_writes) tell(address, bytes, kWrite, CUEMU_CALL_SITE);
}

// What copies and fills memory in a kernel's library: the linker sends its calls here (`-Wl,--wrap`), also those that the
// compiler makes of loops; the rewriter sends those that device code spells, which the compiler could replace by moves.
CUEMU_EXPORT void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  if (__builtin_expect(heeded_writes, 0) && bytes) {
    tell(const_cast<void*>(from), bytes, kRead, CUEMU_CALL_SITE);
    tell(to, bytes, kWrite, CUEMU_CALL_SITE);
  }
  return std::memcpy(to, from, bytes);
}
CUEMU_EXPORT void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  if (__builtin_expect(heeded_writes, 0) && bytes) {
    tell(const_cast<void*>(from), bytes, kRead, CUEMU_CALL_SITE);
    tell(to, bytes, kWrite, CUEMU_CALL_SITE);
  }
  return std::memmove(to, from, bytes);
}
CUEMU_EXPORT void* __wrap_memset(void* to, int value, std::size_t bytes) {
  if (__builtin_expect(heeded_writes, 0) && bytes) tell(to, bytes, kWrite, CUEMU_CALL_SITE);
  return std::memset(to, value, bytes);
}
CUEMU_EXPORT void __tsan_init() {}
CUEMU_EXPORT void __tsan_func_entry(void*) {}
CUEMU_EXPORT void __tsan_func_exit() {}
CUEMU_EXPORT void __tsan_vptr_update(void**, void*) {}
CUEMU_EXPORT void __tsan_vptr_read(void**) {}
