// wgmma_f16: tensor cores by `wgmma` (64 x 256 x 16), both operands in shared memory, fed by bulk copies in clusters.
//   changed    against wmma_f16.cu: four warps multiply at once and read both operands where a copy put them: B in rows
//              as A, since 16-bit operands may lie either way. The first launch lays them out as `wgmma` wants them, in
//              boxes of 64 x 64 that are copied whole; boxes that are zero are left out. Two blocks share B's columns:
//              each copies half of them to both. Sums begin in the middle of the matrix, so that blocks read the same
//              boxes at the same time; the longest are cut in two, whose parts are added in C. Blocks stay and take
//              part after part of a queue, the longest first; warps that do not multiply store C's zeros meanwhile
//   launch     prepare: (T(T + 1) / 2, 2) blocks of 256 threads for T = 2 ceil(N / 256); multiply: 1-D grid, one block
//              a multiprocessor in clusters of 2 (256 x 256 of C); 384 threads (2 x 4 warps that multiply, 2 x 64 rows
//              of C; 1 that copies; 3 that store zeros), 193 KiB of shared memory
//   needs      compute capability 9.0 exactly (sm_90a)
//   the line   `wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16`: 262144 multiply-adds in one instruction
//   predicted  0.072 to 0.080 ms on an H200: the product 0.041, where the longest part of a cluster takes 52 steps at
//              80 % of the peak, and 0.031 to 0.039 for the rounding
//   precision  inputs keep 11 bits: relative error about 3e-4. Range: |x| <= 65504 for every element (a larger one
//              becomes infinite); below 6.1e-5 bits are lost, below 3e-8 an element becomes zero. Sums are float32.

#include <cuda_fp16.h>
#include "triangular.cuh"
#include "wgmma.cuh"

constexpr int TILE = 256;                           // side of the tile of C that a cluster computes
constexpr int CLUSTER = 2;                          // blocks that share B's columns
constexpr int STRIP = 64;                           // rows of C of a warpgroup
constexpr int STRIPS = TILE / STRIP;
constexpr int BK = 64;                              // columns of A and rows of B staged at a time
constexpr int MMA_K = 16;                           // an instruction's depth
constexpr int STAGES = 4;                           // steps in shared memory
constexpr int GROUPS = 2;                           // warpgroups of a block that multiply
constexpr int MULTIPLIERS = GROUPS * 4 * WARP;      // threads that multiply
constexpr int COPIER = MULTIPLIERS / WARP;          // the warp that copies
constexpr int ZEROERS = 3 * WARP;                   // threads that store zeros
constexpr int THREADS = MULTIPLIERS + WARP + ZEROERS;
constexpr int SUMS = STRIP * TILE / (4 * WARP);     // of a thread
constexpr int ROW_BYTES = 128;                      // of a box, in which prepared matrices lie: 64 halves
constexpr int BOX = 64 * ROW_BYTES;                 // bytes of a box: 64 rows
constexpr int A_BYTES = GROUPS * BOX;
constexpr int STAGE_BYTES = A_BYTES + TILE / 64 * BOX;
constexpr int SWIZZLED = 8 * ROW_BYTES;             // bytes after which the swizzle repeats
constexpr int SHARED = SWIZZLED + STAGES * STAGE_BYTES + 2 * 4 + (2 + 2 * STAGES) * 8;
constexpr int PAUSE_NS = 500;                       // between stores of zeros, which leaves memory to the copies
constexpr int START_NS = 8000;                      // before the first, in which most of A and B come from memory
constexpr int PREPARED = 128;                       // side of the tile that a block of the first launch rounds
constexpr int PREPARERS = 256;                      // its threads
constexpr int AHEAD = 8;                            // reads that a thread has under way while preparing
static_assert(2 * (TILE / BK) > STAGES, "the copier knows that a part was read before it sends the next but one");

struct __align__(8) FourHalves {
    half2 low;
    half2 high;
};

// Four elements from `from` on, of which the first `count` are used and the others are zero.
__device__ float4 load_four(const float* from, int64_t count, bool aligned) {
    if (aligned && count >= FLOATS) {
        return __ldcs(reinterpret_cast<const float4*>(from));
    }
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (count > 0) four.x = from[0];
    if (count > 1) four.y = from[1];
    if (count > 2) four.z = from[2];
    if (count > 3) four.w = from[3];
    return four;
}

