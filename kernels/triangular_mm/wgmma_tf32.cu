// wgmma_tf32: tensor cores by `wgmma` (64 x 256 x 8), fed by TMA, the tensor memory accelerator, in clusters of two.
//   changed    against mma_tf32.cu: four warps multiply at once, and their second operand stays in shared memory: A as
//              it lies, 256 rows. The first comes from registers: B's columns, so the sums are those of C transposed,
//              and B, which TMA cannot transpose, is read and rounded by plain loads. A thread of its own starts the
//              copies, four steps ahead; A's reach both blocks of a cluster. Steps in which a warpgroup's operand is
//              zero are left out. Blocks stay and take part after part; other warps store the zeros meanwhile
//   launch     1-D grid, one block a multiprocessor in clusters of 2 (256 x 256 of C); 384 threads (2 x 4 warps that
//              multiply, 64 columns of C each; 1 that copies; 3 that store zeros), 213 KiB of shared memory.
//              Where N is no multiple of 4, a launch before it copies A and B to rows that TMA can address
//   needs      compute capability 9.0 exactly (sm_90a)
//   the line   `wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32`: 131072 multiply-adds in one instruction
//   predicted  0.113 to 0.12 ms on an H200: a trial's 0.113, and a queue and tickets that each call clears
//   precision  inputs keep 11 bits: relative error about 3e-4. Range: that of float32.

#include <cudaTypedefs.h>
#include "triangular.cuh"
#include "wgmma.cuh"

constexpr int TILE = 256;                           // side of the tile of C that a cluster computes
constexpr int CLUSTER = 2;                          // blocks that share A's tile
constexpr int STRIP = 64;                           // columns of C of a warpgroup; rows of A in a copy
constexpr int STRIPS = TILE / STRIP;
constexpr int BK = 32;                              // columns of A and rows of B staged at a time: 128 bytes of A's row
constexpr int MMA_K = 8;                            // an instruction's depth
constexpr int SLICES = BK / MMA_K;                  // instructions deep is a step
constexpr int STAGES = 4;                           // steps in shared memory
constexpr int GROUPS = 2;                           // warpgroups of a block that multiply
constexpr int MULTIPLIERS = GROUPS * 4 * WARP;      // threads that multiply
constexpr int COPIER = MULTIPLIERS / WARP;          // the warp that copies
constexpr int ZEROERS = 3 * WARP;                   // threads that store zeros
constexpr int THREADS = MULTIPLIERS + WARP + ZEROERS;
constexpr int SUMS = TILE * STRIP / (4 * WARP);     // of a thread
constexpr int A_BOX = STRIP * BK * 4;               // bytes of one copy of A: 64 rows, 32 columns
constexpr int B_BOX = BK * BK * 4;                  // and of B: 32 rows, 32 columns
constexpr int A_BYTES = STRIPS * A_BOX;
constexpr int STAGE_BYTES = A_BYTES + GROUPS * 2 * B_BOX;
constexpr int SWIZZLED = 1024;                      // bytes after which the swizzle of 128-byte rows repeats
constexpr int OUT_PITCH = 20;                       // floats from row to row of a warp's 32 x 16 sums on their way out
constexpr int OUT_BYTES = 32 * OUT_PITCH * 4;       // of a warp
constexpr int SHARED = SWIZZLED + STAGES * STAGE_BYTES + MULTIPLIERS / WARP * OUT_BYTES + 16 + (2 * STAGES + 1) * 8;
constexpr int PAUSE_NS = 1000;                      // between stores of zeros, which leaves memory to the copies
static_assert(TILE / BK > STAGES, "the copier knows that a part was read before it sends the next");

// Writes a part to `mail` in that block of the cluster, whose barrier counts the bytes.
__device__ void send(const Part& part, uint32_t mail, uint32_t barrier, uint32_t rank) {
    asm volatile(
        "{\n"
        ".reg .b32 there, told;\n"
        "mapa.shared::cluster.u32 there, %0, %2;\n"
        "mapa.shared::cluster.u32 told, %1, %2;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [there], {%3, %4, %5, %6}, [told];\n"
        "}\n" ::"r"(mail), "r"(barrier), "r"(rank), "r"(part.row), "r"(part.col), "r"(part.from), "r"(part.to)
        : "memory");
}

