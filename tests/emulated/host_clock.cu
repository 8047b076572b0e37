// The time that host code sees to pass between two of its calls, in nanoseconds, by one clock.
#include <torch/extension.h>
#include <chrono>
#include <ctime>
#include <sys/time.h>

template <class Clock>
int64_t count() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

int64_t reading(int which) {
  timespec now = {};
  timeval day = {};
  switch (which) {
    case 0: return count<std::chrono::steady_clock>();
    case 1: return count<std::chrono::system_clock>();
    case 2: clock_gettime(CLOCK_MONOTONIC, &now); return now.tv_sec * 1000000000ll + now.tv_nsec;
    case 3: gettimeofday(&day, nullptr); return day.tv_sec * 1000000000ll + day.tv_usec * 1000ll;
    case 4: now.tv_nsec = 30000000; nanosleep(&now, nullptr); return count<std::chrono::steady_clock>();
    default: return time(nullptr) * 1000000000ll;
  }
}

int64_t since(int which) {
  static int64_t last[6];
  int64_t now = reading(which), passed = now - last[which];
  last[which] = now;
  return passed;
}

__global__ void nothing() {}
torch::Tensor launch(torch::Tensor x) {
  nothing<<<1, 1>>>();
  return x;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("since", &since);
  m.def("launch", &launch);
}
