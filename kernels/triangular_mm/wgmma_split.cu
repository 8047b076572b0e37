// wgmma_split: float32 from tensor cores by `wgmma` (64 x 128 x 16): scaled halves as mma_split's, fed as wgmma_f16's.
//   changed    against mma_split.cu: four warps multiply at once and read both operands where a bulk copy put them. The
//              first launch writes the two planes of halves in boxes as `wgmma` wants them, with the scales behind. A
//              step's 64 products start from zero in two sets of registers, one of which has what goes by 1 / 2048.
//              Two blocks share B's columns: one copies the large parts to both, the other the rests. Blocks stay and
//              take part after part of a queue, the longest first; other warps store C's zeros. While a warpgroup adds
//              its products to the sums, the other one has the tensor cores
//   launch     prepare: (2 T (2 T + 1), 2) blocks of 256 threads for T = ceil(N / 256); multiply: 1-D grid, one block a
//              multiprocessor in clusters of 2 (256 x 128 of C); 384 threads (2 x 4 warps that multiply, 2 x 64 rows
//              of C; 1 that copies; 3 that store zeros), 202 KiB of shared memory
//   needs      compute capability 9.0 exactly (sm_90a)
//   the line   `wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16`: 131072 multiply-adds in one instruction
//   predicted  0.16 to 0.19 ms on an H100 or an H200: 0.11 to 0.13 for the product, where a cluster takes 95 steps of
//              1536 cycles at 65 to 75 % of the peak, and 0.045 to 0.06 for the halves (67 MB read, 67 MB written)
//   precision  22 bits of each element, 24 where a step is computed in float32; sums are float32. Relative error about
//              2e-7 at N = 4096, below that of float32 sums. Range: that of float32, subnormal numbers included.

#include <cuda_fp16.h>
#include "triangular.cuh"
#include "wgmma.cuh"

constexpr int TILE = 256;                           // rows of C that a cluster computes
constexpr int COLS = 128;                           // and its columns
constexpr int CLUSTER = 2;                          // blocks that share B's columns
constexpr int STRIP = 64;                           // rows of C of a warpgroup
constexpr int STRIPS = TILE / STRIP;
constexpr int BK = 64;                              // columns of A and rows of B in a step, which share a scale
constexpr int MMA_K = 16;                           // an instruction's depth
constexpr int STAGES = 3;                           // steps in shared memory
constexpr int TURNS = 1;                            // 1: warpgroups start their products in turn; 0: as they come
constexpr int GROUPS = 2;                           // warpgroups of a block that multiply
constexpr int MULTIPLIERS = GROUPS * 4 * WARP;      // threads that multiply
constexpr int COPIER = MULTIPLIERS / WARP;          // the warp that copies
constexpr int ZEROERS = 3 * WARP;                   // threads that store zeros
constexpr int THREADS = MULTIPLIERS + WARP + ZEROERS;
constexpr int SUMS = STRIP * COLS / (4 * WARP);     // of a thread
constexpr int ROW_BYTES = 128;                      // of a box, in which prepared matrices lie: 64 halves
constexpr int BOX = 64 * ROW_BYTES;                 // bytes of a box: 64 rows
constexpr int SWIZZLED = 8 * ROW_BYTES;             // bytes after which the swizzle repeats
constexpr int PLANES = 2;                           // halves for each element
constexpr int LARGE = 0;                            // the planes
constexpr int REST = 1;
constexpr int UNIT = 128;                           // rows of A (columns of B) by BK products are a record
constexpr int A_SCALES = PLANES * BOX;              // where the scales of a strip are, behind its two boxes
constexpr int B_PLANE = COLS / 64 * BOX;
constexpr int B_SCALES = PLANES * B_PLANE;
constexpr int STRIP_BYTES = A_SCALES + STRIP * 4;   // of a strip of A; two are a record
constexpr int RECORD = B_SCALES + COLS * 4;         // of B's columns
constexpr int STRIP_PLACE = A_SCALES + SWIZZLED;    // bytes that a strip takes in shared memory
constexpr int A_PLACE = GROUPS * STRIP_PLACE;
constexpr int STAGE_BYTES = A_PLACE + B_SCALES + SWIZZLED;
constexpr int SHARED = SWIZZLED + STAGES * STAGE_BYTES + 2 * 4 + (2 + 2 * STAGES) * 8;
constexpr int PAUSE_NS = 500;                       // between stores of zeros, which leaves memory to the copies
constexpr int START_NS = 8000;                      // before the first, in which most of A and B come from memory
constexpr int HALVES = 8;                           // elements prepared in one go: 16 bytes
constexpr int PREPARERS = 256;                      // threads that prepare a record
constexpr int EIGHTS = UNIT * BK / (HALVES * PREPARERS);  // times that each reads eight elements
static_assert(2 * (COLS / BK) > STAGES, "the copier knows that a part was read before it sends the next but one");
static_assert(2 * STRIP_BYTES == RECORD && UNIT == COLS && UNIT == 2 * STRIP, "records of A and B are alike");
static_assert(STAGE_BYTES % SWIZZLED == 0 && STRIP_PLACE % SWIZZLED == 0, "boxes begin where the swizzle does");

