// What audit/build/emulated/runtime.py calls through ctypes. No name of it is exported: a table leaves once.
// Lists leave as JSON text, valid until the next such call.
#include "control.h"
#include "checker.h"
#include "memory.h"
#include "programs.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>

namespace cuemu {
namespace {

constexpr std::int64_t kLargestTold = std::int64_t{1} << 53;  // every reader of JSON knows these integers

std::string text;

std::string quoted(const std::string& value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    out += c;
  }
  return out + "\"";
}

std::string list_of(uint3 v) {
  return "[" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + "]";
}

std::string integers(const std::vector<LaunchArgument>& arguments) {
  std::string out = "[";
  for (const LaunchArgument& argument : arguments) {
    if (out.size() > 1) out += ",";
    bool told = argument.known && argument.value >= -kLargestTold && argument.value <= kLargestTold;
    out += told ? std::to_string(argument.value) : "null";
  }
  return out + "]";
}

std::string json(const LaunchRecord& r) {
  std::uint64_t threads = std::uint64_t{r.grid.x} * r.grid.y * r.grid.z * r.block.x * r.block.y * r.block.z;
  return "{\"kernel\":" + quoted(r.kernel) + ",\"line\":" + std::to_string(r.line) + ",\"grid\":" + list_of(r.grid) +
         ",\"block\":" + (r.programs ? "[]" : list_of(r.block)) + ",\"dynamic_shared_bytes\":" + std::to_string(r.dynamic_shared_bytes) +
         ",\"static_shared_bytes\":" + std::to_string(r.static_shared_bytes) + ",\"threads\":" + (r.programs ? "null" : std::to_string(threads)) +
         ",\"arguments\":" + integers(r.arguments) +
         ",\"refused\":" + (r.refused.empty() ? "null" : quoted(r.refused)) + ",\"blocks_run\":" +
         std::to_string(r.blocks_run) + ",\"seconds\":" + std::to_string(r.seconds) + ",\"atomics\":" + (r.atomics ? "true" : "false") + "}";
}

std::string json(const Report& r) {
  return "{\"kind\":" + quoted(r.kind) + ",\"message\":" + quoted(r.message) + ",\"line\":" +
         (r.line > 0 ? std::to_string(r.line) : "null") + ",\"library_offset\":" +
         (r.offset >= 0 ? std::to_string(r.offset) : "null") + ",\"kernel\":" + quoted(r.kernel) +
         ",\"count\":" + std::to_string(r.count) + "}";
}

template <class Record>
const char* list(const std::vector<Record>& records) {
  text = "[";
  for (const Record& record : records) text += (text.size() > 1 ? "," : "") + json(record);
  text += "]";
  return text.c_str();
}

void configure(int allocator, int thread_order, int block_order, std::uint32_t seed, int checker, int compute_capability,
               std::uint32_t shared_word, std::uint32_t lane_word, double kernel_seconds, std::int64_t blocks, int sparing,
               int stale, int still_clock, int hides_races) {
  device.settings = {static_cast<Mode>(allocator), static_cast<Order>(thread_order), static_cast<Order>(block_order),
                     seed, checker, compute_capability, shared_word, lane_word, kernel_seconds, blocks,
                     sparing != 0, static_cast<Stale>(stale), still_clock != 0, hides_races != 0};
  open_side_arrays();
}

void reset() {
  device.launches.clear();
  device.reports.clear();
  forget_writes();
}

const char* launches() { return list(device.launches); }
const char* reports() { return list(device.reports); }

void recover() {
  if (device.sticky_error) device.last_error = kSuccess;
  device.sticky_error = kSuccess;
}

template <class Function>
const void* address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace
}  // namespace cuemu

using namespace cuemu;

// The functions in the order of `CONTROLS` in runtime.py, for the first caller: it comes before claimed code is loaded.
CUEMU_EXPORT bool cuemu_controls(const void** table) {
  static bool given = false;
  if (std::exchange(given, true)) return false;
  const void* all[] = {address(install_allocator), address(configure), address(reset), address(recover), address(launches),
                       address(reports), address(write_counts), address(blank_unwritten), address(freed_block), address(begin_programs),
                       address(begin_program), address(end_programs), address(touch)};
  std::copy(std::begin(all), std::end(all), table);
  return true;
}

CUEMU_EXPORT std::uint64_t cuemu_clock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}
