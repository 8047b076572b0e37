// mma_split: float32 from tensor cores by `mma.sync` (16 x 8 x 16): every element is scaled and split into two halves.
//   changed    against wmma_split.cu: 64 neighbours in a row of A, and in a column of B, share a power of two that
//              brings the largest of them to 2^14 .. 2^15, so that the range is float32's: scaled, x = large +
//              rest / 2048, and a * b = large * large + (large * rest + rest * large) / 2048. The tensor core, which
//              cuts low bits off, sums 64 products from zero; float32 instructions scale that back and add it, rounded.
//              A first launch writes the halves as `ldmatrix` reads them (mma.cuh). Where halves lack the 22 bits
//              (a neighbour more than 2^28 times as large, 2^100 or more, infinite, NaN), a step is computed by float32
//              instructions instead. A product of zero and an infinity or a NaN is NaN in skipped steps too, as in
//              torch.matmul
//   launch     prepare: one block of 512 threads for each 128 x 64 of a triangle; multiply: 1-D grid, one block a part:
//              T(T + 1) / 2 tiles for T = ceil(N / 128), a quarter of them cut in two; 256 threads (8 warps, 64 x 32
//              of C each), 195 KiB of shared memory, 130 or 65 KiB where that is too much
//   needs      compute capability 8.0
//   the line   `plus_product(times(both, by[...]), across, sum)`: a power of two is undone without an error
//   predicted  0.19 to 0.23 ms on an H200: 0.045 for the halves (134 MB), 0.13 for the product if mma.sync reaches
//              62 % of the peak, 0.02 for starts and stores that no other block hides; of 606 instructions a step 192
//              are HMMA
//   precision  22 bits of each element, 24 where a step is computed in float32; sums are float32. Relative error about
//              2e-7 at N = 4096, below that of float32 sums. Range: that of float32, subnormal numbers included.

#include <cuda_fp16.h>
#include "triangular.cuh"

constexpr int PLANES = 2;                           // halves for each element
constexpr int BM = 128;                             // rows of the tile of C one block computes
constexpr int BN = 128;                             // and its columns
constexpr int BK = 64;                              // columns of A and rows of B in a step, which share a scale
constexpr int WM = 64;                              // rows of C that one warp owns
constexpr int WN = 32;                              // and its columns
constexpr int STAGES = 3;                           // steps in shared memory: one is multiplied, the others arrive
constexpr int BLOCKS_PER_SM = 1;
constexpr int SUMMED = 4;                           // slices of a step that tensor cores sum from zero
constexpr int HELD = 4;                             // fragments of B in registers at once

#include "parts.cuh"
#include "mma.cuh"

constexpr int LARGE = 0;                            // the planes
constexpr int REST = 1;
constexpr float SCALE = 2048.0f;                    // of the rests: they keep 11 bits, as the large parts do
constexpr int TOP = 14;                             // a scaled number is below 2^(TOP + 1): half reaches 65504
constexpr int BIAS = 127;                           // of float's exponents
constexpr int MOST_SCALE = BIAS - 1;                // so that the inverse is no subnormal number
constexpr unsigned TOO_LARGE = (BIAS + 100u) << 23; // sums of scaled numbers times one inverse stay finite below
constexpr unsigned INFINITE = 255u << 23;
constexpr unsigned NOT_A_NUMBER = 0x7fffffffu;
constexpr float OUTSIDE = -1.0f;                    // in place of the scales of a record that halves do not hold
static_assert(SLICES % SUMMED == 0 && ACROSS % HELD == 0, "whole sums");

// As `*` and `fmaf`, with subnormal numbers whatever flags the compiler has.
__device__ float times(float a, float b) {
    float product;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
    return product;
}
__device__ float plus_product(float a, float b, float c) {
    float sum;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
    return sum;
}