constexpr float SCALE = 2048.0f;                    // of the rests: they keep 11 bits, as the large parts do
constexpr int TOP = 14;                             // a scaled number is below 2^(TOP + 1): half reaches 65504
constexpr int BIAS = 127;                           // of float's exponents
constexpr int MOST_SCALE = BIAS - 1;                // so that the inverse is no subnormal number
constexpr unsigned TOO_LARGE = (BIAS + 100u) << 23; // sums of scaled numbers times one inverse stay finite below
constexpr unsigned INFINITE = 255u << 23;
constexpr unsigned NOT_A_NUMBER = 0x7fffffffu;
constexpr float OUTSIDE = -1.0f;                    // in place of the scales of a record that halves do not hold

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

struct __align__(16) EightHalves {
    half2 two[HALVES / 2];
};

// Where element (row, col) of a record is, in bytes. In a row of a box of 64 x 64 the eighth parts lie as `wgmma` wants
// them in shared memory: the first bits of the row change their order. A strip of A has its boxes side by side, a plane
// of B has those of its columns.
template <bool OF_A>
__device__ int place_of(int row, int col, int plane) {
    const int box = OF_A ? row / 64 * STRIP_BYTES + plane * BOX : plane * B_PLANE + col / 64 * BOX;
    return box + row % 64 * ROW_BYTES + (col % 64 / 8 ^ row % 8) * 16 + col % 8 * 2;
}

// Where the scale of a row of A (a column of B) is.
template <bool OF_A>
__device__ int scale_of(int line) {
    return OF_A ? line / STRIP * STRIP_BYTES + A_SCALES + line % STRIP * 4 : B_SCALES + line * 4;
}

// The record of the rows of A (columns of B) from `line` on, products from `k` on. Those of B follow all of A's.
template <bool OF_A>
__device__ int64_t record_of(int64_t line, int64_t k, int units) {
    return ((line / UNIT + (OF_A ? 0 : units)) * units * (UNIT / BK) + k / BK) * RECORD;
}

