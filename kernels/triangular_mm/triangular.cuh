// What the kernels of this folder share: which tile of C a block computes, guarded reads and stores of four floats, the
// zeros above the diagonal, the checks of the inputs. A tile of C has BM x BN elements, a step of a sum has BK
// products, a thread owns TM x TN sums.
#pragma once

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int FLOATS = 4;  // elements read or stored in one go: 16 bytes
constexpr int WARP = 32;   // threads in a warp

struct Corner {
    int64_t row;
    int64_t col;
};

// First row and column of a block's tile of BM x BN. Squares on or below the diagonal are counted from the lower left
// corner, one diagonal after the other, so the longest sums start first. A square's side is the longer side of a tile.
template <int BM, int BN>
__device__ Corner corner_of(int block, int squares) {
    constexpr int SQUARE = BM > BN ? BM : BN;
    constexpr int PER_SQUARE = SQUARE / BM * (SQUARE / BN);
    const int square = block / PER_SQUARE;
    const int part = block % PER_SQUARE;
    int diagonal = static_cast<int>((sqrtf(8.0f * square + 1.0f) - 1.0f) / 2.0f);
    while (diagonal * (diagonal + 1) / 2 > square) --diagonal;  // the root is rounded
    while ((diagonal + 1) * (diagonal + 2) / 2 <= square) ++diagonal;
    const int col = square - diagonal * (diagonal + 1) / 2;
    const int row = squares - 1 - diagonal + col;
    return {static_cast<int64_t>(row) * SQUARE + part / (SQUARE / BN) * BM,
            static_cast<int64_t>(col) * SQUARE + part % (SQUARE / BN) * BN};
}

// Squares along a side of an N x N matrix, and the blocks that compute all tiles of those on or below the diagonal.
template <int BM, int BN>
int squares_of(int64_t N) {
    constexpr int SQUARE = BM > BN ? BM : BN;
    return static_cast<int>((N + SQUARE - 1) / SQUARE);
}
template <int BM, int BN>
unsigned blocks_of(int squares) {
    constexpr int PER_SQUARE = (BM > BN ? BM : BN) / BM * ((BM > BN ? BM : BN) / BN);
    return static_cast<unsigned>(squares * (squares + 1) / 2 * PER_SQUARE);
}

// Four elements from `from` on, of which the first `count` are used and the others are zero.
template <class Count>
__device__ float4 load_four(const float* from, Count count, bool aligned) {
    if (aligned && count >= FLOATS) {
        return *reinterpret_cast<const float4*>(from);
    }
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (count > 0) four.x = from[0];
    if (count > 1) four.y = from[1];
    if (count > 2) four.z = from[2];
    if (count > 3) four.w = from[3];
    return four;
}

// One element of a lower-triangular N x N matrix; zero above the diagonal and past the last row.
__device__ inline float load_one(const float* __restrict__ matrix, const int64_t N, int64_t row, int64_t col) {
    return row < N && col <= row ? matrix[row * N + col] : 0.0f;
}

// Four elements of a lower-triangular N x N matrix from (row, col) on; zero above the diagonal and past the last row,
// so nothing above the diagonal is ever used.
__device__ inline float4 load_lower(const float* __restrict__ matrix, const int64_t N, int64_t row, int64_t col,
                                    bool aligned) {
    return load_four(matrix + row * N + col, row < N ? row - col + 1 : 0, aligned);
}

// C[row][col .. col + 3] as far as it is on or below the diagonal and within the matrix.
__device__ inline void store_four(float* __restrict__ C, const int64_t N, int64_t row, int64_t col, float4 four,
                                  bool aligned) {
    float* to = C + row * N + col;
    if (aligned && row < N && col + FLOATS - 1 <= row) {
        *reinterpret_cast<float4*>(to) = four;
        return;
    }
    const float each[FLOATS] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < FLOATS; ++i) {
        if (row < N && col + i <= row) {
            to[i] = each[i];
        }
    }
}

__device__ inline void store_four(float* __restrict__ C, const int64_t N, int64_t row, int64_t col, const float* four,
                                  bool aligned) {
    store_four(C, N, row, col, make_float4(four[0], four[1], four[2], four[3]), aligned);
}

// C[row][col .. col + 3] with zeros above the diagonal, as far as it is within the matrix.
__device__ inline void store_with_zeros(float* __restrict__ C, const int64_t N, int64_t row, int64_t col, float4 four,
                                        bool aligned) {
    float* to = C + row * N + col;
    const float each[FLOATS] = {col > row ? 0.0f : four.x, col + 1 > row ? 0.0f : four.y, col + 2 > row ? 0.0f : four.z,
                                col + 3 > row ? 0.0f : four.w};
    if (aligned && row < N && col < N) {
        *reinterpret_cast<float4*>(to) = make_float4(each[0], each[1], each[2], each[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < FLOATS; ++i) {
        if (row < N && col + i < N) {
            to[i] = each[i];
        }
    }
}

// Four neighbours in shared memory, read at once.
__device__ inline void read_four(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// Zeros above the diagonal, at the mirror image of a BM x BN tile. All tiles together cover all of the upper half.
template <int BM, int BN, int THREADS, class At>
__device__ void zero_mirror_image(float* __restrict__ C, const int64_t N, const At& corner, bool aligned) {
    for (int quad = threadIdx.x; quad < BM * BN / FLOATS; quad += THREADS) {
        const int64_t row = corner.col + quad / (BM / FLOATS);
        const int64_t col = corner.row + quad % (BM / FLOATS) * FLOATS;
        float* to = C + row * N + col;
        if (aligned && row < col && col + FLOATS <= N) {
            *reinterpret_cast<float4*>(to) = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            continue;
        }
        for (int i = 0; i < FLOATS; ++i) {
            if (row < col + i && col + i < N) {
                to[i] = 0.0f;
            }
        }
    }
}

__device__ inline uint32_t address(const void* shared) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

// To the nearest TF32 number, ties away from zero, as `cvt.rna.tf32.f32` does in three instructions: the tensor core
// reads the upper 19 bits. A sum that wraps was a NaN.
__device__ inline uint32_t rounded(float value) {
    const uint32_t bits = __float_as_uint(value);
    const int up = static_cast<int>(bits + 0x1000u);
    return static_cast<uint32_t>(max(up, static_cast<int>(bits)));
}

inline void check_inputs(const torch::Tensor& A, const torch::Tensor& B) {
    TORCH_CHECK(A.is_cuda() && B.is_cuda(), "A and B must be on a GPU");
    TORCH_CHECK(A.device() == B.device(), "A and B must be on one device, got ", A.device(), " and ", B.device());
    TORCH_CHECK(A.scalar_type() == torch::kFloat32 && B.scalar_type() == torch::kFloat32, "A and B must be float32");
    TORCH_CHECK(A.dim() == 2 && A.size(0) == A.size(1), "A must be square, got ", A.sizes());
    TORCH_CHECK(A.sizes() == B.sizes(), "A and B must have one shape, got ", A.sizes(), " and ", B.sizes());
    TORCH_CHECK(A.is_contiguous() && B.is_contiguous(), "A and B must be contiguous");
}

// Whether every row of a matrix starts on a 16-byte boundary, so that four floats can be read at once.
inline bool rows_aligned(const torch::Tensor& matrix) {
    const auto address = reinterpret_cast<uintptr_t>(matrix.data_ptr<float>());
    return address % sizeof(float4) == 0 && matrix.size(1) % FLOATS == 0;
}