// Zeros in C from (row, col) on, four at a time.
__device__ void zero_four(float* __restrict__ C, const int64_t N, int64_t row, int64_t col, bool aligned) {
    float* to = C + row * N + col;
    if (aligned && row < N && col + FLOATS <= N) {
        __stcs(reinterpret_cast<float4*>(to), make_float4(0.0f, 0.0f, 0.0f, 0.0f));
        return;
    }
    for (int i = 0; i < FLOATS; ++i) {
        if (row < N && col + i < N) {
            to[i] = 0.0f;
        }
    }
}

// Where element (row, col) of a prepared matrix is. Boxes of 64 x 64 lie one after another, and in a row of a box the
// eighth parts as `wgmma` wants them in shared memory: the first bits of the row change their order.
__device__ int64_t place_of(int64_t row, int64_t col, int64_t side) {
    const int64_t box = row / 64 * (side / 64) + col / 64;
    return box * (64 * 64) + row % 64 * 64 + (col % 64 / 8 ^ row % 8) * 8 + col % 8;
}

// Writes one tile of A, or of B where blockIdx.y is 1, as half: zero above the diagonal and past the last row, so
// nothing above the diagonal is ever used. `prepared` holds two matrices of `side` rows. Sets the queue to zero, and
// the tiles of C whose sums are cut.
__global__ void __launch_bounds__(PREPARERS)
prepare_kernel(const float* __restrict__ A, const float* __restrict__ B, half* __restrict__ prepared,
               int* __restrict__ queue, float* __restrict__ C, const int64_t N, const int64_t side, const int most,
               const bool aligned) {
    const int block = blockIdx.x;
    int row = static_cast<int>((sqrtf(8.0f * block + 1.0f) - 1.0f) / 2.0f);  // of the tile, in tiles
    while (row * (row + 1) / 2 > block) --row;                               // the root is rounded
    while ((row + 1) * (row + 2) / 2 <= block) ++row;
    const int64_t corner_row = static_cast<int64_t>(row) * PREPARED;
    const int64_t corner_col = static_cast<int64_t>(block - row * (row + 1) / 2) * PREPARED;
    const float* matrix = blockIdx.y == 0 ? A : B;
    half* to = prepared + blockIdx.y * side * side;
    constexpr int QUADS = PREPARED / FLOATS;    // of a row
    constexpr int APART = PREPARERS / QUADS;    // rows from read to read
    const int64_t first_row = corner_row + threadIdx.x / QUADS;
    const int64_t col = corner_col + threadIdx.x % QUADS * FLOATS;
    for (int down = 0; down < PREPARED; down += APART * AHEAD) {
        float4 ahead[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int64_t at = first_row + down + i * APART;
            ahead[i] = load_four(matrix + at * N + col, at < N ? at - col + 1 : 0, aligned);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int64_t at = first_row + down + i * APART;
            *reinterpret_cast<FourHalves*>(to + place_of(at, col, side)) = {
                __floats2half2_rn(ahead[i].x, ahead[i].y), __floats2half2_rn(ahead[i].z, ahead[i].w)};
        }
    }
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        *queue = 0;
    }
    if (corner_row / TILE - corner_col / TILE >= most) {  // half of the rows by the block of each matrix
        const int half_rows = PREPARED / 2;
        for (int i = threadIdx.x; i < half_rows * QUADS; i += PREPARERS) {
            zero_four(C, N, corner_row + blockIdx.y * half_rows + i / QUADS, corner_col + i % QUADS * FLOATS, aligned);
        }
    }
}

// Writes a part's number to `mail` in that block of the cluster, whose barrier counts the bytes.
__device__ void send(int number, uint32_t mail, uint32_t barrier, uint32_t rank) {
    asm volatile(
        "{\n"
        ".reg .b32 there, told;\n"
        "mapa.shared::cluster.u32 there, %0, %2;\n"
        "mapa.shared::cluster.u32 told, %1, %2;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %3, [told];\n"
        "}\n" ::"r"(mail), "r"(barrier), "r"(rank), "r"(number) : "memory");
}

// Starts to copy boxes that lie one after another.
__device__ void copy_boxes(uint32_t to, const half* from, int boxes, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(to), "l"(from), "r"(boxes * BOX), "r"(barrier) : "memory");
}