// Waits for the next part, sent while the one before was copied.
__device__ Part receive(uint32_t mail, uint32_t barrier, uint32_t& parity) {
    Part part;
    wait_for(barrier, parity);
    parity ^= 1;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(part.row), "=r"(part.col), "=r"(part.from), "=r"(part.to) : "r"(mail) : "memory");
    return part;
}

// Starts to copy the box whose first element is (row, col); what is outside of the matrix is zero.
__device__ void copy_box(uint32_t to, const CUtensorMap& map, int row, int col, uint32_t barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(to), "l"(&map), "r"(col), "r"(row), "r"(barrier) : "memory");
}

// The same to both blocks of the cluster, at the same place, counted by the barrier of each.
__device__ void copy_box_to_both(uint32_t to, const CUtensorMap& map, int row, int col, uint32_t barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
                 "[%1, {%2, %3}], [%4], %5;"
                 ::"r"(to), "l"(&map), "r"(col), "r"(row), "r"(barrier), "h"(static_cast<uint16_t>(3)) : "memory");
}

// The step that comes next, and how often the stages were filled before, odd or even.
struct Ring {
    int stage;
    uint32_t parity;

    __device__ void advance() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

// A matrix in shared memory in rows of 128 swizzled bytes, as `wgmma` wants it described.
__device__ uint64_t matrix_at(uint32_t from) {
    constexpr uint64_t SWIZZLE_128B = 1ull << 62, EIGHT_ROWS_APART = SWIZZLED / 16ull << 32, UNUSED = 1ull << 16;
    return SWIZZLE_128B | EIGHT_ROWS_APART | UNUSED | (from & 0x3ffff) >> 4;
}

__device__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

#define OPERANDS "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "l"(a)

// Adds the products of 64 columns of B, in registers, and ROWS rows of A, in shared memory, to the sums.
template <int ROWS>
__device__ void multiply(float (&sums)[SUMS], const uint32_t* b, uint64_t a) {
    if constexpr (ROWS == 64) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {" PLACES_0
                     "}, {%32, %33, %34, %35}, %36, 1, 1, 1;" : SUMS_32(0) : OPERANDS);
    } else if constexpr (ROWS == 128) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {" PLACES_0 PLACES_32
                     "}, {%64, %65, %66, %67}, %68, 1, 1, 1;" : SUMS_32(0), SUMS_32(32) : OPERANDS);
    } else if constexpr (ROWS == 192) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n192k8.f32.tf32.tf32 {" PLACES_0 PLACES_32 PLACES_64
                     "}, {%96, %97, %98, %99}, %100, 1, 1, 1;" : SUMS_32(0), SUMS_32(32), SUMS_32(64) : OPERANDS);
    } else {
        static_assert(ROWS == 256, "the widths that steps need");
        asm volatile("wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" PLACES_0 PLACES_32 PLACES_64 PLACES_96
                     "}, {%128, %129, %130, %131}, %132, 1, 1, 1;"
                     : SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96) : OPERANDS);
    }
}

// A lane's part of a warpgroup's 64 columns of B in one step: places (k, k + 4) x (column, column + 4) of each slice.
using Columns = uint32_t[SLICES * 4];

// Starts the products of a step, and waits until at most `LATER` steps are under way.
template <int ROWS, int LATER>
__device__ void multiply_step(float (&sums)[SUMS], const Columns& b, uint64_t a) {
    begin_products();
#pragma unroll
    for (int slice = 0; slice < SLICES; ++slice) {
        multiply<ROWS>(sums, b + slice * 4, a + slice * (MMA_K * 4 / 16));
    }
    end_products();
    wait_for_products<LATER>();
}

// Reads B's columns of one step; `places` are those of the first slice. If the step lies across the diagonal, what is
// above it is zero; `ahead` is the first element's k less its column.
__device__ void read_columns(Columns& b, uint32_t stage, const uint32_t (&places)[4], bool diagonal, int ahead) {
#pragma unroll
    for (int slice = 0; slice < SLICES; ++slice) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float value;
            asm volatile("ld.shared.f32 %0, [%1];"
                         : "=f"(value) : "r"(stage + places[i] + slice * MMA_K * BK * 4) : "memory");
            b[slice * 4 + i] = rounded(value);
        }
    }
    if (diagonal) {
#pragma unroll
        for (int i = 0; i < SLICES * 4; ++i) {
            const int down = i / 4 * MMA_K + i % 4 / 2 * 4, across = i % 2 * 4;
            b[i] = ahead + down < across ? 0 : b[i];
        }
    }
}

