// Products of matrices in device memory: the work of a library, which the host asks for. No kernel of the source runs, so that
// no launch is recorded; what the library touches is looked over as a kernel's accesses are.
#include "checker.h"
#include "memory.h"
#include "pending.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>

using namespace cuemu;

namespace {

constexpr c10::ScalarType kTypes[] = {c10::kFloat, c10::kDouble, c10::kHalf, c10::kBFloat16};

std::int64_t size_of(const Matrix& m) { return static_cast<std::int64_t>(c10::elementSize(kTypes[m.type])); }

bool is_empty(const Matrix& m) { return !m.rows || !m.columns; }

// Element (0, 0) lies at `data`; steps may be negative.
std::int64_t lowest(const Matrix& m) {
  return std::min<std::int64_t>(0, (m.rows - 1) * m.row_step) + std::min<std::int64_t>(0, (m.columns - 1) * m.column_step);
}
std::int64_t highest(const Matrix& m) {
  return std::max<std::int64_t>(0, (m.rows - 1) * m.row_step) + std::max<std::int64_t>(0, (m.columns - 1) * m.column_step);
}

bool stopped_at_null(const char* call_site) {
  report_at("illegal-address", "a product of the library takes a null pointer", call_site - 1);
  device.last_error = device.sticky_error = kIllegalAddress;
  return false;
}

// Whether a matrix lies in one block of device memory; of memory of the host, which is no kernel's concern either, it is taken so.
bool in_bounds(const Matrix& m, bool write, const char* call_site) {
  if (is_empty(m)) return true;
  std::uint64_t place = static_cast<char*>(m.data) - region.base;
  if (!m.data) return stopped_at_null(call_site);
  if (place >= region.size) return true;
  std::uint64_t first = place + lowest(m) * size_of(m), past = place + (highest(m) + 1) * size_of(m);
  const Allocation* block = place < region.used ? allocation_at(place) : nullptr;
  if (block && block->live && first >= block->offset && past <= block->offset + block->bytes) return true;
  std::string size = std::to_string(m.rows) + " x " + std::to_string(m.columns);
  report_at(write ? "out-of-bounds-write" : "out-of-bounds-read",
            "a product of the library takes a matrix of " + size + " that ends outside its block of device memory", call_site - 1);
  return false;
}

void touch(const Matrix& m, unsigned access, const char* call_site) {
  for (std::int64_t i = 0; i < m.rows; i++)
    for (std::int64_t j = 0; j < m.columns; j++) {
      std::int64_t index = i * m.row_step + j * m.column_step;
      check_access(static_cast<char*>(m.data) + index * size_of(m), size_of(m), access, call_site);
    }
}

at::Tensor view(const Matrix& m) {
  auto* start = static_cast<char*>(m.data) + lowest(m) * size_of(m);
  auto seen = at::from_blob(start, {m.rows, m.columns}, {std::abs(m.row_step), std::abs(m.column_step)}, kTypes[m.type]);
  if (m.row_step < 0) seen = seen.flip(0);
  return m.column_step < 0 ? seen.flip(1) : seen;
}

void store(const Matrix& m, at::Tensor values) {
  Matrix forward = m;
  forward.data = static_cast<char*>(m.data) + lowest(m) * size_of(m);
  forward.row_step = std::abs(m.row_step);
  view(forward).copy_(m.row_step < 0 ? values.flip(0) : values);
}

// Sums are kept in double for double operands and in float for all others, and rounded once into the result.
void multiply(const Product& product) {
  const Matrix& result = product.result();
  auto kind = result.type == 1 ? c10::kDouble : c10::kFloat;
  at::Tensor a = view(product.a).to(kind), b = view(product.b).to(kind);
  bool plain = result.data == product.c.data && !product.bias.data && product.activation == Activation::kNone;
  if (plain && view(result).scalar_type() == kind && result.row_step > 0) {
    view(result).addmm_(a, b, product.beta, product.alpha);
    return;
  }
  at::Tensor sums = product.beta == 0 ? a.mm(b).mul_(product.alpha) : view(product.c).to(kind).addmm(a, b, product.beta, product.alpha);
  if (product.bias.data) sums.add_(view(product.bias));
  if (product.activation == Activation::kRelu) sums.relu_();
  if (product.activation == Activation::kGelu) sums = at::gelu(sums, "tanh");
  store(result, sums);
}

bool all_in_bounds(const Product& product, const char* call_site) {
  bool reads = product.alpha != 0, adds = product.beta != 0 && product.d.data;
  return (!reads || (in_bounds(product.a, false, call_site) && in_bounds(product.b, false, call_site))) &&
         (!adds || in_bounds(product.c, false, call_site)) && in_bounds(product.bias, false, call_site) &&
         in_bounds(product.result(), true, call_site);
}

void look_over(const Product& product, const char* call_site) {
  begin_launch_check();
  begin_block_check();
  if (product.alpha != 0) touch(product.a, kRead, call_site), touch(product.b, kRead, call_site);
  if (product.beta != 0) touch(product.c, kRead, call_site);
  touch(product.bias, kRead, call_site);
  touch(product.result(), kWrite, call_site);
  end_launch_check();
}

}  // namespace

CUEMU_EXPORT bool cuemu_product(const Product* product) {
  if (device.in_kernel) return false;  // host code alone can ask
  if (is_empty(product->result())) return true;
  const char* call_site = static_cast<const char*>(__builtin_return_address(0));
  LaunchRequest named = {};  // what a report names, and whose library its line is looked for in
  named.kernel = product->name;
  named.grid = named.block = {1, 1, 1};
  named.body = reinterpret_cast<void (*)(void*)>(const_cast<char*>(call_site));
  device.running = &named;
  bool possible = all_in_bounds(*product, call_site);
  if (possible && checking_wanted()) look_over(*product, call_site);
  device.running = nullptr;
  if (possible) multiply(*product);
  return possible;
}