// Writes one record of A, or of B where `OF_A` is false: the halves, and what undoes the scale of each row (column);
// zeros above the diagonal and past the last row. `marks` has for each row (column) of the matrix how many columns
// (rows) from its end (beginning) on hold its infinite numbers and NaN.
template <bool OF_A>
__device__ void prepare_record(const float* __restrict__ matrix, unsigned char* prepared, int* __restrict__ marks,
                               const int64_t N, int units, bool aligned) {
    __shared__ unsigned largest[UNIT];  // the bits of each row's (column's) largest magnitude
    constexpr int ACROSS = (OF_A ? BK : UNIT) / HALVES;  // threads that share a row
    const Corner corner = OF_A ? corner_of<UNIT, BK>(blockIdx.x, units) : corner_of<BK, UNIT>(blockIdx.x, units);
    unsigned char* record = prepared + (OF_A ? record_of<true>(corner.row, corner.col, units)
                                             : record_of<false>(corner.col, corner.row, units));
    const int first_row = threadIdx.x / ACROSS;
    const int col = threadIdx.x % ACROSS * HALVES;
    const auto row_of = [&](int i) { return first_row + i * (PREPARERS / ACROSS); };
    float own[EIGHTS][HALVES];
#pragma unroll
    for (int i = 0; i < EIGHTS; ++i) {
#pragma unroll
        for (int e = 0; e < HALVES; e += FLOATS) {
            const float4 four = load_lower(matrix, N, corner.row + row_of(i), corner.col + col + e, aligned);
            own[i][e] = four.x;
            own[i][e + 1] = four.y;
            own[i][e + 2] = four.z;
            own[i][e + 3] = four.w;
        }
    }
    if (threadIdx.x < UNIT) {
        largest[threadIdx.x] = 0;
    }
    __syncthreads();
    constexpr int LINES = OF_A ? EIGHTS : HALVES;  // rows (columns) that a thread has elements of
    const auto line_of = [&](int line) { return OF_A ? row_of(line) : col + line; };
    unsigned most[LINES] = {};
#pragma unroll
    for (int i = 0; i < EIGHTS; ++i) {
#pragma unroll
        for (int e = 0; e < HALVES; ++e) {
            unsigned& so_far = most[OF_A ? i : e];
            so_far = max(so_far, __float_as_uint(fabsf(own[i][e])));
        }
    }
    constexpr int FIRST = OF_A ? 1 : ACROSS;  // lanes from one that shares the lines to the next
    constexpr int LAST = OF_A ? ACROSS : WARP;
    float scale[LINES];
#pragma unroll
    for (int line = 0; line < LINES; ++line) {
#pragma unroll
        for (int apart = FIRST; apart < LAST; apart *= 2) {
            most[line] = max(most[line], __shfl_xor_sync(~0u, most[line], apart));
        }
        if (OF_A ? threadIdx.x % ACROSS == 0 : threadIdx.x % WARP < ACROSS) {
            atomicMax(&largest[line_of(line)], most[line]);
        }
    }
    __syncthreads();
#pragma unroll
    for (int line = 0; line < LINES; ++line) {
        scale[line] = power_of_two(exponent_for(largest[line_of(line)]));
    }
    bool outside = threadIdx.x < UNIT && largest[threadIdx.x] >= TOO_LARGE;
#pragma unroll
    for (int i = 0; i < EIGHTS; ++i) {
        EightHalves large;
        EightHalves rest;
#pragma unroll
        for (int e = 0; e < HALVES; e += 2) {
            const float2 scaled = make_float2(times(own[i][e], scale[OF_A ? i : e]),
                                              times(own[i][e + 1], scale[OF_A ? i : e + 1]));
            outside |= !split(scaled, large.two[e / 2], rest.two[e / 2]);
        }
#pragma unroll
        for (int e = 0; e < HALVES; ++e) {
            if (__float_as_uint(fabsf(own[i][e])) >= INFINITE) {
                const int64_t r = corner.row + row_of(i);
                const int64_t c = corner.col + col + e;
                atomicMax(marks + (OF_A ? r : c), static_cast<int>(OF_A ? N - c : r + 1));
            }
        }
        *reinterpret_cast<EightHalves*>(record + place_of<OF_A>(row_of(i), col, LARGE)) = large;
        *reinterpret_cast<EightHalves*>(record + place_of<OF_A>(row_of(i), col, REST)) = rest;
    }
    outside = __syncthreads_or(outside);
    if (threadIdx.x < UNIT) {
        *reinterpret_cast<float*>(record + scale_of<OF_A>(threadIdx.x)) =
            outside ? OUTSIDE : power_of_two(-exponent_for(largest[threadIdx.x]));
    }
}

