#include "faults.h"
#include "device.h"
#include "fiber.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <sys/time.h>
#include <ucontext.h>

namespace cuemu {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kFaultCount = sizeof(kFaults) / sizeof(kFaults[0]);
constexpr int kTickMicroseconds = 20000;

struct sigaction before[kFaultCount];
struct sigaction before_timer;
stack_t stack_before;
alignas(16) char handler_stack[128 << 10];
double deadline;  // seconds of processor time

const void* program_counter(const void* context) {
  auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#else
  return reinterpret_cast<const void*>(machine.pc);
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (!device.in_kernel || device.critical) {  // not the kernel's doing: let it happen again with the handler of before
    disarm_faults();
    return;
  }
  const void* where = program_counter(context);
  if (signal == SIGFPE) {
    report_fault("trap", "integer division by zero: undefined behaviour, a GPU goes on with some value", where);
    end_launch(kLaunchFailure);
  }
  if (signal == SIGABRT || signal == SIGILL) {
    report_fault("trap", "the kernel stopped itself", where);
    end_launch(kLaunchFailure);
  }
  bool overflow = in_stack_guard(info->si_addr);
  report_fault("illegal-address", overflow ? "a thread's local variables or recursion need more than 256 KiB of stack"
                                        : "an illegal memory access was encountered", where);
  end_launch(kIllegalAddress);
}

void on_tick(int, siginfo_t*, void* context) {
  if (!device.in_kernel || device.critical || processor_seconds() < deadline) return;
  report_fault("time-limit", "the kernel ran out of its processor time (an endless loop, a wait for another block, or too "
            "much work for the emulated device)", program_counter(context));
  end_launch(kLaunchTimeout);
}

void set_timer(int microseconds) {
  itimerval every = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_PROF, &every, nullptr);
}

}  // namespace

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void arm_faults(double seconds) {
  prepare_fault_reports();
  stack_t stack = {};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, &stack_before);
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = on_fault;
  for (int i = 0; i < kFaultCount; i++) sigaction(kFaults[i], &action, &before[i]);
  action.sa_flags |= SA_RESTART;
  action.sa_sigaction = on_tick;
  sigaction(SIGPROF, &action, &before_timer);
  deadline = processor_seconds() + seconds;
  set_timer(kTickMicroseconds);
}

void disarm_faults() {
  set_timer(0);
  sigaction(SIGPROF, &before_timer, nullptr);
  for (int i = 0; i < kFaultCount; i++) sigaction(kFaults[i], &before[i], nullptr);
  sigaltstack(&stack_before, nullptr);
}

}  // namespace cuemu

using namespace cuemu;

CUEMU_EXPORT void cuemu_trap(const char* why, int line) {
  report("trap", why, line);
  end_launch(std::string(why).find("assert") != std::string::npos ? kAssert : kLaunchFailure);
}

CUEMU_EXPORT int cuemu_last_error(bool clear) {
  int error = device.last_error;
  if (clear && !device.sticky_error) device.last_error = kSuccess;
  return error;
}
CUEMU_EXPORT void cuemu_set_last_error(int error) { device.last_error = error; }
CUEMU_EXPORT int cuemu_sticky_error() { return device.sticky_error; }
