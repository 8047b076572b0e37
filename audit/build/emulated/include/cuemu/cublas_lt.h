// cublasLt: a product with what follows it in the same call. Names that are missing here are refused with their line.
#pragma once
#include "cuemu/cublas.h"

#include <cstring>

enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,
};
enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36,
};
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_ORDER = 1,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
};
enum cublasLtOrder_t { CUBLASLT_ORDER_COL = 0, CUBLASLT_ORDER_ROW = 1 };
enum cublasLtMatmulPreferenceAttributes_t {
  CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0,
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
};

typedef cublasContext* cublasLtHandle_t;
struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t sums;
  cudaDataType scale;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  int bias_type = -1;  // that of the result
};
typedef cublasLtMatmulDescOpaque_t* cublasLtMatmulDesc_t;
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType type;
  std::uint64_t rows, columns;
  std::int64_t leading;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
  std::int32_t batch = 1;
  std::int64_t step = 0;

  std::int64_t least_leading() const { return std::max<std::int64_t>(1, order == CUBLASLT_ORDER_COL ? rows : columns); }
};
typedef cublasLtMatrixLayoutOpaque_t* cublasLtMatrixLayout_t;
struct cublasLtMatmulPreferenceOpaque_t {};
typedef cublasLtMatmulPreferenceOpaque_t* cublasLtMatmulPreference_t;
struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

namespace cuemu {

template <class T, class... With>
cublasStatus_t made(T** place, With... with) {
  if (!place) return CUBLAS_STATUS_INVALID_VALUE;
  *place = new T{with...};
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t destroyed(T* made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t set(T& attribute, const void* value, std::size_t bytes) {
  if (!value || bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&attribute, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

inline Matrix operand(const void* data, const cublasLtMatrixLayoutOpaque_t& of, cublasOperation_t op, int place) {
  std::int64_t row_step = of.order == CUBLASLT_ORDER_COL ? 1 : of.leading, column_step = of.order == CUBLASLT_ORDER_COL ? of.leading : 1;
  Matrix found = {const_cast<void*>(moved(data, number(of.type), place * of.step)), number(of.type),
                  static_cast<std::int64_t>(of.rows), static_cast<std::int64_t>(of.columns), row_step, column_step};
  if (op == CUBLAS_OP_N) return found;
  return {found.data, found.type, found.columns, found.rows, column_step, row_step};
}

}  // namespace cuemu

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return cublasCreate(handle); }
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return cublasDestroy(handle); }
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t sums, cudaDataType scale) {
  return cuemu::made(desc, sums, scale);
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return cuemu::destroyed(desc); }
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                                     const void* value, std::size_t bytes) {
  if (!desc) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return cuemu::set(desc->op_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return cuemu::set(desc->op_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return cuemu::set(desc->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return cuemu::set(desc->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return cuemu::set(desc->bias_type, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, std::uint64_t rows,
                                                 std::uint64_t columns, std::int64_t leading) {
  return cuemu::made(layout, type, rows, columns, leading);
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return cuemu::destroyed(layout); }
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
                                                       const void* value, std::size_t bytes) {
  if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return cuemu::set(layout->order, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return cuemu::set(layout->batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return cuemu::set(layout->step, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) { return cuemu::made(preference); }
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return cuemu::destroyed(preference); }
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t,
                                                           const void* value, std::size_t) {
  return preference && value ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                                     cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                     cublasLtMatmulPreference_t, int wanted,
                                                     cublasLtMatmulHeuristicResult_t* found, int* count) {
  if (!handle || !desc || !a || !b || !c || !d || wanted < 1 || !found || !count) return CUBLAS_STATUS_INVALID_VALUE;
  *found = {};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

// d = activation(alpha * op(a) * op(b) + beta * c + bias), the bias one number for each row of d.
CUEMU_INLINED cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                                            cublasLtMatrixLayout_t of_a, const void* b, cublasLtMatrixLayout_t of_b, const void* beta,
                                            const void* c, cublasLtMatrixLayout_t of_c, void* d, cublasLtMatrixLayout_t of_d,
                                            const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!desc || !alpha || !beta || !of_a || !of_b || !of_c || !of_d) return CUBLAS_STATUS_INVALID_VALUE;
  for (auto* layout : {of_a, of_b, of_c, of_d})
    if (layout->leading < layout->least_leading() || layout->batch != of_d->batch) return CUBLAS_STATUS_INVALID_VALUE;
  if (!cuemu::takes(of_a->type, of_b->type, of_d->type, desc->sums) || of_c->type != of_d->type) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (cuemu_sticky_error()) return CUBLAS_STATUS_EXECUTION_FAILED;
  auto scale = cuemu::compute_type(desc->scale);
  const int bias_type = desc->bias_type < 0 ? cuemu::number(of_d->type) : cuemu::number(static_cast<cudaDataType>(desc->bias_type));
  for (int i = 0; i < of_d->batch; i++) {
    cuemu::Product product = {"cublasLtMatmul", cuemu::operand(a, *of_a, desc->op_a, i), cuemu::operand(b, *of_b, desc->op_b, i),
                              cuemu::operand(c, *of_c, CUBLAS_OP_N, i), cuemu::scale(alpha, scale), cuemu::scale(beta, scale)};
    product.d = cuemu::operand(d, *of_d, CUBLAS_OP_N, i);
    if (desc->epilogue & CUBLASLT_EPILOGUE_BIAS)
      product.bias = {const_cast<void*>(desc->bias), bias_type, product.d.rows, 1, 1, 1};
    product.activation = desc->epilogue & CUBLASLT_EPILOGUE_RELU   ? cuemu::Activation::kRelu
                         : desc->epilogue & CUBLASLT_EPILOGUE_GELU ? cuemu::Activation::kGelu
                                                                   : cuemu::Activation::kNone;
    const cuemu::Matrix &x = product.a, &y = product.b, &z = product.c, &result = product.d;
    if (x.columns != y.rows || x.rows != result.rows || y.columns != result.columns || z.rows != result.rows ||
        z.columns != result.columns || (product.bias.rows && !desc->bias))
      return CUBLAS_STATUS_INVALID_VALUE;
    if (!cuemu_product(&product)) return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

namespace at::cuda {

inline cublasLtHandle_t getCurrentCUDABlasLtHandle() { return getCurrentCUDABlasHandle(); }

}  // namespace at::cuda
