// Tiles that are staged and multiplied four floats at a time, as vector_loads.cu introduces them and the steps after it
// keep them. Included after triangular.cuh.
#pragma once

constexpr int BM = 128;          // rows of the tile of C one block computes
constexpr int BN = 128;          // and its columns
constexpr int BK = 8;            // columns of A and rows of B staged at a time
constexpr int TM = 8;            // rows of C that one thread owns: two times four
constexpr int TN = 8;            // and its columns: two times four
constexpr int ACROSS = BN / TN;  // threads along a row of the tile
constexpr int THREADS = BM / TM * ACROSS;
constexpr int A_PITCH = BM + 4;  // floats from column to column of A's tile: a warp that stores shares no bank
static_assert(BM * BK == THREADS * FLOATS && BK * BN == THREADS * FLOATS, "a thread reads four of either tile");

struct Stage {
    float a[BK][A_PITCH];  // transposed
    float b[BK][BN];
};

// Puts what a thread has read of either tile into shared memory.
__device__ inline void stage_fours(Stage& to, float4 a, float4 b) {
    const int a_row = threadIdx.x * FLOATS / BK, a_col = threadIdx.x * FLOATS % BK;
    to.a[a_col][a_row] = a.x;
    to.a[a_col + 1][a_row] = a.y;
    to.a[a_col + 2][a_row] = a.z;
    to.a[a_col + 3][a_row] = a.w;
    *reinterpret_cast<float4*>(&to.b[threadIdx.x * FLOATS / BN][threadIdx.x * FLOATS % BN]) = b;
}

// Adds the products of a staged step; (row, col) is the thread's first place in the tile, four from there on and four
// half a tile further. Shared memory delivers 128 bytes a clock, a pass. A warp reads B at 16 places, whose fours lie
// side by side: 256 bytes, two passes. It reads A at two places: one pass. So two reads of each take 6 passes. Were a
// thread's eight columns neighbours, its fours would lie 32 bytes apart, and a read of B would use half of the banks.
__device__ inline void multiply(float (&sums)[TM][TN], const Stage& from, int row, int col) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
        float a[TM], b[TN];
        read_four(a, &from.a[k][row]);
        read_four(a + FLOATS, &from.a[k][row + BM / 2]);
        read_four(b, &from.b[k][col]);
        read_four(b + FLOATS, &from.b[k][col + BN / 2]);
#pragma unroll
        for (int i = 0; i < TM; ++i) {
#pragma unroll
            for (int j = 0; j < TN; ++j) {
                sums[i][j] += a[i] * b[j];
            }
        }
    }
}