// Two to the power that brings a number with these bits to 2^TOP or above.
__device__ int exponent_for(unsigned bits) { return min(TOP + BIAS - static_cast<int>(bits >> 23), MOST_SCALE); }
__device__ float power_of_two(int exponent) { return __uint_as_float(static_cast<unsigned>(exponent + BIAS) << 23); }

// Two elements as halves: their large parts and their rests. Returns whether these have 22 bits of each.
__device__ bool split(float2 two, half2& large, half2& rest) {
    large = __floats2half2_rn(two.x, two.y);
    const float2 top = __half22float2(large);
    rest = __floats2half2_rn((two.x - top.x) * SCALE, (two.y - top.y) * SCALE);
    const float2 low = __half22float2(rest);
    const float2 lost = make_float2(two.x - top.x - low.x * (1.0f / SCALE), two.y - top.y - low.y * (1.0f / SCALE));
    constexpr float MOST_LOST = 1.0f / (1 << 22);
    return fabsf(lost.x) <= MOST_LOST * fabsf(two.x) && fabsf(lost.y) <= MOST_LOST * fabsf(two.y);
}

// Writes one record of A, or of B where `OF_A` is false: the halves, and what undoes the scale of each row (column).
// `marks` has for each row (column) of the matrix how many columns (rows) from its end (beginning) on hold its infinite
// numbers and NaN.
template <bool OF_A>
__device__ void split_record(const float* __restrict__ matrix, unsigned char* prepared, int* __restrict__ marks,
                             const int64_t N, int units, bool aligned) {
    __shared__ unsigned largest[UNIT];  // the bits of each row's (column's) largest magnitude
    prepare_record<OF_A>(prepared, units, [&](const Corner& corner, unsigned char* record) {
        float own[EIGHTS][HALVES];
#pragma unroll
        for (int i = 0; i < EIGHTS; ++i) {
            read_eight(own[i], matrix, N, corner.row + row_of<OF_A>(i), corner.col + col_of<OF_A>(i), aligned);
        }
        if (threadIdx.x < UNIT) {
            largest[threadIdx.x] = 0;
        }
        __syncthreads();
        const auto line_of = [&](int i, int e) { return OF_A ? row_of<OF_A>(i) : col_of<OF_A>(i) + e; };
        unsigned most[HALVES] = {};
#pragma unroll
        for (int i = 0; i < EIGHTS; ++i) {
#pragma unroll
            for (int e = 0; e < HALVES; ++e) {
                unsigned& so_far = most[OF_A ? 0 : e];
                so_far = max(so_far, __float_as_uint(fabsf(own[i][e])));
            }
            if (OF_A) {  // a row each turn; a thread's columns stay
                atomicMax(&largest[line_of(i, 0)], most[0]);
                most[0] = 0;
            }
        }
        if (!OF_A) {
#pragma unroll
            for (int e = 0; e < HALVES; ++e) {
                atomicMax(&largest[line_of(0, e)], most[e]);
            }
        }
        __syncthreads();
        bool outside = threadIdx.x < UNIT && largest[threadIdx.x] >= TOO_LARGE;
#pragma unroll
        for (int i = 0; i < EIGHTS; ++i) {
            EightHalves large;
            EightHalves rest;
#pragma unroll
            for (int e = 0; e < HALVES; e += 2) {
                const float2 scaled =
                    make_float2(times(own[i][e], power_of_two(exponent_for(largest[line_of(i, e)]))),
                                times(own[i][e + 1], power_of_two(exponent_for(largest[line_of(i, e + 1)]))));
                outside |= !split(scaled, large.two[e / 2], rest.two[e / 2]);
            }
#pragma unroll
            for (int e = 0; e < HALVES; ++e) {
                if (__float_as_uint(fabsf(own[i][e])) >= INFINITE) {
                    const int64_t row = corner.row + row_of<OF_A>(i);
                    const int64_t col = corner.col + col_of<OF_A>(i) + e;
                    atomicMax(marks + (OF_A ? row : col), static_cast<int>(OF_A ? N - col : row + 1));
                }
            }
            const int row = row_of<OF_A>(i);
            const int col = col_of<OF_A>(i);
            unsigned char* to = record + (OF_A ? place_in_a(row, col) : place_in_b(row, col)) * sizeof(half);
            *reinterpret_cast<EightHalves*>(to + LARGE * PLANE) = large;
            *reinterpret_cast<EightHalves*>(to + REST * PLANE) = rest;
        }
        outside = __syncthreads_or(outside);
        if (threadIdx.x < UNIT) {
            float* scales = reinterpret_cast<float*>(record + PLANES * PLANE);
            scales[threadIdx.x] = outside ? OUTSIDE : power_of_two(-exponent_for(largest[threadIdx.x]));
        }
    });
}