// The same to both blocks of the cluster, at the same place, counted by the barrier of each.
__device__ void copy_boxes_to_both(uint32_t to, const half* from, int boxes, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
                 "[%3], %4;" ::"r"(to), "l"(from), "r"(boxes * BOX), "r"(barrier), "h"(static_cast<uint16_t>(3))
                 : "memory");
}

// Something in a ring of SIZE places, and how often its places were used before, odd or even.
template <int SIZE>
struct Ring {
    int place;
    uint32_t parity;

    __device__ void advance() {
        if (++place == SIZE) {
            place = 0;
            parity ^= 1;
        }
    }
};

// A matrix in shared memory in rows of 128 swizzled bytes, as `wgmma` wants it described; a matrix wider than a box
// goes on `apart` bytes further.
__device__ uint64_t matrix_at(uint32_t from, uint32_t apart) {
    constexpr uint64_t SWIZZLE_128B = 1ull << 62, EIGHT_ROWS_APART = SWIZZLED / 16ull << 32;
    return SWIZZLE_128B | EIGHT_ROWS_APART | static_cast<uint64_t>(apart / 16) << 16 | (from & 0x3ffff) >> 4;
}

// Adds the products of 64 rows of A and COLS columns of B to the sums. The last two numbers say how the operands lie:
// A's rows along k, B's across.
template <int COLS>
__device__ void multiply(float (&sums)[SUMS], uint64_t a, uint64_t b) {
    if constexpr (COLS == 64) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" PLACES_0 "}, %32, %33, 1, 1, 1, 0, 1;"
                     : SUMS_32(0) : "l"(a), "l"(b));
    } else if constexpr (COLS == 128) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" PLACES_0 PLACES_32
                     "}, %64, %65, 1, 1, 1, 0, 1;" : SUMS_32(0), SUMS_32(32) : "l"(a), "l"(b));
    } else if constexpr (COLS == 192) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 {" PLACES_0 PLACES_32 PLACES_64
                     "}, %96, %97, 1, 1, 1, 0, 1;" : SUMS_32(0), SUMS_32(32), SUMS_32(64) : "l"(a), "l"(b));
    } else {
        static_assert(COLS == 256, "the widths that steps need");
        asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" PLACES_0 PLACES_32 PLACES_64 PLACES_96
                     "}, %128, %129, 1, 1, 1, 0, 1;"
                     : SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96) : "l"(a), "l"(b));
    }
}

// Keeps the compiler from moving what it does with sums across this place: products change them behind its back.
__device__ void settle(float (&sums)[SUMS]) {
#pragma unroll
    for (int i = 0; i < SUMS; ++i) {
        asm volatile("" : "+f"(sums[i]) : : "memory");
    }
}

// Starts the products of a step, and waits until at most `LATER` steps are under way.
template <int COLS, int LATER>
__device__ void multiply_step(float (&sums)[SUMS], uint32_t a_box, uint32_t b_boxes) {
    const uint64_t a = matrix_at(a_box, 16);
    const uint64_t b = matrix_at(b_boxes, BOX);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int slice = 0; slice < BK / MMA_K; ++slice) {
        multiply<COLS>(sums, a + slice * (MMA_K * 2 / 16), b + slice * (MMA_K * ROW_BYTES / 16));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    wait_for_products<LATER>();
}

// Adds to C. Each element of a cut tile is zero plus one number of each part: their order changes no bit.
__device__ void add_four(float* to, float4 four) {
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                 ::"l"(to), "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w) : "memory");
}

