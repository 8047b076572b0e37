// cuBLAS: products of matrices in column-major order. A call is work of the library, done when it returns; see runtime/products.cpp.
#pragma once
#include "cuemu/cublas_types.h"

namespace cuemu {

// op(X) as it lies in memory: the first dimension is contiguous, or the second where it is transposed.
inline Matrix operand(const void* data, int type, cublasOperation_t op, std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  bool plain = op == CUBLAS_OP_N;
  return {const_cast<void*>(data), type, rows, columns, plain ? 1 : leading, plain ? leading : 1};
}
inline bool is_operation(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }

struct Gemm {
  const char* name;
  cublasHandle_t handle;
  cublasOperation_t op_a, op_b;
  std::int64_t m, n, k;
  double alpha, beta;
  int type_a, lda, type_b, ldb, type_c, ldc;

  cublasStatus_t refusal() const {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    std::int64_t rows_a = op_a == CUBLAS_OP_N ? m : k, rows_b = op_b == CUBLAS_OP_N ? k : n;
    bool sizes = m >= 0 && n >= 0 && k >= 0 && is_operation(op_a) && is_operation(op_b);
    if (!sizes || lda < std::max<std::int64_t>(1, rows_a) || ldb < std::max<std::int64_t>(1, rows_b) ||
        ldc < std::max<std::int64_t>(1, m))
      return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
  }
};

// Inlined, so that a report names the line of the call.
CUEMU_INLINED cublasStatus_t gemm(const Gemm& call, const void* a, const void* b, void* c) {
  if (cublasStatus_t refused = call.refusal()) return refused;
  if (cuemu_sticky_error()) return CUBLAS_STATUS_EXECUTION_FAILED;
  Product product = {call.name, operand(a, call.type_a, call.op_a, call.m, call.k, call.lda),
                     operand(b, call.type_b, call.op_b, call.k, call.n, call.ldb),
                     operand(c, call.type_c, CUBLAS_OP_N, call.m, call.n, call.ldc), call.alpha, call.beta};
  return cuemu_product(&product) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

CUEMU_INLINED cublasStatus_t gemm_strided(const Gemm& call, const void* a, long long step_a, const void* b, long long step_b,
                                          void* c, long long step_c, int count) {
  if (cublasStatus_t refused = call.refusal()) return refused;
  if (count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (int i = 0; i < count && !status; i++)
    status = gemm(call, moved(a, call.type_a, i * step_a), moved(b, call.type_b, i * step_b),
                  const_cast<void*>(moved(c, call.type_c, i * step_c)));
  return status;
}

CUEMU_INLINED cublasStatus_t gemm_batched(const Gemm& call, const void* const* a, const void* const* b, void* const* c, int count) {
  if (cublasStatus_t refused = call.refusal()) return refused;
  if (count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (int i = 0; i < count && !status; i++) status = gemm(call, a[i], b[i], c[i]);
  return status;
}

template <class T>
CUEMU_INLINED cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha,
                                  const T* a, int lda, const T* x, int step_x, const T* beta, T* y, int step_y) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  bool sizes = m >= 0 && n >= 0 && is_operation(op) && lda >= std::max(1, m) && step_x && step_y && alpha && beta;
  if (!sizes) return CUBLAS_STATUS_INVALID_VALUE;
  if (cuemu_sticky_error()) return CUBLAS_STATUS_EXECUTION_FAILED;
  std::int64_t rows = op == CUBLAS_OP_N ? m : n, inner = op == CUBLAS_OP_N ? n : m;
  const T* first_x = step_x < 0 ? x + (1 - inner) * step_x : x;  // a negative step starts at the vector's far end
  T* first_y = step_y < 0 ? y + (1 - rows) * step_y : y;
  Product product = {name, operand(a, number_of<T>, op, rows, inner, lda),
                     {const_cast<T*>(first_x), number_of<T>, inner, 1, step_x, 1}, {first_y, number_of<T>, rows, 1, step_y, 1},
                     static_cast<double>(*alpha), static_cast<double>(*beta)};
  return cuemu_product(&product) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

// What alpha and beta are is the type of the sums; of half precision the sums are kept in float here.
inline bool takes(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t sums) {
  if (a != b) return false;
  if (is_double(sums)) return a == CUDA_R_64F && c == CUDA_R_64F;
  if (is_half(sums)) return a == CUDA_R_16F && c == CUDA_R_16F;
  bool small = a == CUDA_R_16F || a == CUDA_R_16BF;
  return (small && (c == a || c == CUDA_R_32F)) || (a == CUDA_R_32F && c == CUDA_R_32F);
}

}  // namespace cuemu

#define CUEMU_BLAS(NAME) CUEMU_INLINED cublasStatus_t cublas##NAME
#define CUEMU_GEMMS(LETTER, T)                                                                                                 \
  CUEMU_BLAS(LETTER##gemm)                                                                                                     \
  (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha, const T* a,     \
   int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {                                                               \
    if (handle && !(alpha && beta)) return CUBLAS_STATUS_INVALID_VALUE;                                                        \
    return cuemu::gemm(CUEMU_GEMM(#LETTER "gemm", T), a, b, c);                                                                \
  }                                                                                                                            \
  CUEMU_BLAS(LETTER##gemmStridedBatched)                                                                                       \
  (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha, const T* a,     \
   int lda, long long step_a, const T* b, int ldb, long long step_b, const T* beta, T* c, int ldc, long long step_c,           \
   int count) {                                                                                                                \
    if (handle && !(alpha && beta)) return CUBLAS_STATUS_INVALID_VALUE;                                                        \
    return cuemu::gemm_strided(CUEMU_GEMM(#LETTER "gemmStridedBatched", T), a, step_a, b, step_b, c, step_c, count);           \
  }                                                                                                                            \
  CUEMU_BLAS(LETTER##gemmBatched)                                                                                              \
  (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha,                 \
   const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int count) {                \
    if (handle && !(alpha && beta)) return CUBLAS_STATUS_INVALID_VALUE;                                                        \
    return cuemu::gemm_batched(CUEMU_GEMM(#LETTER "gemmBatched", T), reinterpret_cast<const void* const*>(a),                  \
                               reinterpret_cast<const void* const*>(b), reinterpret_cast<void* const*>(c), count);             \
  }
#define CUEMU_GEMM(NAME, T)                                                                                                    \
  cuemu::Gemm{"cublas" NAME, handle, op_a, op_b, m, n, k, alpha ? static_cast<double>(*alpha) : 0,                             \
              beta ? static_cast<double>(*beta) : 0, cuemu::number_of<T>, lda, cuemu::number_of<T>, ldb, cuemu::number_of<T>, ldc}
CUEMU_GEMMS(S, float)
CUEMU_GEMMS(D, double)
CUEMU_GEMMS(H, __half)

#define CUEMU_GEMV(LETTER, T)                                                                                                  \
  CUEMU_BLAS(LETTER##gemv)                                                                                                     \
  (cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha, const T* a, int lda, const T* x, int step_x,     \
   const T* beta, T* y, int step_y) {                                                                                          \
    return cuemu::gemv("cublas" #LETTER "gemv", handle, op, m, n, alpha, a, lda, x, step_x, beta, y, step_y);                  \
  }
CUEMU_GEMV(S, float)
CUEMU_GEMV(D, double)

// The types of the operands as arguments; `sums` as a compute type, or as the data type it was named by before CUDA 11.
#define CUEMU_TYPED(SUMS)                                                                                                      \
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                           \
  if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;                                                                     \
  const cublasComputeType_t sums = cuemu::compute_type(SUMS);                                                                  \
  if (!cuemu::takes(type_a, type_b, type_c, sums)) return CUBLAS_STATUS_NOT_SUPPORTED;                                         \
  const cuemu::Gemm call = {"cublasGemmEx", handle, op_a, op_b, m, n, k, cuemu::scale(alpha, sums), cuemu::scale(beta, sums),  \
                            cuemu::number(type_a), lda, cuemu::number(type_b), ldb, cuemu::number(type_c), ldc};
#define CUEMU_TYPED_GEMMS(SUMS)                                                                                                \
  CUEMU_BLAS(GemmEx)                                                                                                           \
  (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void* alpha,              \
   const void* a, cudaDataType type_a, int lda, const void* b, cudaDataType type_b, int ldb, const void* beta, void* c,        \
   cudaDataType type_c, int ldc, SUMS sums_of, cublasGemmAlgo_t) {                                                             \
    CUEMU_TYPED(sums_of)                                                                                                       \
    return cuemu::gemm(call, a, b, c);                                                                                         \
  }                                                                                                                            \
  CUEMU_BLAS(GemmStridedBatchedEx)                                                                                             \
  (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void* alpha,              \
   const void* a, cudaDataType type_a, int lda, long long step_a, const void* b, cudaDataType type_b, int ldb,                 \
   long long step_b, const void* beta, void* c, cudaDataType type_c, int ldc, long long step_c, int count, SUMS sums_of,       \
   cublasGemmAlgo_t) {                                                                                                         \
    CUEMU_TYPED(sums_of)                                                                                                       \
    return cuemu::gemm_strided(call, a, step_a, b, step_b, c, step_c, count);                                                  \
  }                                                                                                                            \
  CUEMU_BLAS(GemmBatchedEx)                                                                                                    \
  (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void* alpha,              \
   const void* const a[], cudaDataType type_a, int lda, const void* const b[], cudaDataType type_b, int ldb,                   \
   const void* beta, void* const c[], cudaDataType type_c, int ldc, int count, SUMS sums_of, cublasGemmAlgo_t) {               \
    CUEMU_TYPED(sums_of)                                                                                                       \
    return cuemu::gemm_batched(call, a, b, c, count);                                                                          \
  }
CUEMU_TYPED_GEMMS(cublasComputeType_t)
CUEMU_TYPED_GEMMS(cudaDataType)