__global__ void __launch_bounds__(PREPARERS)
prepare_kernel(const float* __restrict__ A, const float* __restrict__ B, unsigned char* __restrict__ prepared,
               int* __restrict__ marks, const int64_t N, const int units, const bool aligned) {
    if (blockIdx.y == 0) {
        prepare_record<true>(A, prepared, marks, N, units, aligned);
    } else {
        prepare_record<false>(B, prepared, marks + N, N, units, aligned);
    }
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

// Starts to copy what lies in one piece.
__device__ void copy(uint32_t to, const unsigned char* from, int bytes, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

// The same to both blocks of the cluster, at the same place, counted by the barrier of each.
__device__ void copy_to_both(uint32_t to, const unsigned char* from, int bytes, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
                 "[%3], %4;" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier), "h"(static_cast<uint16_t>(3)) : "memory");
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

// The part with that number: half of the columns of a tile of TILE x TILE, of whose sums none is cut.
__device__ Part half_of(int number, int tiles) {
    Part part = part_of<TILE>(number / 2, tiles, tiles);
    part.col += number % 2 * COLS;
    part.from = part.col;
    return part;
}

// The strip of a tile's rows that a warpgroup has: the first and the last, or the others, so that zeros weigh the same.
__device__ int strip_of(int group, uint32_t rank) { return group == 0 ? rank : STRIPS - 1 - rank; }

// The first product of a part's step. Sums begin in the middle of the matrix, where most have products, so that those
// who begin together read the same rows of B and columns of A; they go on to their end, then from their first product.
__device__ int step_at(const Part& part, int i, int tiles) {
    const int middle = tiles / 2 * TILE;
    const int k = (part.from < middle && middle < part.to ? middle : part.from) + i;
    return k < part.to ? k : k - (part.to - part.from);
}

// One thread copies what both warpgroups multiply, and a plane of B for both blocks. That of the first block takes the
// cluster's next part from the queue.
__device__ void copy_parts(const unsigned char* __restrict__ prepared, const Places& at, uint32_t rank,
                           int* __restrict__ queue, int tiles) {
    const int units = tiles * (TILE / UNIT);
    Ring<STAGES> ring = {0, 1};
    Numbers numbers = {{0, 0}};
    int number = blockIdx.x / CLUSTER;
    for (Part part = half_of(number, tiles); part.to > 0; part = half_of(number, tiles)) {
        expect_bytes(numbers.told(at), sizeof(number));
        int next = 0;
        if (rank == 0) {
            next = gridDim.x / CLUSTER + atomicAdd(queue, 1);  // not waited for before the copies are under way
        }
        for (int i = 0; i < part.to - part.from; i += BK) {
            const int k = step_at(part, i, tiles);
            const uint32_t full = at.full + ring.place * 8, stage = at.stages + ring.place * STAGE_BYTES;
            const int above = k >= part.row ? (k - part.row) / STRIP : 0;  // strips of A that are zero
            const int strips = (strip_of(0, rank) >= above) + (strip_of(1, rank) >= above);
            wait_for(at.empty + ring.place * 8, ring.parity);
            expect_bytes(full, strips * STRIP_BYTES + RECORD);
            for (int group = 0; group < GROUPS; ++group) {
                const int strip = strip_of(group, rank);
                if (strip >= above) {
                    const int64_t from = record_of<true>(part.row + strip * STRIP, k, units) + strip % 2 * STRIP_BYTES;
                    copy(stage + group * STRIP_PLACE, prepared + from, STRIP_BYTES, full);
                }
            }
            const int plane = rank * B_PLANE;  // the scales follow the second
            copy_to_both(stage + A_PLACE + plane, prepared + record_of<false>(part.col, k, units) + plane,
                         rank == 0 ? B_PLANE : RECORD - B_PLANE, full);
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

// A matrix in shared memory in rows of 128 swizzled bytes, as `wgmma` wants it described; a matrix wider than a box
// goes on `apart` bytes further.
__device__ uint64_t matrix_at(uint32_t from, uint32_t apart) {
    constexpr uint64_t SWIZZLE_128B = 1ull << 62, EIGHT_ROWS_APART = SWIZZLED / 16ull << 32;
    return SWIZZLE_128B | EIGHT_ROWS_APART | static_cast<uint64_t>(apart / 16) << 16 | (from & 0x3ffff) >> 4;
}

// The products of 64 rows of A and 128 columns of B, added to the sums if `ADD`, in place of them otherwise. The last
// two numbers say how the operands lie: A's rows along k, B's across.
template <int ADD>
__device__ void multiply(float (&sums)[SUMS], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" PLACES_0 PLACES_32
                 "}, %64, %65, %66, 1, 1, 0, 1;" : SUMS_32(0), SUMS_32(32) : "l"(a), "l"(b), "n"(ADD));
}

// Keeps the compiler from moving what it does with sums across this place: products change them behind its back.
__device__ void settle(float (&sums)[SUMS]) {
#pragma unroll
    for (int i = 0; i < SUMS; ++i) {
        asm volatile("" : "+f"(sums[i]) : : "memory");
    }
}

// Says that sums have a value, whichever.
__device__ void begin(float (&sums)[SUMS]) {
#pragma unroll
    for (int i = 0; i < SUMS; ++i) {
        asm volatile("" : "=f"(sums[i]));
    }
}

// Starts the products of a step: of large parts, and of a large part and a rest.
__device__ void start_products(float (&large)[SUMS], float (&small)[SUMS], uint32_t a_boxes, uint32_t b_boxes) {
    const uint64_t a[PLANES] = {matrix_at(a_boxes, 16), matrix_at(a_boxes + BOX, 16)};
    const uint64_t b[PLANES] = {matrix_at(b_boxes, BOX), matrix_at(b_boxes + B_PLANE, BOX)};
    constexpr int A_SLICE = MMA_K * 2 / 16, B_SLICE = MMA_K * ROW_BYTES / 16;
    begin(large);
    begin(small);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply<0>(small, a[LARGE], b[REST]);
    multiply<0>(large, a[LARGE], b[LARGE]);
    multiply<1>(small, a[REST], b[LARGE]);
#pragma unroll
    for (int slice = 1; slice < BK / MMA_K; ++slice) {
        multiply<1>(small, a[LARGE] + slice * A_SLICE, b[REST] + slice * B_SLICE);
        multiply<1>(large, a[LARGE] + slice * A_SLICE, b[LARGE] + slice * B_SLICE);
        multiply<1>(small, a[REST] + slice * A_SLICE, b[LARGE] + slice * B_SLICE);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Row and column, within the strip's 64 and the tile's 128, of element `i` of a thread's sums.
__device__ int row_of_sum(int i) { return threadIdx.x / WARP % 4 * 16 + threadIdx.x % WARP / 4 + i / 2 % 2 * 8; }
__device__ int col_of_sum(int i) { return i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2; }

__device__ float read_one(uint32_t from) {
    float one;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(one) : "r"(from) : "memory");
    return one;
}

// Adds a step's products to the sums. `down` and `across` are where the scales of the rows and columns are.
__device__ void add_scaled(float (&sums)[SUMS], const float (&large)[SUMS], const float (&small)[SUMS], uint32_t down,
                           uint32_t across) {
    const float by[2] = {read_one(down + row_of_sum(0) * 4), read_one(down + row_of_sum(2) * 4)};
#pragma unroll
    for (int j = 0; j < SUMS; j += 4) {
        float two[2];
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(two[0]), "=f"(two[1]) : "r"(across + col_of_sum(j) * 4) : "memory");
#pragma unroll
        for (int i = j; i < j + 4; ++i) {
            const float both = plus_product(small[i], 1.0f / SCALE, large[i]);
            sums[i] = plus_product(times(both, by[i / 2 % 2]), two[i % 2], sums[i]);
        }
    }
}

// The same by float32 instructions, from the matrices themselves: BK products from `k` on.
__device__ void multiply_in_float(float (&sums)[SUMS], const float* __restrict__ A, const float* __restrict__ B,
                                  const int64_t N, int64_t row, int64_t col, int64_t k) {
#pragma unroll 1
    for (const int64_t end = k + BK; k < end; ++k) {
        const float a[2] = {load_one(A, N, row + row_of_sum(0), k), load_one(A, N, row + row_of_sum(2), k)};
#pragma unroll
        for (int j = 0; j < SUMS; j += 4) {
            const float b[2] = {load_one(B, N, k, col + col_of_sum(j)), load_one(B, N, k, col + col_of_sum(j + 1))};
#pragma unroll
            for (int i = j; i < j + 4; ++i) {
                sums[i] = plus_product(a[i / 2 % 2], b[i % 2], sums[i]);
            }
        }
    }
}

// NaN where a sum has a product of an infinite number or a NaN and a zero above the other matrix's diagonal, most of
// which no step multiplies.
__device__ void mark(float (&sums)[SUMS], const int* __restrict__ marks, const int64_t N, int64_t row, int64_t col) {
    const int64_t rows[2] = {row + row_of_sum(0), row + row_of_sum(2)};
    const int of_row[2] = {rows[0] < N ? marks[rows[0]] : 0, rows[1] < N ? marks[rows[1]] : 0};
#pragma unroll
    for (int j = 0; j < SUMS; j += 4) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            const int64_t c = col + col_of_sum(j + e);
            const int of_column = c < N ? marks[N + c] : 0;
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                if (of_column > rows[h] + 1 || of_row[h] > N - c) {
                    sums[j + 2 * h + e] = __uint_as_float(NOT_A_NUMBER);
                }
            }
        }
    }
}

