// mma_f16: tensor cores by `mma.sync` (16 x 8 x 16) instead of WMMA.
//   changed    against wmma_f16.cu: the first launch writes the halves in the order in which `ldmatrix` reads them
//              without a bank conflict (mma.cuh), so that a step is copied as it lies; a warp stores its 64 x 32 of C
//              from registers; sums longer than half the matrix are cut in two (parts.cuh)
//   launch     prepare: one block of 512 threads for each 128 x 64 of a triangle; multiply: 1-D grid, one block a part:
//              T(T + 1) / 2 tiles for T = ceil(N / 128), a quarter of them cut in two; 256 threads (8 warps), 96 KiB
//              of shared memory, 64 KiB where that is too much
//   needs      compute capability 8.0
//   the line   `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`: 2048 multiply-adds in one instruction of a warp
//   predicted  0.10 to 0.11 ms on an H200: 0.030 for the rounding, 0.075 for the product by what L2 delivers to
//              128 x 128 tiles
//   precision  inputs keep 11 bits: relative error about 3e-4. Range: |x| <= 65504 for every element (a larger one
//              becomes infinite); below 6.1e-5 bits are lost, below 3e-8 an element becomes zero. Sums are float32.

#include <cuda_fp16.h>
#include "triangular.cuh"

constexpr int PLANES = 1;                           // halves for each element
constexpr int BM = 128;                             // rows of the tile of C one block computes
constexpr int BN = 128;                             // and its columns
constexpr int BK = 64;                              // columns of A and rows of B in a step
constexpr int WM = 64;                              // rows of C that one warp owns
constexpr int WN = 32;                              // and its columns
constexpr int STAGES = 3;                           // steps in shared memory: one is multiplied, the others arrive
constexpr int BLOCKS_PER_SM = 2;

#include "parts.cuh"
#include "mma.cuh"

// Writes one record of A, or of B where `OF_A` is false.
template <bool OF_A>
__device__ void round_record(const float* __restrict__ matrix, unsigned char* prepared, const int64_t N, int units,
                             bool aligned) {
    prepare_record<OF_A>(prepared, units, [&](const Corner& corner, unsigned char* record) {
        float own[EIGHTS][HALVES];
#pragma unroll
        for (int i = 0; i < EIGHTS; ++i) {
            read_eight(own[i], matrix, N, corner.row + row_of<OF_A>(i), corner.col + col_of<OF_A>(i), aligned);
        }
#pragma unroll
        for (int i = 0; i < EIGHTS; ++i) {
            EightHalves eight;
#pragma unroll
            for (int e = 0; e < HALVES; e += 2) {
                eight.two[e / 2] = __floats2half2_rn(own[i][e], own[i][e + 1]);
            }
            const int row = row_of<OF_A>(i);
            const int col = col_of<OF_A>(i);
            const int place = OF_A ? place_in_a(row, col) : place_in_b(row, col);
            *reinterpret_cast<EightHalves*>(record + place * sizeof(half)) = eight;
        }
    });
}

__global__ void __launch_bounds__(PREPARING)
prepare_kernel(const float* __restrict__ A, const float* __restrict__ B, unsigned char* __restrict__ prepared,
               const int64_t N, const int units, const bool aligned) {
    if (blockIdx.y % 2 == 0) {
        round_record<true>(A, prepared, N, units, aligned);
    } else {
        round_record<false>(B, prepared, N, units, aligned);
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
multiply_kernel(const unsigned char* __restrict__ prepared, float* __restrict__ C, int* __restrict__ tickets,
                const int64_t N, const int units, const int most, const int stages, const bool aligned) {
    extern __shared__ __align__(128) unsigned char memory[];
    const Part part = part_of(blockIdx.x, units, most);
    const Own own;
    Sums sums = {};
    for_each_step(prepared, part, units, memory, stages, [&](int, const unsigned char* stage) {
        const uint32_t a_place = address(stage) + own.a_place;
        const uint32_t b_place = address(stage) + own.b_place;
#pragma unroll
        for (int slice = 0; slice < SLICES; ++slice) {
            uint32_t b[ACROSS][2];
#pragma unroll
            for (int j = 0; j < ACROSS; j += 2) {
                read_b(b[j], b[j + 1], b_place, 0, j, slice);
            }
#pragma unroll
            for (int i = 0; i < DOWN; ++i) {
                uint32_t a[4];
                read_a(a, a_place, 0, i, slice);
#pragma unroll
                for (int j = 0; j < ACROSS; ++j) {
                    multiply_add(sums[i][j], a, b[j]);
                }
            }
        }
    });
    store_in_turn(part, tickets, reinterpret_cast<int*>(memory), [&](bool add) {
        store(C, N, part.row + own.row, part.col + own.col, sums, aligned, add);
    });
    if (part.from == 0) {
        zero_mirror_image<BM, BN, THREADS>(C, N, part, aligned);
    }
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    check_inputs(A, B);
    const c10::cuda::CUDAGuard guard(A.device());
    const auto stream = at::cuda::getCurrentCUDAStream();
    const int64_t N = A.size(0);
    auto C = torch::empty_like(A);
    if (N == 0) {
        return C;
    }
    const Parts parts(N);
    auto prepared = torch::empty({bytes_prepared(parts)}, A.options().dtype(torch::kByte));
    auto tickets = torch::empty({parts.tiles}, A.options().dtype(torch::kInt));
    C10_CUDA_CHECK(cudaMemsetAsync(tickets.data_ptr<int>(), 0, parts.tiles * sizeof(int), stream));
    prepare_kernel<<<preparing(parts), PREPARING, 0, stream>>>(A.data_ptr<float>(), B.data_ptr<float>(),
                                                               prepared.data_ptr<uint8_t>(), N, parts.units,
                                                               rows_aligned(A) && rows_aligned(B));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    const int stages = stages_on(A.get_device());
    const int shared = stages * STAGE;
    C10_CUDA_CHECK(cudaFuncSetAttribute(multiply_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    multiply_kernel<<<parts.blocks, THREADS, shared, stream>>>(prepared.data_ptr<uint8_t>(), C.data_ptr<float>(),
                                                               tickets.data_ptr<int>(), N, parts.units, parts.most,
                                                               stages, rows_aligned(C));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
