// A kernel launch: recorded, checked against the limits of the GPU it is meant for, then run block by block.
#include "async_copies.h"
#include "block.h"
#include "checker.h"
#include "faults.h"
#include "limits.h"
#include "memory.h"
#include "order.h"
#include "part.h"

extern "C" {
extern uint3 cuemu_block_index, cuemu_block_dim, cuemu_grid_dim;
__attribute__((visibility("default"))) std::uint32_t cuemu_launch_number = 0;
}

namespace cuemu {
namespace {

void place_threads(uint3 dim, unsigned size) {
  for (unsigned i = 0; i < size; i++) block.threads[i].index = {i % dim.x, i / dim.x % dim.y, i / (dim.x * dim.y)};
}

void run_blocks(const LaunchRequest& request) {
  uint3 grid = request.grid;
  unsigned size = request.block.x * request.block.y * request.block.z;
  cuemu_grid_dim = grid;
  cuemu_block_dim = request.block;
  order_threads(size, 0);
  place_threads(request.block, size);
  BlockOrder order(std::uint64_t{grid.x} * grid.y * grid.z);
  std::uint64_t count = blocks_to_run(request);
  auto drawn = count < order.count ? drawn_blocks(grid, count) : std::vector<std::uint64_t>();
  device.launches.back().blocks_run = count;
  double started = processor_seconds();
  for (std::uint64_t k = 0; k < count; k++) {
    auto number = drawn.empty() ? order[k] : drawn[k];
    cuemu_block_index = {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
                         static_cast<unsigned>(number / grid.x / grid.y)};
    poison_shared();
    if (device.settings.thread_order == Order::random && k) order_threads(size, number);
    forget_async_copies();
    begin_block_check();
    run_block(request, size);
  }
  device.launches.back().seconds = processor_seconds() - started;
}

void begin(const LaunchRequest& request) {
  cuemu_launch_number++;
  device.running = &request;
  if (notes_writes()) forget_writes();
  begin_shared(request.dynamic_shared_bytes);
  begin_launch_check();
  arm_faults(device.settings.kernel_seconds);
  device.critical = 0;
  device.in_kernel = 1;
}

void finish() {
  device.in_kernel = 0;
  disarm_faults();
  end_launch_check();
  device.launches.back().static_shared_bytes = static_shared_bytes();
  device.running = nullptr;
}

bool refuse(const LaunchRequest& request) {
  Refusal refusal = refusal_of(request);
  if (!refusal.kind) return false;
  device.running = &request;
  report(refusal.kind, refusal.why, request.line);
  device.running = nullptr;
  if (refusal.error) device.last_error = refusal.error;
  device.launches.back().refused = refusal.why;
  return true;
}

}  // namespace

// Gives up the running launch from wherever its threads are; the error stays, as CUDA's does.
void end_launch(int error) {
  device.last_error = error;
  if (error >= kIllegalAddress) device.sticky_error = error;
  siglongjmp(device.escape, 1);
}

}  // namespace cuemu

using namespace cuemu;

CUEMU_EXPORT void cuemu_run_grid(const LaunchRequest* request) {
  device.launches.push_back({request->kernel, request->line, request->grid, request->block,
                             request->dynamic_shared_bytes, 0, ""});
  device.launches.back().arguments.assign(request->arguments, request->arguments + request->argument_count);
  if (device.sticky_error) {
    device.last_error = device.sticky_error;
    device.launches.back().refused = "an earlier kernel left the device in an error state";
    return;
  }
  if (refuse(*request) || !blocks_to_run(*request)) return;
  begin(*request);
  if (!sigsetjmp(device.escape, 1)) run_blocks(*request);
  finish();
}