// C[row][col .. col + 3] as far as it is within the matrix, zero above the diagonal; added to what is there if `add`.
__device__ void store_four(float* __restrict__ C, const int64_t N, int row, int col, float4 four, bool aligned,
                           bool add) {
    float* to = C + row * N + col;
    const float each[FLOATS] = {col > row ? 0.0f : four.x, col + 1 > row ? 0.0f : four.y,
                                col + 2 > row ? 0.0f : four.z, col + 3 > row ? 0.0f : four.w};
    if (aligned && !add && row < N && col < N) {
        *reinterpret_cast<float4*>(to) = make_float4(each[0], each[1], each[2], each[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < FLOATS; ++i) {
        if (row < N && col + i < N) {
            if (add) {
                atomicAdd(to + i, each[i]);
            } else {
                to[i] = each[i];
            }
        }
    }
}

// A warp's sums to C: 16 rows from `row` on, 256 columns from `col` on. A thread has pairs of neighbours; it gives one
// of two to the thread beside it and gets that thread's, so both have four. WHOLE: all lie below the diagonal.
template <bool WHOLE>
__device__ void store(float* __restrict__ C, const int64_t N, int row, int col, const float (&sums)[SUMS],
                      bool aligned, bool add) {
    const int lane = threadIdx.x % WARP;
    const bool odd = lane % 2 == 1;
    const int own_row = row + lane / 4, own_col = col + lane % 4 / 2 * 4 + (odd ? 8 : 0);
#pragma unroll
    for (int i = 0; i < SUMS; i += 8) {  // 16 columns
#pragma unroll
        for (int down = 0; down < 2; ++down) {
            const float* low = sums + i + down * 2;
            const float* high = low + 4;
            const float x = __shfl_xor_sync(~0u, odd ? low[0] : high[0], 1);
            const float y = __shfl_xor_sync(~0u, odd ? low[1] : high[1], 1);
            const float4 four = odd ? make_float4(x, y, high[0], high[1]) : make_float4(low[0], low[1], x, y);
            if (WHOLE) {
                float* to = C + (own_row + down * 8) * N + own_col + i * 2;
                if (add) {
                    add_four(to, four);
                } else {
                    *reinterpret_cast<float4*>(to) = four;
                }
            } else {
                store_four(C, N, own_row + down * 8, own_col + i * 2, four, aligned, add);
            }
        }
    }
}

// Zeros above the diagonal, but for the tiles on it; a row and its mirror image have the same number for all.
__device__ void store_zeros(float* __restrict__ C, const int64_t N, int thread, bool aligned) {
    __nanosleep(START_NS);
    for (int64_t pair = blockIdx.x; pair < (N + 1) / 2; pair += gridDim.x) {
        for (const int64_t row : {pair, N - 1 - pair}) {
            for (int64_t col = (row / TILE + 1) * TILE + thread * FLOATS; col < N; col += ZEROERS * FLOATS) {
                zero_four(C, N, row, col, aligned);
            }
        }
        __nanosleep(PAUSE_NS);
    }
}

// Where things lie in shared memory.
struct Places {
    uint32_t stages;
    uint32_t mail;   // the number of the part that comes next, and of the one after it
    uint32_t told;   // a barrier for each that counts its bytes
    uint32_t full;   // a barrier for each stage that counts the bytes of its copies
    uint32_t empty;  // and one for the warps of both blocks that are done with it

    __device__ explicit Places(const void* memory) {
        stages = (address(memory) + SWIZZLED - 1) / SWIZZLED * SWIZZLED;
        told = stages + STAGES * STAGE_BYTES;
        full = told + 2 * 8;
        empty = full + STAGES * 8;
        mail = empty + STAGES * 8;
    }
};

// Numbers of parts in the order in which the cluster takes them.
struct Numbers {
    Ring<2> ring;

    __device__ uint32_t mail(const Places& at) const { return at.mail + ring.place * 4; }
    __device__ uint32_t told(const Places& at) const { return at.told + ring.place * 8; }

    // Waits for the next number, sent while the part before was copied.
    __device__ int receive(const Places& at) {
        int number;
        wait_for(told(at), ring.parity);
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(number) : "r"(mail(at)) : "memory");
        ring.advance();
        return number;
    }
};

// The strip of a tile's rows that a warpgroup has: the first and the last, or the others, so that zeros weigh the same.
__device__ int strip_of(int group, uint32_t rank) { return group == 0 ? rank : STRIPS - 1 - rank; }

// Where a sum begins: in the middle of the matrix, where most have products, so that those who begin together read the
// same rows of B and columns of A; they go on to their end, and from their first product to the middle.
__device__ int start_of(const Part& part, int tiles) {
    const int middle = tiles / 2 * TILE;
    return part.from < middle && middle < part.to ? middle : part.from;
}

// One thread copies what both warpgroups multiply, and half of B for both blocks. That of the first block takes the
// cluster's next part from the queue.
__device__ void copy_parts(const half* __restrict__ a, const half* __restrict__ b, const Places& at, uint32_t rank,
                           int* __restrict__ queue, int tiles, int most) {
    const int64_t side = tiles * TILE;
    Ring<STAGES> ring = {0, 1};
    Numbers numbers = {{0, 0}};
    int number = blockIdx.x / CLUSTER;
    for (Part part = part_of<TILE>(number, tiles, most); part.to > 0; part = part_of<TILE>(number, tiles, most)) {
        expect_bytes(numbers.told(at), sizeof(number));
        int next = 0;
        if (rank == 0) {
            next = gridDim.x / CLUSTER + atomicAdd(queue, 1);  // not waited for before the copies are under way
        }
        const int start = start_of(part, tiles);
        for (int i = 0; i < part.to - part.from; i += BK) {
            const int k = start + i < part.to ? start + i : start + i - (part.to - part.from);
            const uint32_t full = at.full + ring.place * 8;
            const uint32_t a_boxes = at.stages + ring.place * STAGE_BYTES, b_boxes = a_boxes + A_BYTES;
            const int boxes = k < part.col + TILE ? (k - part.col) / 64 + 1 : TILE / 64;  // of B, that are not zero
            const int above = k >= part.row ? (k - part.row) / STRIP : 0;                 // strips of A that are zero
            const int strips = (strip_of(0, rank) >= above) + (strip_of(1, rank) >= above);
            wait_for(at.empty + ring.place * 8, ring.parity);
            expect_bytes(full, (strips + boxes) * BOX);
            for (int group = 0; group < GROUPS; ++group) {
                const int strip = strip_of(group, rank);
                if (strip >= above) {
                    copy_boxes(a_boxes + group * BOX, a + place_of(part.row + strip * STRIP, k, side), 1, full);
                }
            }
            const int first = rank * 2, own = min(boxes - first, 2);
            if (own > 0) {
                copy_boxes_to_both(b_boxes + first * BOX, b + place_of(k, part.col + first * 64, side), own, full);
            }
            ring.advance();
        }
        if (rank == 0) {
            for (int to = 0; to < CLUSTER; ++to) {
                send(next, numbers.mail(at), numbers.told(at), to);
            }
        }
        number = numbers.receive(at);
    }
}

// A warpgroup's share of the products: 64 rows of each tile.
__device__ void multiply_parts(float* __restrict__ C, const Places& at, uint32_t rank, const int64_t N, int tiles,
                               int most, bool aligned) {
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, group = warp / 4;
    const int strip = strip_of(group, rank);
    Ring<STAGES> ring = {0, 0};
    Numbers numbers = {{0, 0}};
    const auto release = [&](int stage) {
        __syncwarp();
        if (lane < CLUSTER) {
            arrive_at(at.empty + stage * 8, lane);
        }
    };
    const auto wait = [&]() {
        wait_for(at.full + ring.place * 8, ring.parity);
        return at.stages + ring.place * STAGE_BYTES;
    };
    int number = blockIdx.x / CLUSTER;
    for (Part part = part_of<TILE>(number, tiles, most); part.to > 0; part = part_of<TILE>(number, tiles, most)) {
        const int start = start_of(part, tiles);
        float sums[SUMS];
#pragma unroll
        for (int i = 0; i < SUMS; ++i) {
            sums[i] = 0.0f;
        }
        settle(sums);
#pragma unroll 1
        for (int stretch = 0; stretch < 2; ++stretch) {
            int k = stretch == 0 ? start : part.from;
            const int to = stretch == 0 ? part.to : start;
            const int end = min(to, part.row + (strip + 1) * STRIP);  // from here on A is zero
#pragma unroll 1
            for (; k < min(part.col + TILE - 64, end); k += BK) {  // columns of B that are zero are left out
                const uint32_t stage = wait(), a = stage + group * BOX, b = stage + A_BYTES;
                if (k == part.col) {
                    multiply_step<64, 0>(sums, a, b);
                } else if (k == part.col + 64) {
                    multiply_step<128, 0>(sums, a, b);
                } else {
                    multiply_step<192, 0>(sums, a, b);
                }
                release(ring.place);
                ring.advance();
            }
            if (k < end) {
                int before = ring.place;
                multiply_step<256, 1>(sums, wait() + group * BOX, at.stages + before * STAGE_BYTES + A_BYTES);
                ring.advance();
#pragma unroll 1
                for (k += BK; k < end; k += BK) {
                    const uint32_t stage = wait();
                    multiply_step<256, 1>(sums, stage + group * BOX, stage + A_BYTES);
                    release(before);
                    before = ring.place;
                    ring.advance();
                }
                wait_for_products<0>();
                release(before);
            }
#pragma unroll 1
            for (; k < to; k += BK) {
                wait();
                release(ring.place);
                ring.advance();
            }
        }
        settle(sums);
        const int row = part.row + strip * STRIP + warp % 4 * 16;
        const bool cut = part.from != part.col || part.to != part.row + TILE;
        if (aligned && part.row > part.col && row + 16 <= N) {
            store<true>(C, N, row, part.col, sums, aligned, cut);
        } else {
            store<false>(C, N, row, part.col, sums, aligned, cut);
        }
        number = numbers.receive(at);
    }
}

__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
multiply_kernel(const half* __restrict__ prepared, float* __restrict__ C, int* __restrict__ queue, const int64_t N,
                const int tiles, const int most, const bool aligned) {
    extern __shared__ unsigned char memory[];
    const Places at(memory);
    const uint32_t rank = rank_in_cluster();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) {
            init_barrier(at.told + i * 8, 1);
        }
        for (int i = 0; i < STAGES; ++i) {
            init_barrier(at.full + i * 8, 1);
            init_barrier(at.empty + i * 8, CLUSTER * MULTIPLIERS / WARP);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    sync_cluster();
    const int warp = threadIdx.x / WARP;
    if (warp < COPIER) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
        multiply_parts(C, at, rank, N, tiles, most, aligned);
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
        if (warp > COPIER) {
            store_zeros(C, N, threadIdx.x - MULTIPLIERS - WARP, aligned);
        } else if (threadIdx.x % WARP == 0) {
            const int64_t side = tiles * TILE;
            copy_parts(prepared, prepared + side * side, at, rank, queue, tiles, most);
        }
    }
    __syncwarp();    // the copier's other lanes have waited for it
    sync_cluster();  // no block leaves while the other may still write to it
}