// Zeros above the diagonal of A, in the 64 rows of a stage that lie across it; `used` of the first of these rows are
// on or below it. Waits for the other warps that multiply.
__device__ void zero_upper(uint32_t rows, int used) {
    const int row = threadIdx.x / 4;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int chunk = threadIdx.x % 4 * 2 + i;  // 16 bytes of the row, which the swizzle moves
        const uint32_t place = rows + row * BK * 4 + ((chunk ^ row % 8) << 4);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            if (chunk * 4 + j >= used + row) {
                asm volatile("st.shared.f32 [%0], %1;" ::"r"(place + j * 4), "f"(0.0f) : "memory");
            }
        }
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // before `wgmma` reads them
    asm volatile("bar.sync 1, %0;" ::"n"(MULTIPLIERS) : "memory");
}

// C[row][col .. col + 3] as far as it is within the matrix, zero above the diagonal; plus what is there if `add`.
__device__ void store_four(float* __restrict__ C, const int64_t N, int row, int col, float4 four, bool aligned,
                           bool add) {
    float* to = C + row * N + col;
    if (aligned && row < N && col < N) {
        if (add) {
            const float4 there = __ldcg(reinterpret_cast<const float4*>(to));
            four = make_float4(four.x + there.x, four.y + there.y, four.z + there.z, four.w + there.w);
        }
        if (col + FLOATS - 1 > row) {
            four = make_float4(col > row ? 0.0f : four.x, col + 1 > row ? 0.0f : four.y, col + 2 > row ? 0.0f : four.z,
                               0.0f);
        }
        *reinterpret_cast<float4*>(to) = four;
        return;
    }
    const float each[FLOATS] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < FLOATS; ++i) {
        if (row < N && col + i < N) {
            to[i] = col + i > row ? 0.0f : add ? each[i] + __ldcg(to + i) : each[i];
        }
    }
}

// A warp's sums to C, 16 columns from `col` on of the tile from `row` on, by way of its own shared memory.
__device__ void store(float* __restrict__ C, const int64_t N, int row, int col, const float (&sums)[SUMS],
                      uint32_t out, bool aligned, bool add) {
    const int lane = threadIdx.x % WARP;
    const int four_col = lane % 4 / 2 * 4 + lane % 2 * 16;  // the warp's columns are two runs of 8
#pragma unroll
    for (int slab = 0; slab < TILE / WARP; ++slab) {  // 32 rows of C each, the last 64 rows first
        __syncwarp();
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const int down = i / 4 * 8 + lane % 4 * 2 + i % 2, across = lane / 4 + i % 4 / 2 * 8;
            asm volatile("st.shared.f32 [%0], %1;" ::"r"(out + (down * OUT_PITCH + across) * 4),
                         "f"(sums[slab * 16 + i]) : "memory");
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int down = i * 8 + lane / 4;
            float4 four;
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
                         : "r"(out + (down * OUT_PITCH + lane % 4 * 4) * 4) : "memory");
            const int to_row = row + (STRIPS - 1 - slab / 2) * STRIP + slab % 2 * WARP + down;
            store_four(C, N, to_row, col + four_col, four, aligned, add);
        }
    }
}

// Zeros above the diagonal, but for the tiles on it; a row and its mirror image have the same number for all.
__device__ void store_zeros(float* __restrict__ C, const int64_t N, int thread, bool aligned) {
    for (int64_t pair = blockIdx.x; pair < (N + 1) / 2; pair += gridDim.x) {
        for (int side = 0; side < 2; ++side) {
            const int64_t row = side ? N - 1 - pair : pair;
            float* to = C + row * N;
            const int64_t first = (row / TILE + 1) * TILE;
            if (aligned) {
                for (int64_t col = first + thread * FLOATS; col < N; col += ZEROERS * FLOATS) {
                    __stcs(reinterpret_cast<float4*>(to + col), make_float4(0.0f, 0.0f, 0.0f, 0.0f));
                }
            } else {
                for (int64_t col = first + thread; col < N; col += ZEROERS) {
                    to[col] = 0.0f;
                }
            }
        }
        __nanosleep(PAUSE_NS);
    }
}

