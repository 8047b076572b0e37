// What cuBLAS's calls speak of: status codes, operations, types, and the handle with its settings.
#pragma once
#include "cuemu/half.h"
#include "cuemu/streams.h"

#include <algorithm>

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };
// Modes and compute types that allow fewer bits: products are made in float all the same. What a GPU takes is its choice.
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DFALT_TENSOR_OP = 99, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cudaDataType { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
typedef cudaDataType cudaDataType_t;
typedef cudaDataType cublasDataType_t;

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
};
typedef cublasContext* cublasHandle_t;

namespace cuemu {

// The numbers by which a Matrix of the runtime names its type.
template <class T>
constexpr int number_of = std::is_same_v<T, float> ? 0 : std::is_same_v<T, double> ? 1 : std::is_same_v<T, __half> ? 2 : 3;
inline int number(cudaDataType type) { return type == CUDA_R_16BF ? 3 : type; }
inline const void* moved(const void* data, int type, long long elements) {
  return static_cast<const char*>(data) + elements * (type == 0 ? 4 : type == 1 ? 8 : 2);
}

inline bool is_double(cublasComputeType_t sums) { return sums == CUBLAS_COMPUTE_64F || sums == CUBLAS_COMPUTE_64F_PEDANTIC; }
inline bool is_half(cublasComputeType_t sums) { return sums == CUBLAS_COMPUTE_16F || sums == CUBLAS_COMPUTE_16F_PEDANTIC; }
inline cublasComputeType_t compute_type(cublasComputeType_t sums) { return sums; }
inline cublasComputeType_t compute_type(cudaDataType sums) {
  return sums == CUDA_R_64F ? CUBLAS_COMPUTE_64F : sums == CUDA_R_16F ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F;
}
inline double scale(const void* factor, cublasComputeType_t sums) {
  if (is_double(sums)) return *static_cast<const double*>(factor);
  return is_half(sums) ? static_cast<float>(*static_cast<const __half*>(factor)) : *static_cast<const float*>(factor);
}

// What a call that only looks at the handle answers.
template <class Change>
inline cublasStatus_t with_handle(cublasHandle_t handle, Change change) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  change(*handle);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace cuemu

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  return cuemu::with_handle(handle, [](cublasContext& context) { delete &context; });
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return cuemu::with_handle(handle, [=](cublasContext& context) { context.stream = stream; });
}
inline cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return cuemu::with_handle(handle, [=](cublasContext& context) { *stream = context.stream; });
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t math) {
  return cuemu::with_handle(handle, [=](cublasContext& context) { context.math = math; });
}
inline cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* math) {
  return cuemu::with_handle(handle, [=](cublasContext& context) { *math = context.math; });
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t pointers) {
  return cuemu::with_handle(handle, [=](cublasContext& context) { context.pointers = pointers; });
}
inline cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* pointers) {
  return cuemu::with_handle(handle, [=](cublasContext& context) { *pointers = context.pointers; });
}
inline cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t) {
  return cuemu::with_handle(handle, [](cublasContext&) {});
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, std::size_t) {
  return cuemu::with_handle(handle, [](cublasContext&) {});
}
inline cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version) {
  return cuemu::with_handle(handle, [=](cublasContext&) { *version = 120405; });
}

inline const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}
inline const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

namespace at::cuda {

// One handle a thread and stream on a GPU, which torch sets up before each use; here one for all.
inline cublasHandle_t getCurrentCUDABlasHandle() {
  static cublasContext context;
  return &context;
}

}  // namespace at::cuda
