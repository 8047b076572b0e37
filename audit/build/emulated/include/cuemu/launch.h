// kernel<<<grid, block, shared, stream>>>(arguments) after rewriting: launch(...).with(arguments) % lambda.
#pragma once
#include "cuemu/vector_types.h"

#include <tuple>
#include <type_traits>
#include <utility>

namespace cuemu {

// Streams do not matter here: work is done when it is launched.
struct AnyStream {
  AnyStream() = default;
  template <class Stream>
  AnyStream(const Stream&) {}
};

template <class Kernel, class... Arguments>
struct Call {
  Kernel& kernel;
  std::tuple<Arguments...>& arguments;

  // Each thread gets its own copies, as on a device.
  static void run(void* context) {
    auto* call = static_cast<Call*>(context);
    std::apply([call](const Arguments&... argument) { call->kernel(Arguments(argument)...); }, call->arguments);
  }
};

template <class T>
LaunchArgument told_argument(const T& argument) {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return {true, static_cast<std::int64_t>(argument)};
  else return {false, 0};
}

template <class... Arguments>
struct BoundLaunch {
  LaunchRequest request;
  std::tuple<Arguments...> arguments;

  template <class Kernel>
  void operator%(Kernel&& kernel) {
    Call<std::remove_reference_t<Kernel>, Arguments...> call{kernel, arguments};
    request.body = &decltype(call)::run;
    request.context = &call;
    LaunchArgument told[sizeof...(Arguments) + 1] = {};
    std::apply([&](const Arguments&... argument) { std::size_t i = 0; ((told[i++] = told_argument(argument)), ...); }, arguments);
    request.arguments = told;
    request.argument_count = sizeof...(Arguments);
    cuemu_run_grid(&request);
  }
};

struct Launch {
  LaunchRequest request;

  template <class... Arguments>
  BoundLaunch<std::decay_t<Arguments>...> with(Arguments&&... arguments) const {
    return {request, std::tuple<std::decay_t<Arguments>...>(std::forward<Arguments>(arguments)...)};
  }
};

inline Launch launch(const char* kernel, int line, dim3 grid, dim3 block, std::size_t shared = 0, AnyStream = {}) {
  return {{kernel, line, grid, block, shared, nullptr, nullptr}};
}

// At the start of a kernel, with the arguments of its __launch_bounds__.
inline __attribute__((always_inline)) void launch_bounds(unsigned most, int = 0, int = 0) {
  if (blockDim.x * blockDim.y * blockDim.z > most) cuemu_exceeded_bounds(most);
}

}  // namespace cuemu
