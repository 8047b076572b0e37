// The child's end of the channel: the only code that may speak for a session. Calls the kernel directly, so that no
// name which claimed code can put in the place of another stands between it and the trusted parent.
//
// seal_hold runs the session: it asks for the next event, and what was handed meanwhile goes to the parent once that
// returns. Claimed code runs below this frame and nowhere else; whatever it calls here is then noticed by `inside`. The
// key of a message exists from the parent's grant until the message is sent, within `tell`, which is always entered
// from the same place with the same stack: the parent looks where a process waits that asks for one.
//
// Messages are datagrams of one machine, numbers in its own byte order. Layouts: audit/run/channel.py.

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace {

constexpr size_t kChunk = 48 << 10;
constexpr size_t kMostBytes = 64 << 20;
constexpr size_t kPage = 64 << 10;  // a page on every machine
constexpr int kKey = 32;
constexpr int kTag = 32;
enum What : uint8_t { kEvent = 1, kServed = 2, kBegun = 4 };
enum Next { kRaised = -1, kOver = 0, kMore = 1 };

#if defined(__x86_64__)
__attribute__((always_inline)) inline long kernel(long number, long a, long b, long c, long d = 0, long e = 0,
                                                  long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
__attribute__((always_inline)) inline long kernel(long number, long a, long b, long c, long d = 0, long e = 0,
                                                  long f = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "the channel knows the system calls of x86_64 and aarch64 only"
#endif

// BLAKE2b as RFC 7693 has it.
class Blake2b {
 public:
  Blake2b(const uint8_t* key, size_t key_length, size_t digest_length) {
    for (int i = 0; i < 8; i++) state_[i] = kInitial[i];
    state_[0] ^= 0x01010000 ^ (key_length << 8) ^ digest_length;
    if (key_length) {
      memcpy(buffer_, key, key_length);
      held_ = sizeof buffer_;
    }
  }
  ~Blake2b() {
    wipe(state_, sizeof state_);
    wipe(buffer_, sizeof buffer_);
  }
  void add(const void* data, size_t length) {
    const uint8_t* next = static_cast<const uint8_t*>(data);
    while (length) {
      if (held_ == sizeof buffer_) {
        count_ += held_;
        compress(buffer_, false);
        held_ = 0;
      }
      for (; held_ == 0 && length > sizeof buffer_; next += sizeof buffer_, length -= sizeof buffer_) {
        count_ += sizeof buffer_;
        compress(next, false);
      }
      size_t part = sizeof buffer_ - held_ < length ? sizeof buffer_ - held_ : length;
      memcpy(buffer_ + held_, next, part);
      held_ += part;
      next += part;
      length -= part;
    }
  }
  void end(uint8_t* digest, size_t length) {
    count_ += held_;
    memset(buffer_ + held_, 0, sizeof buffer_ - held_);
    compress(buffer_, true);
    memcpy(digest, state_, length);
  }
  static void wipe(void* memory, size_t length) {
    memset(memory, 0, length);
    asm volatile("" : : "r"(memory) : "memory");
  }

 private:
  static constexpr uint64_t kInitial[8] = {
      0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
      0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  static constexpr uint8_t kOrder[10][16] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
  static uint64_t turned(uint64_t x, int by) { return (x >> by) | (x << (64 - by)); }
  __attribute__((noinline)) void compress(const uint8_t* block, bool last) {
    uint64_t m[16], v[16];
    memcpy(m, block, sizeof m);
    for (int i = 0; i < 8; i++) v[i] = state_[i], v[i + 8] = kInitial[i];
    v[12] ^= count_;
    if (last) v[14] = ~v[14];
    auto mix = [&](int a, int b, int c, int d, uint64_t x, uint64_t y) {
      v[a] += v[b] + x, v[d] = turned(v[d] ^ v[a], 32);
      v[c] += v[d], v[b] = turned(v[b] ^ v[c], 24);
      v[a] += v[b] + y, v[d] = turned(v[d] ^ v[a], 16);
      v[c] += v[d], v[b] = turned(v[b] ^ v[c], 63);
    };
#pragma GCC unroll 12
    for (int round = 0; round < 12; round++) {
      const uint8_t* o = kOrder[round % 10];
      mix(0, 4, 8, 12, m[o[0]], m[o[1]]), mix(1, 5, 9, 13, m[o[2]], m[o[3]]);
      mix(2, 6, 10, 14, m[o[4]], m[o[5]]), mix(3, 7, 11, 15, m[o[6]], m[o[7]]);
      mix(0, 5, 10, 15, m[o[8]], m[o[9]]), mix(1, 6, 11, 12, m[o[10]], m[o[11]]);
      mix(2, 7, 8, 13, m[o[12]], m[o[13]]), mix(3, 4, 9, 14, m[o[14]], m[o[15]]);
    }
    for (int i = 0; i < 8; i++) state_[i] ^= v[i] ^ v[i + 8];
  }
  uint64_t state_[8];
  uint64_t count_ = 0;
  uint8_t buffer_[128] = {};
  size_t held_ = 0;
};

struct Grant {
  uint8_t nonce[16];
  uint64_t sequence;
  uint8_t key[kKey];
  uint8_t secret[kKey];
};

struct Ask {
  uint8_t kind = 'A';
  uint8_t reserved[7] = {};
  uint64_t sequence;
};

struct Part {
  uint8_t kind = 'D';
  uint8_t reserved[7] = {};
  uint64_t sequence;
  uint8_t bytes[kChunk];
};

struct Message {
  uint8_t kind = 'M';
  uint8_t what;
  uint8_t reserved[6] = {};
  uint64_t sequence;
  uint8_t nonce[16];
  uint64_t length;
  uint8_t tag[kTag];
};

int channel = -1;
long leader = 0;
bool inside = false;
uint64_t sequence = 0;
uint8_t* secret = nullptr;  // of this process, on a page that nothing may read but between grant and message
bool have_secret = false;
uint8_t* payload = nullptr;
size_t payload_length = 0;
int handed = 0;

bool alarm(char reason) {
  uint8_t message[2] = {'!', static_cast<uint8_t>(reason)};
  kernel(SYS_sendto, channel, reinterpret_cast<long>(message), sizeof message, 0);
  return false;
}

bool mine() { return kernel(SYS_gettid, 0, 0, 0) == leader; }

bool send(const void* message, size_t length) {
  long sent;
  do sent = kernel(SYS_sendto, channel, reinterpret_cast<long>(message), static_cast<long>(length), 0x4000);
  while (sent == -EINTR);
  return sent == static_cast<long>(length);
}

bool send_parts() {
  static Part part;
  part.sequence = sequence;
  for (size_t at = 0; at < payload_length; at += kChunk) {
    size_t length = payload_length - at < kChunk ? payload_length - at : kChunk;
    memcpy(part.bytes, payload + at, length);
    if (!send(&part, offsetof(Part, bytes) + length)) return false;
  }
  return true;
}

// Overwrites the stack below its caller, where a digest's working state has lain.
__attribute__((noinline)) void scrub() {
  uint8_t below[2048];
  Blake2b::wipe(below, sizeof below);
}

__attribute__((noinline)) bool tell(What what) {
  Ask ask;
  Grant grant;
  ask.sequence = sequence;
  if (!send(&ask, sizeof ask)) return false;
  long got;
  do got = kernel(SYS_recvfrom, channel, reinterpret_cast<long>(&grant), sizeof grant, 0);
  while (got == -EINTR);
  if (got != static_cast<long>(sizeof grant) || grant.sequence != sequence) return alarm('g');
  kernel(SYS_mprotect, reinterpret_cast<long>(secret), kPage, PROT_READ | PROT_WRITE);
  if (!have_secret) memcpy(secret, grant.secret, kKey);
  have_secret = true;
  Message message;
  message.what = what;
  message.sequence = sequence;
  memcpy(message.nonce, grant.nonce, sizeof message.nonce);
  message.length = payload_length;
  {
    Blake2b tag(grant.key, kKey, kTag);
    tag.add(secret, kKey);
    tag.add(&message, offsetof(Message, tag));
    tag.add(payload, payload_length);
    tag.end(message.tag, kTag);
  }
  kernel(SYS_mprotect, reinterpret_cast<long>(secret), kPage, PROT_NONE);
  Blake2b::wipe(&grant, sizeof grant);
  scrub();
  bool sent = send_parts() && send(&message, sizeof message);
  sequence++;
  return sent;
}

void drop_payload() {
  free(payload);
  payload = nullptr;
  payload_length = 0;
  handed = 0;
}

}  // namespace

#define OFFERED extern "C" __attribute__((visibility("default")))

// Takes the socket to the parent and moves it to a descriptor not under `least`. 0, or the error's number.
OFFERED int seal_open(int descriptor, int least) {
  channel = static_cast<int>(kernel(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, least));
  if (channel < 0) return -channel;
  kernel(SYS_close, descriptor, 0, 0);
  long page = kernel(SYS_mmap, 0, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page < 0 && page > -4096) return static_cast<int>(-page);
  secret = reinterpret_cast<uint8_t*>(page);
  kernel(SYS_madvise, page, kPage, MADV_DONTFORK);
  kernel(SYS_madvise, page, kPage, MADV_DONTDUMP);
  leader = kernel(SYS_gettid, 0, 0, 0);
  return 0;
}

// One session: tells what each call of `next` handed, until it is over or raised. 0 over, 1 raised, 2 not to be told.
OFFERED int seal_hold(int (*next)()) {
  if (inside || !mine()) return alarm('h') + 2;
  inside = true;
  sequence = 0;
  drop_payload();
  int result = 2;
  if (tell(kBegun)) {
    for (;;) {
      int more = next();
      if (more == kMore && handed == 1) {
        if (!tell(kEvent)) break;
        drop_payload();
      } else if (more == kOver && handed == 0) {
        result = tell(kServed) ? 0 : 2;
        break;
      } else {
        result = more == kRaised ? 1 : alarm('n') + 2;
        break;
      }
    }
  }
  drop_payload();
  inside = false;
  return result;
}

// Takes the bytes of the event that `next` is about to return. Called twice for one event, or by another thread, it
// raises the alarm.
OFFERED int seal_hand(const void* bytes, size_t length) {
  if (!inside || !mine() || handed || length > kMostBytes) return alarm('t') + 1;
  payload = static_cast<uint8_t*>(malloc(length ? length : 1));
  if (!payload) return 1;
  memcpy(payload, bytes, length);
  payload_length = length;
  handed = 1;
  return 0;
}
