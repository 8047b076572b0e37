#include "device.h"

#include <dlfcn.h>
#include <execinfo.h>

namespace cuemu {

Device device;

namespace {

constexpr int kMostFrames = 24;
constexpr std::size_t kMostReports = 1000;  // different ones; a kernel cannot fill the memory with findings

// Offset of an instruction in the library of the running kernel, -1 if it lies elsewhere (the C library, say).
std::int64_t offset_in_kernel_library(const void* program_counter) {
  Dl_info here, kernel;
  if (!device.running || !program_counter) return -1;
  if (!dladdr(program_counter, &here)) return -1;
  if (!dladdr(reinterpret_cast<void*>(device.running->body), &kernel)) return -1;
  if (here.dli_fbase != kernel.dli_fbase) return -1;
  return static_cast<const char*>(program_counter) - static_cast<const char*>(here.dli_fbase);
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