constexpr int FINISHED = 2;  // what the first warp of a cut tile adds to its ticket when C has its part; to come adds 1

// Whether the warp with the tile's other part has come before. Then its part is in C.
__device__ bool came_second(int* ticket) {
    int before = 0;
    if (threadIdx.x % WARP == 0) {
        before = atomicAdd(ticket, 1);
        if (before == 1) {  // the other one is storing at this moment
            while (atomicAdd(ticket, 0) != 2 + FINISHED) {
            }
        }
        __threadfence();
    }
    __syncwarp();
    return __shfl_sync(~0u, before, 0) != 0;
}

__device__ void finish(int* ticket) {
    __threadfence();
    __syncwarp();
    if (threadIdx.x % WARP == 0) {
        atomicAdd(ticket, FINISHED);
    }
}

// Where things lie in shared memory.
struct Places {
    uint32_t stages;
    uint32_t out;
    uint32_t mail;     // the part that comes next
    uint32_t told;     // the barrier that counts its bytes
    uint32_t full;     // a barrier for each stage that counts the bytes of its copies
    uint32_t empty;    // and one for the warps of both blocks that are done with it

    __device__ explicit Places(const void* memory) {
        stages = (address(memory) + SWIZZLED - 1) / SWIZZLED * SWIZZLED;
        out = stages + STAGES * STAGE_BYTES;
        mail = out + MULTIPLIERS / WARP * OUT_BYTES;
        told = mail + sizeof(Part);
        full = told + 8;
        empty = full + STAGES * 8;
    }
};

// First column of a warpgroup: the first and the last 64 of the tile, or the others, so that zeros weigh the same.
__device__ int column_of(const Part& part, int group, uint32_t rank) {
    return part.col + (rank == 0 ? (STRIPS - 1) * group : 1 + group) * STRIP;
}

// One thread copies what both warpgroups multiply, and half of A for both blocks. That of the first block takes the
// cluster's next part from the queue.
__device__ void copy_parts(const CUtensorMap& map_a, const CUtensorMap& map_b, const Places& at, Part part,
                           uint32_t rank, int* queue, int tiles, int most) {
    Ring ring = {0, 1};
    uint32_t parity = 0;
    while (part.to > 0) {
        expect_bytes(at.told, sizeof(Part));
        const int taken = rank == 0 ? atomicAdd(queue, 1) : 0;  // not waited for before the copies are under way
        for (int k = part.from; k < part.to; k += BK) {
            const uint32_t full = at.full + ring.stage * 8;
            const uint32_t a = at.stages + ring.stage * STAGE_BYTES, b = a + A_BYTES;
            const int above = k < part.row ? 0 : (k - part.row) / STRIP;  // strips of A that are zero
            const int strips = STRIPS - above;
            const int first = column_of(part, 0, rank), second = column_of(part, 1, rank);
            wait_for(at.empty + ring.stage * 8, ring.parity);
            expect_bytes(full, strips * A_BOX + ((k >= first) + (k >= second)) * 2 * B_BOX);
            for (int i = rank * STRIPS / CLUSTER; i < (rank + 1) * STRIPS / CLUSTER && i < strips; ++i) {
                copy_box_to_both(a + i * A_BOX, map_a, part.row + (STRIPS - 1 - i) * STRIP, k, full);
            }
            if (k >= first) {
                copy_box(b, map_b, k, first, full);
                copy_box(b + B_BOX, map_b, k, first + BK, full);
            }
            if (k >= second) {
                copy_box(b + 2 * B_BOX, map_b, k, second, full);
                copy_box(b + 3 * B_BOX, map_b, k, second + BK, full);
            }
            ring.advance();
        }
        if (rank == 0) {
            const Part next = part_of<TILE>(gridDim.x / CLUSTER + taken, tiles, most);
            send(next, at.mail, at.told, 0);
            send(next, at.mail, at.told, 1);
        }
        part = receive(at.mail, at.told, parity);
    }
}