// A warp's sums to C: 16 rows from `row` on, 128 columns from `col` on. A thread has pairs of neighbours; it gives one
// of two to the thread beside it and gets that thread's, so both have four. WHOLE: all lie below the diagonal.
template <bool WHOLE>
__device__ void store(float* __restrict__ C, const int64_t N, int row, int col, const float (&sums)[SUMS],
                      bool aligned) {
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
                *reinterpret_cast<float4*>(C + (own_row + down * 8) * N + own_col + i * 2) = four;
            } else {
                store_with_zeros(C, N, own_row + down * 8, own_col + i * 2, four, aligned);
            }
        }
    }
}

// Two barriers of a block's own: a warpgroup waits at its one until the other has started the products of its step.
__device__ void await_turn(int group) {
    if (TURNS) {
        asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"(MULTIPLIERS) : "memory");
    }
}
__device__ void give_turn(int group) {
    if (TURNS) {
        asm volatile("bar.arrive %0, %1;" ::"r"(1 + group), "n"(MULTIPLIERS) : "memory");
    }
}

// A warpgroup's share of the products: 64 rows of each tile.
__device__ void multiply_parts(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                               const int* __restrict__ marks, const Places& at, uint32_t rank, const int64_t N,
                               int tiles, bool aligned) {
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, group = warp / 4;
    const int strip = strip_of(group, rank);
    Ring<STAGES> ring = {0, 0};
    Numbers numbers = {{0, 0}};
    if (group == 1) {
        give_turn(0);
    }
    int number = blockIdx.x / CLUSTER;
    for (Part part = half_of(number, tiles); part.to > 0; part = half_of(number, tiles)) {
        const int row = part.row + strip * STRIP;
        float sums[SUMS];
#pragma unroll
        for (int i = 0; i < SUMS; ++i) {
            sums[i] = 0.0f;
        }
#pragma unroll 1
        for (int i = 0; i < part.to - part.from; i += BK) {
            const int k = step_at(part, i, tiles);
            const uint32_t a = at.stages + ring.place * STAGE_BYTES + group * STRIP_PLACE;
            const uint32_t b = at.stages + ring.place * STAGE_BYTES + A_PLACE;
            wait_for(at.full + ring.place * 8, ring.parity);
            const bool zero = k >= row + STRIP;  // from here on A is, and no copy of it came
            const bool outside = !zero && (read_one(a + A_SCALES) == OUTSIDE || read_one(b + B_SCALES) == OUTSIDE);
            const bool in_halves = __any_sync(~0u, !zero && !outside);  // the same for all four warps
            await_turn(group);
            if (in_halves) {
                float large[SUMS], small[SUMS];
                start_products(large, small, a, b);
                give_turn(1 - group);
                wait_for_products<0>();
                settle(large);
                settle(small);
                add_scaled(sums, large, small, a + A_SCALES, b + B_SCALES);
            } else {
                give_turn(1 - group);
                if (outside) {
                    multiply_in_float(sums, A, B, N, row, part.col, k);
                }
            }
            __syncwarp();
            if (lane < CLUSTER) {
                arrive_at(at.empty + ring.place * 8, lane);
            }
            ring.advance();
        }
        mark(sums, marks, N, row, part.col);
        const int own_row = row + warp % 4 * 16;
        if (aligned && part.row >= part.col + COLS && own_row + 16 <= N) {
            store<true>(C, N, own_row, part.col, sums, aligned);
        } else {
            store<false>(C, N, own_row, part.col, sums, aligned);
        }
        number = numbers.receive(at);
    }
    if (group == 0) {
        await_turn(0);  // the other's last
    }
}