__global__ void __launch_bounds__(PREPARING)
prepare_kernel(const float* __restrict__ A, const float* __restrict__ B, unsigned char* __restrict__ prepared,
               int* __restrict__ marks, const int64_t N, const int units, const bool aligned) {
    if (blockIdx.y % 2 == 0) {
        split_record<true>(A, prepared, marks, N, units, aligned);
    } else {
        split_record<false>(B, prepared, marks + N, N, units, aligned);
    }
}

// Adds a step to a warp's sums, a few slices and fragments at a time. `down` and `across` undo the scales of the warp's
// rows and columns.
__device__ void multiply(Sums& sums, uint32_t a_place, uint32_t b_place, const float* down, const float* across) {
#pragma unroll
    for (int first = 0; first < SLICES; first += SUMMED) {
#pragma unroll
        for (int left = 0; left < ACROSS; left += HELD) {
            uint32_t b[PLANES][SUMMED][HELD][2];
#pragma unroll
            for (int s = 0; s < SUMMED; ++s) {
#pragma unroll
                for (int j = 0; j < HELD; j += 2) {
                    read_b(b[LARGE][s][j], b[LARGE][s][j + 1], b_place, LARGE, left + j, first + s);
                    read_b(b[REST][s][j], b[REST][s][j + 1], b_place, REST, left + j, first + s);
                }
            }
#pragma unroll
            for (int i = 0; i < DOWN; ++i) {
                float large[HELD][4] = {};
                float small[HELD][4] = {};
#pragma unroll
                for (int s = 0; s < SUMMED; ++s) {
                    uint32_t a[PLANES][4];
                    read_a(a[LARGE], a_place, LARGE, i, first + s);
                    read_a(a[REST], a_place, REST, i, first + s);
#pragma unroll
                    for (int j = 0; j < HELD; ++j) {
                        multiply_add(small[j], a[LARGE], b[REST][s][j]);
                    }
#pragma unroll
                    for (int j = 0; j < HELD; ++j) {
                        multiply_add(large[j], a[LARGE], b[LARGE][s][j]);
                    }
#pragma unroll
                    for (int j = 0; j < HELD; ++j) {
                        multiply_add(small[j], a[REST], b[LARGE][s][j]);
                    }
                }
                const float by[2] = {down[row_of_sum(i, 0)], down[row_of_sum(i, 2)]};
#pragma unroll
                for (int j = 0; j < HELD; ++j) {
                    const float2 two = *reinterpret_cast<const float2*>(across + col_of_sum(left + j, 0));
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        const float both = plus_product(small[j][e], 1.0f / SCALE, large[j][e]);
                        float& sum = sums[i][left + j][e];
                        sum = plus_product(times(both, by[e / 2]), e % 2 == 0 ? two.x : two.y, sum);
                    }
                }
            }
        }
    }
}

