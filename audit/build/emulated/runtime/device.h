// What the host side of the emulated device remembers: settings, reports, launches, CUDA's error state.
#pragma once
#include "cuemu/abi.h"

#include <csetjmp>
#include <csignal>
#include <string>
#include <vector>

#define CUEMU_EXPORT extern "C" __attribute__((visibility("default")))

namespace cuemu {

enum class Order : int { forward, reverse, random, lockstep };
enum class Stale : int { none, all, alternate };  // which volatile reads give an old value where they may, see stale.h
enum class Mode : int { plain, poison_nan, poison_number, zero, reuse };

constexpr std::uint32_t kPoisonNan = 0xFFF5FFF5u;
constexpr std::uint32_t kPoisonNumber = 0xA5A5A5A5u;
constexpr std::uint32_t kFreshShared = 0xFFF3FFF3u;  // a NaN as well, and no pattern of device memory

struct Settings {
  Mode allocator = Mode::plain;
  Order thread_order = Order::forward;
  Order block_order = Order::forward;
  std::uint32_t seed = 0;
  int checker = 0;
  int compute_capability = 75;
  std::uint32_t shared_word = kFreshShared;  // what fresh shared memory holds
  std::uint32_t lane_word = kPoisonNan;      // what a shuffle gets from a lane that takes no part
  double kernel_seconds = 20.0;
  std::int64_t blocks = -1;                  // so many of each grid are run, drawn by the seed; -1: all
  bool sparing = false;                      // of grids of few threads too; else those are run whole
  Stale stale = Stale::none;
  bool still_clock = false;                  // of the claim's host code, see host_clock.cpp
  bool hides_races = false;                  // a read that races with a write gets `shared_word`, see races.cpp
};

struct LaunchRecord {
  std::string kernel;
  int line;
  uint3 grid, block;
  std::size_t dynamic_shared_bytes;
  std::size_t static_shared_bytes;
  std::string refused;  // empty: it ran
  std::uint64_t blocks_run = 0;
  double seconds = 0.0;  // processor time of these blocks
  bool atomics = false;  // its threads did atomic operations
  std::vector<LaunchArgument> arguments;
  bool programs = false;  // of a kernel that an interpreter runs: a block of it has no threads
};

struct Report {
  std::string kind, message, kernel;
  int line;              // 0: unknown, see offset
  std::int64_t offset;   // into the kernel's library, -1: unknown
  std::uint64_t count;
};

// Operations that cuemu_rounded_float and its relations know, see include/cuemu/rounding.h.
enum class Rounded : int { add, subtract, multiply, divide, root, multiply_add };

// CUDA's numbers for what a launch can end in.
enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidConfiguration = 9,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kAssert = 710,
  kMisalignedAddress = 716,
  kLaunchFailure = 719,
};

struct Device {
  Settings settings;
  std::vector<LaunchRecord> launches;
  std::vector<Report> reports;
  const LaunchRequest* running = nullptr;
  int last_error = kSuccess;
  int sticky_error = kSuccess;
  std::size_t allowed_dynamic_shared = 48u << 10, wanted_dynamic_shared = 48u << 10;
  bool opted_in_shared = false;  // to more shared memory than 48 KiB in all, by an attribute of any size
  volatile std::sig_atomic_t in_kernel = 0;
  volatile std::sig_atomic_t critical = 0;  // above 0: a heap lock may be held, the time limit must wait
  sigjmp_buf escape;
};

extern Device device;

// While one lives, the time limit does not interrupt (heap allocation inside a kernel's run).
struct CriticalSection {
  CriticalSection() { device.critical = device.critical + 1; }
  ~CriticalSection() { device.critical = device.critical - 1; }
};

void report(const char* kind, const std::string& message, int line);
void report_at(const char* kind, const std::string& message, const void* program_counter);
// As report_at; where the instruction is not the kernel's own, the kernel's nearest call on the stack counts.
void report_fault(const char* kind, const std::string& message, const void* program_counter);
void prepare_fault_reports();
[[noreturn]] void end_launch(int error);

}  // namespace cuemu
