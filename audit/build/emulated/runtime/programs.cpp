// Launches of kernels that Triton's interpreter runs: a program of the grid counts as a block of one thread.
#include "programs.h"
#include "checker.h"
#include "faults.h"
#include "limits.h"
#include "memory.h"
#include "part.h"
#include "pending.h"
#include "races.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

extern "C" void cuemu_fence();

namespace cuemu {
namespace {

constexpr std::uint64_t kPage = 1u << 12;

std::string kernel_name;
LaunchRequest launch = {};  // without a body: program counters in reports are lines of the source

// Whether a processor can touch those bytes: those of a block of the device, freed or not, or memory of the host.
bool is_mapped(std::uint64_t address, std::size_t bytes) {
  std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(region.base);
  if (offset + 2 * region.size < 7 * region.size) return offset < region.used && offset + bytes <= region.used;
  unsigned char resident;
  return mincore(reinterpret_cast<void*>(address & ~(kPage - 1)), 1, &resident) == 0 || errno != ENOMEM;
}

}  // namespace

bool begin_programs(const char* kernel, std::uint32_t line, std::uint32_t x, std::uint32_t y, std::uint32_t z,
                    std::uint64_t count) {
  kernel_name = kernel;
  launch.kernel = kernel_name.c_str();
  launch.grid = {x, y, z};
  launch.block = {1, 1, 1};
  LaunchRecord& record = device.launches.emplace_back();
  record = {kernel_name, static_cast<int>(line), launch.grid, launch.block};
  record.programs = true;
  if (Refusal refusal = refusal_of(launch); refusal.error) {
    record.refused = refusal.why;
    return false;
  }
  record.blocks_run = count;
  device.running = &launch;
  if (notes_writes()) forget_writes();
  begin_launch_check();
  record.seconds = -processor_seconds();
  return true;
}

void begin_program() {
  if (checking) settle_pending();
  begin_block_check();
}

void end_programs(bool kept) {
  device.launches.back().seconds += processor_seconds();
  end_launch_check();
  device.running = nullptr;
  if (!kept) device.launches.pop_back();
}

void touch(const std::uint64_t* addresses, std::uint64_t count, std::uint64_t bytes, unsigned access, std::uint32_t line,
           const char* values, std::uint8_t* mapped) {
  auto* place = reinterpret_cast<const char*>(std::uintptr_t{line});
  if (checking && access & kAtomic) note_atomic(), cuemu_fence();  // as where nothing else is said: acquire and release
  if (access & kAtomic) device.launches.back().atomics = true;
  for (std::uint64_t i = 0; i < count; i++) {
    auto* address = reinterpret_cast<char*>(addresses[i]);
    mapped[i] = is_mapped(addresses[i], bytes);
    if (!mapped[i]) {
      const char* verb = access & (kWrite | kAtomic) ? "writes " : "reads ";
      report_at("illegal-address", verb + std::to_string(bytes) + " bytes " + "outside every block of device memory", place);
      continue;
    }
    if (checking) check_access(address, bytes, access, place + 1);  // it takes the address behind a call
    if (values) std::memcpy(address, values + i * bytes, bytes);
    if (access & (kWrite | kAtomic) && notes_writes()) note_written(address, bytes);
  }
}

}  // namespace cuemu