// The same by float32 instructions, from the matrices themselves: BK products from `k` on.
__device__ void multiply_in_float(Sums& sums, const float* __restrict__ A, const float* __restrict__ B, const int64_t N,
                                  int64_t row, int64_t col, int64_t k) {
#pragma unroll 1
    for (const int64_t end = k + BK; k < end; ++k) {
        float b[ACROSS][2];
#pragma unroll
        for (int j = 0; j < ACROSS; ++j) {
            b[j][0] = load_one(B, N, k, col + col_of_sum(j, 0));
            b[j][1] = load_one(B, N, k, col + col_of_sum(j, 1));
        }
#pragma unroll
        for (int i = 0; i < DOWN; ++i) {
            const float a[2] = {load_one(A, N, row + row_of_sum(i, 0), k), load_one(A, N, row + row_of_sum(i, 2), k)};
#pragma unroll
            for (int j = 0; j < ACROSS; ++j) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    sums[i][j][e] = plus_product(a[e / 2], b[j][e % 2], sums[i][j][e]);
                }
            }
        }
    }
}

// NaN where a sum has a product of an infinite number or a NaN and a zero above the other matrix's diagonal, most of
// which no step multiplies.
__device__ void mark(Sums& sums, const int* __restrict__ marks, const int64_t N, int64_t row, int64_t col) {
    int of_row[DOWN][2];
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int64_t r = row + row_of_sum(i, 2 * h);
            of_row[i][h] = r < N ? marks[r] : 0;
        }
    }
#pragma unroll
    for (int j = 0; j < ACROSS; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            const int64_t c = col + col_of_sum(j, e);
            const int of_column = c < N ? marks[N + c] : 0;
#pragma unroll
            for (int i = 0; i < DOWN; ++i) {
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    if (of_column > row + row_of_sum(i, 2 * h) + 1 || of_row[i][h] > N - c) {
                        sums[i][j][2 * h + e] = __uint_as_float(NOT_A_NUMBER);
                    }
                }
            }
        }
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
multiply_kernel(const float* __restrict__ A, const float* __restrict__ B, const unsigned char* __restrict__ prepared,
                float* __restrict__ C, int* __restrict__ tickets, const int* __restrict__ marks, const int64_t N,
                const int units, const int most, const int stages, const bool aligned) {
    extern __shared__ __align__(128) unsigned char memory[];
    const Part part = part_of(blockIdx.x, units, most);
    const Own own;
    const int64_t row = part.row + own.row;
    const int64_t col = part.col + own.col;
    Sums sums = {};
    for_each_step(prepared, part, units, memory, stages, [&](int step, const unsigned char* stage) {
        const float* down = reinterpret_cast<const float*>(stage + own.a_record + PLANES * PLANE) + own.row % UNIT;
        const float* across = reinterpret_cast<const float*>(stage + own.b_record + PLANES * PLANE) + own.col % UNIT;
        if (*down == OUTSIDE || *across == OUTSIDE) {
            multiply_in_float(sums, A, B, N, row, col, part.col + part.from + step * BK);
        } else {
            multiply(sums, address(stage) + own.a_place, address(stage) + own.b_place, down, across);
        }
    });
    store_in_turn(part, tickets, reinterpret_cast<int*>(memory), [&](bool add) {
        mark(sums, marks, N, row, col);
        store(C, N, row, col, sums, aligned, add);
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
    auto counts = torch::empty({parts.tiles + 2 * N}, A.options().dtype(torch::kInt));
    int* tickets = counts.data_ptr<int>();
    int* marks = tickets + parts.tiles;
    C10_CUDA_CHECK(cudaMemsetAsync(tickets, 0, counts.numel() * sizeof(int), stream));
    prepare_kernel<<<preparing(parts), PREPARING, 0, stream>>>(A.data_ptr<float>(), B.data_ptr<float>(),
                                                               prepared.data_ptr<uint8_t>(), marks, N, parts.units,
                                                               rows_aligned(A) && rows_aligned(B));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    const int stages = stages_on(A.get_device());
    const int shared = stages * STAGE;
    C10_CUDA_CHECK(cudaFuncSetAttribute(multiply_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    multiply_kernel<<<parts.blocks, THREADS, shared, stream>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), prepared.data_ptr<uint8_t>(), C.data_ptr<float>(), tickets, marks, N,
        parts.units, parts.most, stages, rows_aligned(C));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