// A warp's share of the products. Which column of B is which row of the instruction is chosen so that a warp's reads
// of swizzled rows share no bank: lane 4 g + q has columns g % 4 + 16 (g / 4) of each 32, and those 4 further.
__device__ void multiply_parts(float* __restrict__ C, const Places& at, Part part, uint32_t rank,
                               int* __restrict__ tickets, const int64_t N, int tiles, bool aligned) {
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, group = warp / 4;
    const int across = lane / 4 % 4, half = lane / 16, down = lane % 4;
    const int box = warp % 4 / 2, chunk = warp % 2 * 2;
    const int own = box * BK + chunk * 4;  // the warp's first column, of the warpgroup's
    uint32_t places[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int k = i / 2 * 4 + down;
        places[i] = A_BYTES + (group * 2 + box) * B_BOX + k * BK * 4 + (((chunk + i % 2 + 4 * half) ^ k) << 4) +
                    4 * across;
    }
    Ring ring = {0, 0};
    uint32_t parity = 0;
    const auto release = [&](int stage) {
        __syncwarp();
        if (lane < CLUSTER) {
            arrive_at(at.empty + stage * 8, lane);
        }
    };
    const auto wait = [&]() {
        wait_for(at.full + ring.stage * 8, ring.parity);
        return at.stages + ring.stage * STAGE_BYTES;
    };
    while (part.to > 0) {
        const int col = column_of(part, group, rank);
        const int lane_col = col + own + half * 16 + across;
        const int tail = max(part.from, min(part.row, part.to));  // from here on some rows of A are zero
        float sums[SUMS];
#pragma unroll
        for (int i = 0; i < SUMS; ++i) {
            sums[i] = 0.0f;
        }
        int k = part.from;
        for (; k < min(col, tail); k += BK) {  // these columns of B are zero
            wait();
            release(ring.stage);
            ring.advance();
        }
        if (k < tail) {
            Columns even, odd;
            int before = -1;
            const auto step = [&](Columns& b, int k) {
                const uint32_t stage = wait();
                read_columns(b, stage, places, k < col + STRIP, k + down - lane_col);
                multiply_step<TILE, 1>(sums, b, matrix_at(stage));
                if (before >= 0) {
                    release(before);
                }
                before = ring.stage;
                ring.advance();
            };
#pragma unroll 1
            for (; k < tail; k += 2 * BK) {
                step(even, k);
                step(odd, k + BK);
            }
            wait_for_products<0>();
            release(before);
        }
#pragma unroll 1
        for (; k < part.to; k += BK) {
            const uint32_t stage = wait();
            const int above = (k - part.row) / STRIP;
            zero_upper(stage + (STRIPS - 1 - above) * A_BOX, part.row + above * STRIP - k + 1);
            if (k >= col) {
                Columns b;
                const uint64_t a = matrix_at(stage);
                read_columns(b, stage, places, k < col + STRIP, k + down - lane_col);
                if (above == 0) {
                    multiply_step<TILE, 0>(sums, b, a);
                } else if (above == 1) {
                    multiply_step<TILE - STRIP, 0>(sums, b, a);
                } else if (above == 2) {
                    multiply_step<TILE - 2 * STRIP, 0>(sums, b, a);
                } else {
                    multiply_step<TILE - 3 * STRIP, 0>(sums, b, a);
                }
            }
            release(ring.stage);
            ring.advance();
        }
        const bool cut = part.from != part.col || part.to != part.row + TILE;
        const int tile = part.row / TILE * tiles + part.col / TILE;
        int* ticket = tickets + (tile * CLUSTER + rank) * (MULTIPLIERS / WARP) + warp;
        const bool second = cut && came_second(ticket);
        store(C, N, part.row, col + own, sums, at.out + warp * OUT_BYTES, aligned, second);
        if (cut && !second) {
            finish(ticket);
        }
        part = receive(at.mail, at.told, parity);
    }
}

