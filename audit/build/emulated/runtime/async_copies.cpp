// Asynchronous copies: what they bring is read when they start and written when their thread waits for them. Between the two
// the bytes keep what they held, and whoever touches them is reported.
#include "async_copies.h"
#include "block.h"
#include "checker.h"
#include "memory.h"
#include "stale.h"

#include <algorithm>
#include <cstring>

namespace cuemu {
namespace {

constexpr std::size_t kPiece = 16;
constexpr std::uint32_t kOpen = ~0u;  // not committed yet

struct Copy {
  std::uint32_t group;
  char* to;
  std::size_t bytes;
  const void* call_site;
  unsigned char content[kPiece];
};

std::vector<Copy> under_way[kMostThreads];  // each thread's own
std::size_t all_under_way = 0;
std::uint32_t groups[kMostThreads];
std::vector<std::uint8_t> copies_of_byte;  // of the arena

void count(const Copy& copy, int change) {
  std::uint64_t start = arena_place(copy.to);
  if (copies_of_byte.empty()) copies_of_byte.resize(kArenaBytes);
  for (std::uint64_t i = start; i < start + copy.bytes && i < kArenaBytes; i++)
    copies_of_byte[i] = static_cast<std::uint8_t>(copies_of_byte[i] + change);
}

void start(const Copy& copy) {
  CriticalSection section;
  under_way[block.current].push_back(copy);
  all_under_way++;
  count(copy, 1);
}

void finish(Copy& copy) {
  {
    CriticalSection section;
    count(copy, -1);
  }
  if (checking) check_access(copy.to, copy.bytes, kWrite, copy.call_site);
  std::memcpy(copy.to, copy.content, copy.bytes);
  copy.bytes = 0;
}

// One piece of at most 16 bytes; `kept` of them from memory, zeros behind.
void copy_piece(char* to, const char* from, std::size_t kept, std::size_t bytes, const void* call_site) {
  Copy copy = {kOpen, to, bytes, call_site, {}};
  if (hides) put_back();
  if (kept && checking) check_access(from, kept, kRead, call_site);
  if (kept) std::memcpy(copy.content, from, kept);
  if (device.in_kernel && cuemu_is_shared(to)) return start(copy);
  if (checking) check_access(to, bytes, kWrite, call_site);
  std::memcpy(to, copy.content, bytes);
}

}  // namespace

bool is_being_copied(std::uint64_t offset, std::size_t bytes) {
  if (!all_under_way) return false;
  std::uint64_t place = arena_place(region.base + offset), end = std::min<std::uint64_t>(place + bytes, kArenaBytes);
  for (; place < end; place++)
    if (copies_of_byte[place]) return true;
  return false;
}

void forget_async_copies() {
  for (std::vector<Copy>& own : under_way) {
    if (!all_under_way) break;
    for (Copy& copy : own)
      if (copy.bytes) count(copy, -1);
    all_under_way -= own.size();
    own.clear();
  }
  std::fill_n(groups, kMostThreads, 0u);
}

}  // namespace cuemu

using namespace cuemu;

CUEMU_EXPORT void cuemu_async_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, std::size_t alignment) {
  const void* call_site = __builtin_return_address(0);
  check_alignment(to, alignment, call_site);
  check_alignment(from, alignment, call_site);
  for (std::size_t i = 0; i < bytes + zeros; i += kPiece) {
    std::size_t piece = std::min(kPiece, bytes + zeros - i), kept = i < bytes ? std::min(piece, bytes - i) : 0;
    copy_piece(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, kept, piece, call_site);
  }
}

CUEMU_EXPORT void cuemu_async_commit() {
  if (!device.in_kernel) return;
  for (Copy& copy : under_way[block.current])
    if (copy.group == kOpen) copy.group = groups[block.current];
  groups[block.current]++;
}

CUEMU_EXPORT void cuemu_async_wait(std::size_t left) {
  if (!device.in_kernel) return;
  std::vector<Copy>& own = under_way[block.current];
  for (Copy& copy : own)
    if (copy.bytes && copy.group != kOpen && copy.group + left < groups[block.current]) finish(copy);
  CriticalSection section;
  all_under_way -= std::erase_if(own, [](const Copy& copy) { return !copy.bytes; });
}
