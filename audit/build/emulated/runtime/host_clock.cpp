// The clocks of a claim's host code: the linker sends its readings here (`-Wl,--wrap`). Calls are slow on this device; where the
// settings say so, time goes on by a tick a reading and by what is slept, so that calls seem to follow one another at once.
#include "device.h"

#include <chrono>
#include <ctime>
#include <sys/time.h>
#include <unistd.h>

using namespace cuemu;

namespace {

constexpr std::int64_t kSecond = 1000000000, kTick = 100;  // nanoseconds
std::int64_t passed = 0;

std::int64_t nanoseconds(clockid_t clock) {
  static std::int64_t began[2] = {-1, -1};
  timespec real;
  clock_gettime(clock, &real);
  std::int64_t now = real.tv_sec * kSecond + real.tv_nsec;
  if (!device.settings.still_clock) return now;
  std::int64_t& start = began[clock != CLOCK_REALTIME];
  if (start < 0) start = now - passed;
  return start + (passed += kTick);
}

timespec reading(clockid_t clock) {
  std::int64_t now = nanoseconds(clock);
  return {now / kSecond, now % kSecond};
}

}  // namespace

CUEMU_EXPORT int __wrap_clock_gettime(clockid_t clock, timespec* to) { return *to = reading(clock), 0; }
CUEMU_EXPORT int __wrap_gettimeofday(timeval* to, void*) {
  timespec now = reading(CLOCK_REALTIME);
  return *to = {now.tv_sec, now.tv_nsec / 1000}, 0;
}
CUEMU_EXPORT time_t __wrap_time(time_t* to) {
  time_t now = reading(CLOCK_REALTIME).tv_sec;
  return to ? *to = now : now;
}
CUEMU_EXPORT clock_t __wrap_clock() { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) / (kSecond / CLOCKS_PER_SEC); }
CUEMU_EXPORT int __wrap_nanosleep(const timespec* length, timespec* left) {
  passed += length->tv_sec * kSecond + length->tv_nsec;
  return nanosleep(length, left);
}
CUEMU_EXPORT std::chrono::steady_clock::time_point __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nanoseconds(CLOCK_MONOTONIC)));
}
CUEMU_EXPORT std::chrono::system_clock::time_point __wrap__ZNSt6chrono3_V212system_clock3nowEv() {
  return std::chrono::system_clock::time_point(std::chrono::nanoseconds(nanoseconds(CLOCK_REALTIME)));
}
