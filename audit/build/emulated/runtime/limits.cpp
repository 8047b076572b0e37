#include "limits.h"
#include "part.h"

#include <algorithm>

namespace cuemu {
namespace {

constexpr std::uint64_t kMostThreadsInAll = 1ull << 28;
constexpr std::size_t kStaticSharedLimit = 48u << 10;
constexpr std::size_t kLargestOptIn = 232448;  // compute capability 9.0

std::string triple(uint3 v) {
  return "(" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + ")";
}

Refusal refused(const std::string& why, int error) {
  return {"launch-refused", "the GPU refuses this launch: " + why, error};
}

std::size_t limit_opt_in() {
  switch (device.settings.compute_capability) {
    case 70: return 98304;
    case 75: return 65536;
    case 80: case 87: return 166912;
    case 86: case 89: case 120: return 101376;
    default: return device.settings.compute_capability >= 90 ? 232448 : 49152;
  }
}

// A size that this GPU can never have but a newer one can tells nothing about the kernel, where the host code asks for
// that much or for the limit. Elsewhere every GPU refuses what the kernel was not allowed.
Refusal too_much_shared(std::size_t bytes, bool asked_for, const std::string& why) {
  if (bytes <= limit_opt_in() || bytes > kLargestOptIn || !asked_for) return refused(why, kInvalidValue);
  return {"needs-newer-gpu", why + "; a newer GPU allows that much", kInvalidValue};
}

}  // namespace

Refusal refusal_of(const LaunchRequest& request) {
  uint3 grid = request.grid, block = request.block;
  std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (!block.x || !block.y || !block.z) return refused("block " + triple(block) + " has no threads", kInvalidConfiguration);
  if (!grid.x || !grid.y || !grid.z) return refused("grid " + triple(grid) + " has no blocks", kInvalidConfiguration);
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || threads > 1024)
    return refused("block " + triple(block) + " has " + std::to_string(threads) +
                   " threads; at most 1,024 in all and 64 along z are allowed", kInvalidConfiguration);
  if (grid.x > 2147483647u || grid.y > 65535u || grid.z > 65535u)
    return refused("grid " + triple(grid) + " is over (2147483647, 65535, 65535)", kInvalidConfiguration);
  if (request.dynamic_shared_bytes > device.allowed_dynamic_shared)
    return too_much_shared(request.dynamic_shared_bytes, request.dynamic_shared_bytes <= device.wanted_dynamic_shared,
                           std::to_string(request.dynamic_shared_bytes) + " bytes of dynamic shared memory asked for, " +
                               std::to_string(device.allowed_dynamic_shared) +
                               " allowed (cudaFuncSetAttribute raises this)");
  std::uint64_t blocks = blocks_to_run(request);
  if (blocks > kMostThreadsInAll / threads)
    return {"too-many-threads", std::to_string(blocks) + " blocks of " + std::to_string(threads) +
            " threads are more than the emulated device runs (2^28 threads); take a smaller shape", kSuccess};
  return {};
}

// The static part is known only when the first thread gets to its declarations. The attribute bounds the dynamic part
// alone: with it, both may have what the GPU has (seen on an H200).
void check_shared_total(std::size_t static_bytes) {
  std::size_t total = static_bytes + device.running->dynamic_shared_bytes;
  if (static_bytes > kStaticSharedLimit) {
    report("static-shared-too-large", std::to_string(static_bytes) + " bytes of static shared memory: nvcc allows 49,152",
           device.running->line);
    device.launches.back().refused = "static shared memory over 48 KiB does not compile for a GPU";
    end_launch(kInvalidValue);
  }
  std::size_t allowed = device.opted_in_shared ? limit_opt_in() : kStaticSharedLimit;
  if (total <= allowed) return;
  Refusal refusal = too_much_shared(total, device.opted_in_shared || device.wanted_dynamic_shared > kStaticSharedLimit,
                                    std::to_string(total) + " bytes of static and dynamic shared memory together, " +
                                        std::to_string(allowed) + " allowed");
  report(refusal.kind, refusal.why, device.running->line);
  device.launches.back().refused = refusal.why;
  end_launch(refusal.error);
}

}  // namespace cuemu

using namespace cuemu;

// Known only in the kernel, where a bound may be a template's parameter; the first thread gets no further.
CUEMU_EXPORT void cuemu_exceeded_bounds(unsigned most) {
  if (!device.in_kernel) return;
  uint3 block = device.running->block;
  Refusal refusal = refused("block " + triple(block) + " has " + std::to_string(block.x * block.y * block.z) +
                            " threads; __launch_bounds__ of the kernel allows " + std::to_string(most), kInvalidValue);
  report(refusal.kind, refusal.why, device.running->line);
  device.launches.back().refused = refusal.why;
  device.launches.back().blocks_run = 0;
  end_launch(refusal.error);
}

CUEMU_EXPORT std::size_t cuemu_shared_limit_opt_in() {
  device.wanted_dynamic_shared = kLargestOptIn;
  return limit_opt_in();
}

CUEMU_EXPORT bool cuemu_allow_dynamic_shared(std::size_t bytes) {
  device.wanted_dynamic_shared = std::max(device.wanted_dynamic_shared, bytes);
  if (bytes > limit_opt_in()) return false;
  device.opted_in_shared = true;
  if (bytes > device.allowed_dynamic_shared) device.allowed_dynamic_shared = bytes;
  return true;
}

CUEMU_EXPORT int cuemu_compute_capability() { return device.settings.compute_capability; }
