// why fine: both products on tensor cores in the inputs' own fp16 with float32 sums; tiles are filled with zeros past the valid keys.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int B = 16;

template <int D>
__global__ void __launch_bounds__(32)
    attend_tiles(const __half* __restrict__ q, const __half* __restrict__ k, const __half* __restrict__ v,
                 const int* __restrict__ lengths, __half* __restrict__ out, int s, float scale) {
  __shared__ __align__(32) __half qs[B][D], ks[B][D], vs[B][D], ps[B][B];
  __shared__ __align__(32) float scores[B][B], os[B][D];
  __shared__ float shrink[B];
  const int lane = threadIdx.x;
  const int query0 = blockIdx.x * B;
  const size_t base = (size_t)blockIdx.y * s * D;
  const int length = lengths[blockIdx.y];

  for (int e = lane; e < B * D; e += 32) {
    const int r = e / D, c = e % D;
    qs[r][c] = query0 + r < s ? q[base + (size_t)(query0 + r) * D + c] : __float2half(0.0f);
    os[r][c] = 0.0f;
  }
  float top = -INFINITY, sum = 0.0f;

  for (int key0 = 0; key0 < length; key0 += B) {
    __syncwarp();
    for (int e = lane; e < B * D; e += 32) {
      const int r = e / D, c = e % D;
      const bool valid = key0 + r < length;
      ks[r][c] = valid ? k[base + (size_t)(key0 + r) * D + c] : __float2half(0.0f);
      vs[r][c] = valid ? v[base + (size_t)(key0 + r) * D + c] : __float2half(0.0f);
    }
    __syncwarp();

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
#pragma unroll
    for (int d = 0; d < D; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fq;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fk;
      wmma::load_matrix_sync(fq, &qs[0][d], D);
      wmma::load_matrix_sync(fk, &ks[0][d], D);
      wmma::mma_sync(acc, fq, fk, acc);
    }
    wmma::store_matrix_sync(&scores[0][0], acc, B, wmma::mem_row_major);
    __syncwarp();

    if (lane < B) {
      float higher = top;
      for (int j = 0; j < B; ++j)
        if (key0 + j < length) higher = fmaxf(higher, scores[lane][j] * scale);
      const float keep = expf(top - higher);
      float added = 0.0f;
      for (int j = 0; j < B; ++j) {
        const float p = key0 + j < length ? expf(scores[lane][j] * scale - higher) : 0.0f;
        ps[lane][j] = __float2half(p);
        added += p;
      }
      sum = sum * keep + added;
      shrink[lane] = keep;
      top = higher;
    }
    __syncwarp();
    for (int e = lane; e < B * D; e += 32) os[e / D][e % D] *= shrink[e / D];
    __syncwarp();

    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fp;
    wmma::load_matrix_sync(fp, &ps[0][0], B);
#pragma unroll
    for (int d = 0; d < D; d += 16) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fv;
      wmma::load_matrix_sync(fv, &vs[0][d], D);
      wmma::load_matrix_sync(acc, &os[0][d], D, wmma::mem_row_major);
      wmma::mma_sync(acc, fp, fv, acc);
      wmma::store_matrix_sync(&os[0][d], acc, D, wmma::mem_row_major);
    }
  }
  if (lane < B) shrink[lane] = 1.0f / sum;
  __syncwarp();
  for (int e = lane; e < B * D; e += 32) {
    const int r = e / D, c = e % D;
    if (query0 + r < s) out[base + (size_t)(query0 + r) * D + c] = __float2half(os[r][c] * shrink[r]);
  }
}

torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v, torch::Tensor lengths) {
  q = q.contiguous();
  k = k.contiguous();
  v = v.contiguous();
  lengths = lengths.contiguous();
  const int b = q.size(0), s = q.size(1), d = q.size(2);
  TORCH_CHECK(d == 32 || d == 64, "d must be 32 or 64");
  auto out = torch::empty_like(q);
  const dim3 grid((s + B - 1) / B, b);
  const auto stream = at::cuda::getCurrentCUDAStream();
  const __half* qp = reinterpret_cast<const __half*>(q.data_ptr<at::Half>());
  const __half* kp = reinterpret_cast<const __half*>(k.data_ptr<at::Half>());
  const __half* vp = reinterpret_cast<const __half*>(v.data_ptr<at::Half>());
  __half* op = reinterpret_cast<__half*>(out.data_ptr<at::Half>());
  const float scale = 1.0f / sqrtf((float)d);
  if (d == 64)
    attend_tiles<64><<<grid, 32, 0, stream>>>(qp, kp, vp, lengths.data_ptr<int>(), op, s, scale);
  else
    attend_tiles<32><<<grid, 32, 0, stream>>>(qp, kp, vp, lengths.data_ptr<int>(), op, s, scale);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