// How the work on N x N matrices is divided.
struct Division {
    int64_t clusters;
    int64_t tiles;  // of C a side
    int64_t side;   // of the prepared matrices: whole tiles
    int64_t most;   // tiles long are the sums that are not cut
};

Division divided(int64_t N, int device) {
    int multiprocessors = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int64_t clusters = multiprocessors / CLUSTER;
    const int64_t tiles = (N + TILE - 1) / TILE;
    const int64_t all = tiles * (tiles + 1) * (tiles + 2) / 6;  // tiles long are all sums together
    const int64_t fair = (all + clusters - 1) / clusters, half = (tiles + 1) / 2;
    return {clusters, tiles, tiles * TILE, fair < half ? half : fair < tiles ? fair : tiles};
}

half* halves(torch::Tensor& prepared) { return reinterpret_cast<half*>(prepared.data_ptr<at::Half>()); }

// Launches the first kernel.
void prepare(const torch::Tensor& A, const torch::Tensor& B, torch::Tensor& prepared, torch::Tensor& queue,
             torch::Tensor& C, const Division& by) {
    const unsigned down = by.side / PREPARED;
    prepare_kernel<<<dim3(down * (down + 1) / 2, 2), PREPARERS, 0, at::cuda::getCurrentCUDAStream()>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), halves(prepared), queue.data_ptr<int>(), C.data_ptr<float>(),
        A.size(0), by.side, by.most, rows_aligned(A) && rows_aligned(B) && rows_aligned(C));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// Launches the second.
void multiply_prepared(torch::Tensor& prepared, torch::Tensor& queue, torch::Tensor& C, const Division& by) {
    C10_CUDA_CHECK(cudaFuncSetAttribute(multiply_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    multiply_kernel<<<by.clusters * CLUSTER, THREADS, SHARED, at::cuda::getCurrentCUDAStream()>>>(
        halves(prepared), C.data_ptr<float>(), queue.data_ptr<int>(), C.size(0), by.tiles, by.most, rows_aligned(C));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    check_inputs(A, B);
    const c10::cuda::CUDAGuard guard(A.device());
    const int64_t N = A.size(0);
    auto C = torch::empty_like(A);
    if (N == 0) {
        return C;
    }
    const Division by = divided(N, A.get_device());
    auto prepared = torch::empty({2, by.side, by.side}, A.options().dtype(torch::kHalf));
    auto queue = torch::empty({1}, A.options().dtype(torch::kInt));
    prepare(A, B, prepared, queue, C, by);
    multiply_prepared(prepared, queue, C, by);
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
