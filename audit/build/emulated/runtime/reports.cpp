#include "device.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <unordered_map>

namespace cuemu {

Device device;

namespace {

constexpr int kMostFrames = 24;
constexpr std::size_t kMostReports = 1000;  // different ones; a kernel cannot fill the memory with findings

// Offset of an instruction in the library of the running kernel, -1 if it lies elsewhere (the C library, say).
std::int64_t offset_asked(const void* program_counter, const void* body) {
  Dl_info here, kernel;
  if (!dladdr(program_counter, &here)) return -1;
  if (!dladdr(body, &kernel)) return -1;
  if (here.dli_fbase != kernel.dli_fbase) return -1;
  return static_cast<const char*>(program_counter) - static_cast<const char*>(here.dli_fbase);
}

// Asked once an instruction: the loader takes microseconds, and a race is reported millions of times.
std::int64_t offset_in_kernel_library(const void* program_counter) {
  static std::unordered_map<const void*, std::int64_t> offsets;
  static const void* of = nullptr;
  if (!device.running || !program_counter) return -1;
  auto* body = reinterpret_cast<const void*>(device.running->body);
  if (body != of) offsets.clear(), of = body;
  auto known = offsets.find(program_counter);
  if (known != offsets.end()) return known->second;
  return offsets[program_counter] = offset_asked(program_counter, body);
}

void add(const char* kind, const std::string& message, int line, std::int64_t offset) {
  std::string kernel = device.running ? device.running->kernel : "";
  for (Report& known : device.reports) {
    bool same_place = known.line == line && known.offset == offset && known.kernel == kernel;
    if (same_place && known.kind == kind && known.message == message) {
      known.count++;
      return;
    }
  }
  if (device.reports.size() < kMostReports) device.reports.push_back({kind, message, kernel, line, offset, 1});
}

}  // namespace

void report(const char* kind, const std::string& message, int line) {
  CriticalSection section;
  add(kind, message, line, -1);
}

void report_at(const char* kind, const std::string& message, const void* program_counter) {
  CriticalSection section;
  if (device.running && !device.running->body)  // an interpreter runs it
    return add(kind, message, static_cast<int>(reinterpret_cast<std::uintptr_t>(program_counter)), -1);
  add(kind, message, 0, offset_in_kernel_library(program_counter));
}

void report_fault(const char* kind, const std::string& message, const void* program_counter) {
  CriticalSection section;
  std::int64_t offset = offset_in_kernel_library(program_counter);
  void* frames[kMostFrames];
  int count = offset < 0 ? backtrace(frames, kMostFrames) : 0;
  for (int i = 0; i < count && offset < 0; i++) offset = offset_in_kernel_library(static_cast<char*>(frames[i]) - 1);
  add(kind, message, 0, offset);
}

// The first call loads a library, which a signal handler must not.
void prepare_fault_reports() {
  void* frame;
  backtrace(&frame, 1);
}

}  // namespace cuemu
