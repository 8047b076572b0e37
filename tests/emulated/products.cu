// Products by cuBLAS as extensions call it, right and wrong, for the emulated device.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

cublasHandle_t handle() {
  static cublasHandle_t made = nullptr;
  if (!made) cublasCreate(&made);
  return made;
}

cublasOperation_t operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

template <class T>
T* data(const torch::Tensor& x) {
  return reinterpret_cast<T*>(x.data_ptr());
}

}  // namespace

__global__ void half_of(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] / 2;
}

// C (m x n, row-major) = alpha * op(A) * op(B) + beta * C: the transposed product in column-major order.
int product(torch::Tensor A, torch::Tensor B, torch::Tensor C, bool ta, bool tb, double alpha, double beta) {
  int m = C.size(0), n = C.size(1), k = ta ? A.size(0) : A.size(1);
  int lda = A.stride(0), ldb = B.stride(0), ldc = C.stride(0);
  if (A.scalar_type() == torch::kFloat) {
    float a = alpha, b = beta;
    return cublasSgemm(handle(), operation(tb), operation(ta), n, m, k, &a, data<float>(B), ldb, data<float>(A), lda, &b,
                       data<float>(C), ldc);
  }
  if (A.scalar_type() == torch::kDouble)
    return cublasDgemm(handle(), operation(tb), operation(ta), n, m, k, &alpha, data<double>(B), ldb, data<double>(A), lda,
                       &beta, data<double>(C), ldc);
  __half a = __float2half(alpha), b = __float2half(beta);
  return cublasHgemm(handle(), operation(tb), operation(ta), n, m, k, &a, data<__half>(B), ldb, data<__half>(A), lda, &b,
                     data<__half>(C), ldc);
}

// A batch of products of 16-bit numbers into 16-bit or float ones.
int typed(torch::Tensor A, torch::Tensor B, torch::Tensor C) {
  auto type = [](const torch::Tensor& x) {
    return x.scalar_type() == torch::kHalf ? CUDA_R_16F : x.scalar_type() == torch::kBFloat16 ? CUDA_R_16BF : CUDA_R_32F;
  };
  int m = C.size(1), n = C.size(2), k = A.size(2);
  float alpha = 1, beta = 0;
  return cublasGemmStridedBatchedEx(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha,
                                    B.data_ptr(), type(B), n, B.stride(0), A.data_ptr(), type(A), k, A.stride(0), &beta,
                                    C.data_ptr(), type(C), n, C.stride(0), C.size(0), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

// y = op(A) x for a row-major A, with a step between the elements of x and y.
int vector_product(torch::Tensor A, torch::Tensor x, torch::Tensor y, bool transposed, int step_x, int step_y) {
  float alpha = 1, beta = 0;
  return cublasSgemv(handle(), operation(!transposed), A.size(1), A.size(0), &alpha, data<float>(A), A.stride(0),
                     data<float>(x), step_x, &beta, data<float>(y), step_y);
}

// A kernel, then a product of what it wrote.
torch::Tensor after_a_kernel(torch::Tensor A, torch::Tensor B) {
  auto halved = torch::empty_like(A), C = torch::empty({A.size(0), B.size(1)}, A.options());
  half_of<<<(A.numel() + 255) / 256, 256>>>(data<float>(A), data<float>(halved), A.numel());
  product(halved, B, C, false, false, 1, 0);
  return C;
}

// out = activation(x * W^T + beta * C + bias) of row-major tensors (batch, m, k), (n, k), (batch, m, n): column-major, a row of
// the transposed result for each element of the bias.
int linear(torch::Tensor x, torch::Tensor W, torch::Tensor bias, torch::Tensor C, torch::Tensor out, int epilogue, double beta,
           bool row_order, int ld_short) {
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t of_w, of_x, of_out;
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t heuristic;
  auto type = x.scalar_type() == torch::kBFloat16 ? CUDA_R_16BF : CUDA_R_32F;
  int batch = x.size(0), m = x.size(1), k = x.size(2), n = W.size(0), found = 0;
  std::int64_t step_w = 0, step_x = x.stride(0), step_out = out.stride(0);
  cublasOperation_t turned = row_order ? CUBLAS_OP_N : CUBLAS_OP_T;
  cublasLtOrder_t order = row_order ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
  auto kind = static_cast<cublasLtEpilogue_t>(epilogue);
  const void* added = bias.data_ptr();
  std::size_t workspace = 0;
  float alpha = 1, factor = beta;
  cublasLtCreate(&lt);
  cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &kind, sizeof kind);
  if (epilogue & 4)  // cuBLAS 13 refuses an address that no epilogue uses
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &added, sizeof added);
  if (row_order) cublasLtMatrixLayoutCreate(&of_w, type, n, k, k);  // the same memory, read as it is
  else cublasLtMatrixLayoutCreate(&of_w, type, k, n, k);
  cublasLtMatrixLayoutSetAttribute(of_w, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order);
  cublasLtMatrixLayoutCreate(&of_x, type, k, m, k);
  cublasLtMatrixLayoutCreate(&of_out, type, n, m, n - ld_short);
  auto batched = [&](cublasLtMatrixLayout_t layout, std::int64_t step) {
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step);
  };
  batched(of_w, step_w), batched(of_x, step_x), batched(of_out, step_out);
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
  int status = cublasLtMatmulAlgoGetHeuristic(lt, desc, of_w, of_x, of_out, of_out, preference, 1, &heuristic, &found);
  if (!status && found)
    status = cublasLtMatmul(lt, desc, &alpha, W.data_ptr(), of_w, x.data_ptr(), of_x, &factor, C.data_ptr(), of_out,
                            out.data_ptr(), of_out, &heuristic.algo, nullptr, 0, at::cuda::getCurrentCUDAStream());
  cublasLtMatmulPreferenceDestroy(preference), cublasLtMatmulDescDestroy(desc);
  for (auto layout : {of_w, of_x, of_out}) cublasLtMatrixLayoutDestroy(layout);
  cublasLtDestroy(lt);
  return status;
}

// With sizes of the caller's: what they say may not be there.
int sized(torch::Tensor A, torch::Tensor B, torch::Tensor C, int m, int n, int k, int lda, int ldb, int ldc, int op) {
  float alpha = 1, beta = 0;
  return cublasSgemm(handle(), static_cast<cublasOperation_t>(op), CUBLAS_OP_N, m, n, k, &alpha, data<float>(A), lda,
                     data<float>(B), ldb, &beta, data<float>(C), ldc);
}

std::vector<int> refused() {
  float one = 1;
  cublasHandle_t none = nullptr;
  return {
      cublasSgemm(none, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &one, 1, &one, 1, &one, &one, 1),
      cublasSgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, nullptr, &one, 1, &one, 1, &one, &one, 1),
      cublasGemmEx(handle(), CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &one, CUDA_R_32F, 1, &one, CUDA_R_16F, 1, &one, &one,
                   CUDA_R_32F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
      cublasSetStream(none, nullptr),
      cublasSgemv(handle(), CUBLAS_OP_N, 1, 1, &one, &one, 1, &one, 0, &one, &one, 1),
  };
}

int uninitialised() {
  auto C = torch::empty({4, 4}), A = torch::ones({4, 4});
  return product(A, A, C, false, false, 1, 1);  // beta 1: C is read
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("product", &product);
  m.def("typed", &typed);
  m.def("vector_product", &vector_product);
  m.def("after_a_kernel", &after_a_kernel);
  m.def("linear", &linear);
  m.def("sized", &sized);
  m.def("refused", &refused);
  m.def("uninitialised", &uninitialised);
}
