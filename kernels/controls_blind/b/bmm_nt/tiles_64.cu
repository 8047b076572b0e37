// why fine: needs multiples of 64 and 16, as every stated shape has them, and refuses others; vectors are aligned
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cstdint>

#define TILE 64
#define DEPTH 16
#define PITCH (TILE + 4)

template <int PER_THREAD>
__global__ void __launch_bounds__(256)
bmm_nt_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) float as[DEPTH * PITCH];
  __shared__ __align__(16) float bs[DEPTH * PITCH];
  const int tid = threadIdx.x;
  const int line = tid / 4;
  const int quad = (tid % 4) * 4;
  const int ty = tid / 16, tx = tid % 16;
  const size_t z = blockIdx.z;
  const float* pa = a + (z * m + blockIdx.y * TILE + line) * k + quad;
  const float* pb = b + (z * n + blockIdx.x * TILE + line) * k + quad;

  float acc[PER_THREAD][PER_THREAD] = {};
  for (int k0 = 0; k0 < k; k0 += DEPTH) {
    const float4 va = *reinterpret_cast<const float4*>(pa + k0);
    const float4 vb = *reinterpret_cast<const float4*>(pb + k0);
    as[(quad + 0) * PITCH + line] = va.x;
    as[(quad + 1) * PITCH + line] = va.y;
    as[(quad + 2) * PITCH + line] = va.z;
    as[(quad + 3) * PITCH + line] = va.w;
    bs[(quad + 0) * PITCH + line] = vb.x;
    bs[(quad + 1) * PITCH + line] = vb.y;
    bs[(quad + 2) * PITCH + line] = vb.z;
    bs[(quad + 3) * PITCH + line] = vb.w;
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < DEPTH; ++kk) {
      const float4 fa = *reinterpret_cast<const float4*>(&as[kk * PITCH + ty * 4]);
      const float4 fb = *reinterpret_cast<const float4*>(&bs[kk * PITCH + tx * 4]);
      const float l[4] = {fa.x, fa.y, fa.z, fa.w};
      const float r[4] = {fb.x, fb.y, fb.z, fb.w};
#pragma unroll
      for (int i = 0; i < PER_THREAD; ++i)
#pragma unroll
        for (int j = 0; j < PER_THREAD; ++j) acc[i][j] += l[i] * r[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < PER_THREAD; ++i) {
    const size_t row = z * m + blockIdx.y * TILE + ty * 4 + i;
    float4* out = reinterpret_cast<float4*>(c + row * n + blockIdx.x * TILE + tx * 4);
    *out = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
  }
}

static torch::Tensor fit(const torch::Tensor& t) {
  auto dense = t.contiguous();
  return reinterpret_cast<uintptr_t>(dense.data_ptr<float>()) % 16 == 0 ? dense : dense.clone();
}

torch::Tensor forward(torch::Tensor a_in, torch::Tensor b_in) {
  auto a = fit(a_in), b = fit(b_in);
  const int batch = a.size(0), m = a.size(1), n = b.size(1), k = a.size(2);
  TORCH_CHECK(b.size(0) == batch && b.size(2) == k, "batch and depth must agree");
  TORCH_CHECK(m % TILE == 0 && n % TILE == 0 && k % DEPTH == 0, "m and n must be multiples of 64, k of 16");
  auto c = torch::empty({batch, m, n}, a.options());
  if (c.numel() == 0) return c;
  auto kernel = &bmm_nt_tiled<4>;
  kernel<<<dim3(n / TILE, m / TILE, batch), 256, 0, at::cuda::getCurrentCUDAStream().stream()>>>(
      a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
  return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
