// Where the linker has put the variables of the device. It decides what lies between two of them, so that an access counts as
// out of bounds only where it ends in a gap, which has no other use.
#include "variables.h"
#include "checker.h"
#include "device.h"

#include <algorithm>

namespace cuemu {

const char* lowest_variable = nullptr;
std::size_t bytes_of_variables = 0;

namespace {

struct Placed {
  const char* start;
  std::size_t bytes;
  std::string name;
  VariableKind kind;
  bool shown = false;  // host code has asked for its address, by which a kernel may write a constant too
};

std::vector<Placed> placed;  // by address

std::vector<Placed>::iterator behind(const char* address) {
  return std::upper_bound(placed.begin(), placed.end(), address, [](const char* at, const Placed& one) { return at < one.start; });
}

// The variable whose gap this is.
const Placed* owner_of(std::vector<Placed>::iterator gap) {
  while (gap != placed.begin())
    if ((--gap)->kind != VariableKind::kGap) return &*gap;
  return nullptr;
}

void report_outside(const Placed* variable, std::size_t bytes, bool write, const void* program_counter) {
  std::string message = std::string(write ? "writes " : "reads ") + std::to_string(bytes) + " bytes ";
  if (!variable) message += "outside every variable of the device";
  else message += "past the end of " + variable->name + (variable->kind == VariableKind::kConstant ? ", a __constant__" : ", a __device__") +
                  " variable of " + std::to_string(variable->bytes) + " bytes";
  report_at(write ? "out-of-bounds-write" : "out-of-bounds-read", message, program_counter);
}

}  // namespace

void check_variable(const char* address, std::size_t bytes, unsigned access, const void* program_counter) {
  auto found = behind(address) - 1;
  bool write = access & (kWrite | kAtomic), gap = found->kind == VariableKind::kGap;
  std::size_t place = address - found->start;
  if (place >= found->bytes) return;  // the library's own
  if (gap || place + bytes > found->bytes) return report_outside(gap ? owner_of(found) : &*found, bytes, write, program_counter);
  if (write && found->kind == VariableKind::kConstant && !found->shown)
    report_at("constant-write", "writes " + found->name + ", a __constant__ variable: undefined behaviour", program_counter);
}

}  // namespace cuemu

using namespace cuemu;

CUEMU_EXPORT void cuemu_variable(const void* start, std::size_t bytes, const char* name, VariableKind kind) {
  auto* place = static_cast<const char*>(start);
  placed.insert(behind(place), {place, bytes, name, kind});
  lowest_variable = placed.front().start;
  bytes_of_variables = placed.back().start + placed.back().bytes - lowest_variable;
}

CUEMU_EXPORT void cuemu_show_variable(const void* address) {
  if (is_near_variables(address)) (behind(static_cast<const char*>(address)) - 1)->shown = true;
}

CUEMU_EXPORT void cuemu_refused_copy(const SymbolCopy* copy, bool kind_fits) {
  if (device.sticky_error) return;
  std::string message = "a GPU refuses this copy: its kind does not fit its pointers";
  if (kind_fits)
    message = std::string("a GPU refuses this copy") + (copy->asynchronous ? ", or it goes on into other variables" : "") + ": " +
              std::to_string(copy->bytes) + " bytes at offset " + std::to_string(copy->offset) + " of a variable of " +
              std::to_string(copy->size) + " bytes";
  LaunchRequest named = {};
  named.kernel = copy->function;
  device.running = &named;
  report("copy-refused", message, copy->line);
  device.running = nullptr;
}