__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
triangular_mm_kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                     float* __restrict__ C, int* __restrict__ counters, const int64_t N, const int tiles,
                     const int most, const bool aligned) {
    extern __shared__ unsigned char memory[];
    const Places at(memory);
    const uint32_t rank = rank_in_cluster();
    const Part first = part_of<TILE>(blockIdx.x / CLUSTER, tiles, most);
    if (threadIdx.x == 0) {
        init_barrier(at.told, 1);
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
        asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
        multiply_parts(C, at, first, rank, counters + 1, N, tiles, aligned);
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
        if (warp > COPIER) {
            store_zeros(C, N, threadIdx.x - MULTIPLIERS - WARP, aligned);
        } else if (threadIdx.x % WARP == 0) {
            copy_parts(map_a, map_b, at, first, rank, counters, tiles, most);
        }
    }
    __syncwarp();    // the copier's other lanes have waited for it
    sync_cluster();  // no block leaves while the other may still write to it
}

// Copies the lower triangle of A, or of B where blockIdx.y is 1, to rows `pitch` floats apart.
__global__ void pad_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ padded,
                           const int64_t N, const int64_t pitch) {
    const float* from = blockIdx.y == 0 ? A : B;
    float* to = padded + blockIdx.y * N * pitch;
    for (int64_t row = blockIdx.x; row < N; row += gridDim.x) {
        for (int64_t col = threadIdx.x; col <= row; col += blockDim.x) {
            to[row * pitch + col] = from[row * N + col];
        }
    }
}

// Describes an N x N matrix to TMA, copied in boxes of `rows` x 32; rounded to TF32 on the way if `type` says so.
CUtensorMap map_of(const float* matrix, int64_t N, int64_t pitch, unsigned rows, CUtensorMapDataType type) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    C10_CUDA_CHECK(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
    TORCH_CHECK(found == cudaDriverEntryPointSuccess, "the driver does not encode tensor maps");
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(N), static_cast<cuuint64_t>(N)};
    const cuuint64_t pitches[] = {static_cast<cuuint64_t>(pitch) * sizeof(float)};
    const cuuint32_t box[] = {BK, rows};
    const cuuint32_t apart[] = {1, 1};
    CUtensorMap map;
    const CUresult result = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
        &map, type, 2, const_cast<float*>(matrix), sizes, pitches, box, apart, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    TORCH_CHECK(result == CUDA_SUCCESS, "cuTensorMapEncodeTiled returned ", static_cast<int>(result));
    return map;
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
    const float* a = A.data_ptr<float>();
    const float* b = B.data_ptr<float>();
    int64_t pitch = N;
    torch::Tensor padded;
    if (!rows_aligned(A) || !rows_aligned(B)) {
        pitch = (N + FLOATS - 1) / FLOATS * FLOATS;
        padded = torch::empty({2, N, pitch}, A.options());
        pad_kernel<<<dim3(N < 1024 ? N : 1024, 2), 256, 0, stream>>>(a, b, padded.data_ptr<float>(), N, pitch);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        a = padded.data_ptr<float>();
        b = a + N * pitch;
    }
    int multiprocessors = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, A.get_device()));
    const int64_t clusters = multiprocessors / CLUSTER;
    const int64_t tiles = (N + TILE - 1) / TILE;
    const int64_t fair = tiles * (tiles + 1) * (tiles + 2) / 6 / clusters;  // tiles long, if all clusters had the same
    const int64_t half = (tiles + 1) / 2;
    const int64_t most = fair < half ? half : fair < tiles ? fair : tiles;
    const int64_t tickets = most < tiles ? tiles * tiles * CLUSTER * (MULTIPLIERS / WARP) : 0;
    auto counters = torch::empty({1 + tickets}, A.options().dtype(torch::kInt));  // the queue's, then the tickets
    C10_CUDA_CHECK(cudaMemsetAsync(counters.data_ptr<int>(), 0, (1 + tickets) * sizeof(int), stream));
    C10_CUDA_CHECK(cudaFuncSetAttribute(triangular_mm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    triangular_mm_kernel<<<clusters * CLUSTER, THREADS, SHARED, stream>>>(
        map_of(a, N, pitch, STRIP, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32),
        map_of(b, N, pitch, BK, CU_TENSOR_MAP_DATA_TYPE_FLOAT32), C.data_ptr<float>(), counters.data_ptr<int>(), N,
        tiles, most, rows_aligned(C));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