__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
multiply_kernel(const float* __restrict__ A, const float* __restrict__ B, const unsigned char* __restrict__ prepared,
                float* __restrict__ C, int* __restrict__ queue, const int* __restrict__ marks, const int64_t N,
                const int tiles, const bool aligned) {
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
        asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
        multiply_parts(A, B, C, marks, at, rank, N, tiles, aligned);
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
        if (warp > COPIER) {
            store_zeros(C, N, threadIdx.x - MULTIPLIERS - WARP, aligned);
        } else if (threadIdx.x % WARP == 0) {
            copy_parts(prepared, at, rank, queue, tiles);
        }
    }
    __syncwarp();    // the copier's other lanes have waited for it
    sync_cluster();  // no block leaves while the other may still write to it
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
    int multiprocessors = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, A.get_device()));
    const int64_t tiles = (N + TILE - 1) / TILE;
    const int64_t units = tiles * (TILE / UNIT);
    auto prepared = torch::empty({2 * units * units * (UNIT / BK) * RECORD}, A.options().dtype(torch::kByte));
    auto counts = torch::empty({1 + 2 * N}, A.options().dtype(torch::kInt));
    int* queue = counts.data_ptr<int>();
    int* marks = queue + 1;
    C10_CUDA_CHECK(cudaMemsetAsync(queue, 0, counts.numel() * sizeof(int), stream));
    const unsigned records = units * (units + 1) / 2 * (UNIT / BK);
    prepare_kernel<<<dim3(records, 2), PREPARERS, 0, stream>>>(A.data_ptr<float>(), B.data_ptr<float>(),
                                                               prepared.data_ptr<uint8_t>(), marks, N, units,
                                                               rows_aligned(A) && rows_aligned(B));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    C10_CUDA_CHECK(cudaFuncSetAttribute(multiply_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    multiply_kernel<<<multiprocessors / CLUSTER * CLUSTER, THREADS, SHARED, stream>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), prepared.data_ptr<uint8_t>(), C.data_ptr<float>(), queue, marks, N,
        tiles, rows_aligned(C));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
