// What the kernels by `mma.sync` in half precision share. A first launch writes both matrices as records: UNIT rows of A
// (columns of B) by BK products, in one or two planes of half, in the order in which a warp reads them out of shared
// memory without a bank conflict; zeros above the diagonal and past the last row. A step of the second launch then
// copies records as they are, 16 bytes a thread. Stated before: PLANES, BM, BN, BK, WM, WN, STAGES.
#pragma once

constexpr int MMA_M = 16;                           // an instruction's rows of C, its columns, and its depth
constexpr int MMA_N = 8;
constexpr int MMA_K = 16;
constexpr int DOWN = WM / MMA_M;                    // fragments of C in a warp's part
constexpr int ACROSS = WN / MMA_N;
constexpr int SLICES = BK / MMA_K;                  // instructions deep is a step
constexpr int WARPS_ACROSS = BN / WN;
constexpr int THREADS = BM / WM * WARPS_ACROSS * WARP;
constexpr int HALVES = 8;                           // elements copied or prepared in one go: 16 bytes
constexpr int COPY = HALVES * sizeof(half);
constexpr int PLANE = UNIT * BK * sizeof(half);     // bytes
constexpr int RECORD = PLANES * PLANE + (PLANES > 1 ? UNIT * sizeof(float) : 0);  // a scale a row (column)
constexpr int STAGE = (UNITS_DOWN + UNITS_ACROSS) * RECORD;
constexpr int EIGHTS = 2;                           // times that a thread reads eight elements of a record to prepare
constexpr int PREPARING = UNIT * BK / (HALVES * EIGHTS);  // threads that prepare one
static_assert(BK % MMA_K == 0 && BK <= 64 && UNIT % BK == 0 && UNIT % 64 == 0, "whole slices and steps");
static_assert(WM % MMA_M == 0 && WN % (2 * MMA_N) == 0 && UNIT % WM == 0 && UNIT % WN == 0, "whole fragments, a record");
static_assert(PREPARING % UNIT == 0 && (WN == 32 || WN % 64 == 0), "whole turns; no carry where places are combined");

// The place of eight elements of a record of A (of B): row (column) and product they start at. Eight rows that
// `ldmatrix` reads at once lie in different banks.
__device__ inline int place_in_a(int row, int k) {
    return row * BK + (k / HALVES ^ row / (64 / BK) % (BK / HALVES)) * HALVES;
}
__device__ inline int place_in_b(int k, int col) { return k * UNIT + (col / HALVES ^ k % 8) * HALVES; }

// Which eight elements a thread prepares in its turn `i`, as row and column within the block of the matrix.
template <bool OF_A>
__device__ int row_of(int i) {
    return (threadIdx.x + i * PREPARING) / ((OF_A ? BK : UNIT) / HALVES);
}
template <bool OF_A>
__device__ int col_of(int i) {
    return (threadIdx.x + i * PREPARING) % ((OF_A ? BK : UNIT) / HALVES) * HALVES;
}

// Calls `prepare(block, record)` for the block of the matrix whose record this block of threads writes.
template <bool OF_A, class Prepare>
__device__ void prepare_record(unsigned char* prepared, int units, Prepare prepare) {
    constexpr int SIDE = LONGEST * UNIT;
    const int squares = units / LONGEST;
    Corner corner = OF_A ? corner_of<SIDE, BK>(blockIdx.x, squares) : corner_of<BK, SIDE>(blockIdx.x, squares);
    (OF_A ? corner.row : corner.col) += blockIdx.y / 2 * UNIT;
    const int64_t line = OF_A ? corner.row / UNIT : units + corner.col / UNIT;
    const int64_t step = (OF_A ? corner.col : corner.row) / BK;
    prepare(corner, prepared + (line * units * (UNIT / BK) + step) * RECORD);
}

// Eight elements of the matrix from (row, col) on, zero above the diagonal.
__device__ inline void read_eight(float (&eight)[HALVES], const float* __restrict__ matrix, const int64_t N, int64_t row,
                                  int64_t col, bool aligned) {
#pragma unroll
    for (int e = 0; e < HALVES; e += FLOATS) {
        const float4 four = load_lower(matrix, N, row, col + e, aligned);
        eight[e] = four.x;
        eight[e + 1] = four.y;
        eight[e + 2] = four.z;
        eight[e + 3] = four.w;
    }
}

struct __align__(16) EightHalves {
    half2 two[HALVES / 2];
};

// Starts to copy a thread's share of a record; `to` and `from` are the share's first place.
__device__ inline void copy_record(uint32_t to, const unsigned char* from) {
#pragma unroll
    for (int i = 0; i < RECORD / COPY; i += THREADS) {
        if (i + THREADS <= RECORD / COPY || i + static_cast<int>(threadIdx.x) < RECORD / COPY) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i * COPY), "l"(from + i * COPY)
                         : "memory");
        }
    }
}

// Calls `multiply(step, place)` for every step of a part, with the place of its records in shared memory, which holds
// `stages` steps: while one is multiplied, the others arrive.
template <class Multiply>
__device__ void for_each_step(const unsigned char* __restrict__ prepared, const Part& part, int units,
                              unsigned char* memory, int stages, Multiply multiply) {
    const int64_t line = static_cast<int64_t>(units) * (UNIT / BK) * RECORD;  // bytes of all records of UNIT rows
    const int64_t first = (part.col + part.from) / BK * RECORD + threadIdx.x * COPY;
    const unsigned char* a_next = prepared + part.row / UNIT * line + first;
    const unsigned char* b_next = prepared + (units + part.col / UNIT) * line + first;
    const int steps = (part.to - part.from) / BK;
    int fetched = 0;
    int into = 0;  // bytes
    const auto fetch = [&] {
        if (fetched < steps) {
            const uint32_t to = address(memory) + into + threadIdx.x * COPY;
#pragma unroll
            for (int u = 0; u < UNITS_DOWN; ++u) {
                copy_record(to + u * RECORD, a_next + u * line);
            }
#pragma unroll
            for (int u = 0; u < UNITS_ACROSS; ++u) {
                copy_record(to + (UNITS_DOWN + u) * RECORD, b_next + u * line);
            }
            a_next += RECORD;
            b_next += RECORD;
            into = into + STAGE < stages * STAGE ? into + STAGE : 0;
        }
        ++fetched;
        asm volatile("cp.async.commit_group;" ::: "memory");  // empty at the end, so that the count below stays right
    };
    for (int step = 0; step < stages - 1; ++step) {
        fetch();
    }
    int from = 0;
    for (int step = 0; step < steps; ++step) {
        if (stages == STAGES) {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES > 1 ? STAGES - 2 : 0) : "memory");
        } else if (stages > 1) {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();  // this step is there for all, and all are done with the one before
        fetch();
        if (stages == 1) {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
            __syncthreads();
        }
        multiply(step, memory + from);
        from = from + STAGE < stages * STAGE ? from + STAGE : 0;
    }
    __syncthreads();  // before others use the memory
}

// What a warp computes of a tile, and where in a step's memory its lane reads operands.
struct Own {
    int row;      // of the warp's part of the tile
    int col;
    int a_record; // its records, in bytes
    int b_record;
    int a_place;  // within them
    int b_place;

    __device__ Own() {
        const int warp = threadIdx.x / WARP;
        const int lane = threadIdx.x % WARP;
        row = warp / WARPS_ACROSS * WM;
        col = warp % WARPS_ACROSS * WN;
        a_record = row / UNIT * RECORD;
        b_record = (UNITS_DOWN + col / UNIT) * RECORD;
        a_place = a_record + place_in_a(row % UNIT + lane % 16, lane / 16 * HALVES) * static_cast<int>(sizeof(half));
        b_place = b_record + place_in_b(lane % 16, col % UNIT + lane / 16 * HALVES) * static_cast<int>(sizeof(half));
    }
};

// Fragment `i` of A in a slice of a step.
__device__ inline void read_a(uint32_t (&a)[4], uint32_t place, int plane, int i, int slice) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"((place ^ slice * MMA_K * static_cast<int>(sizeof(half))) + plane * PLANE +
                       i * MMA_M * BK * static_cast<int>(sizeof(half)))
                 : "memory");
}

// Fragments `j` and `j` + 1 of B.
__device__ inline void read_b(uint32_t (&b)[2], uint32_t (&next)[2], uint32_t place, int plane, int j, int slice) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(next[0]), "=r"(next[1])
                 : "r"((place ^ j * MMA_N * static_cast<int>(sizeof(half))) + plane * PLANE +
                       slice * MMA_K * UNIT * static_cast<int>(sizeof(half)))
                 : "memory");
}

__device__ inline void multiply_add(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

using Sums = float[DOWN][ACROSS][4];

// Row and column, within the warp's part, of element `e` of a lane's sums in fragment (i, j).
__device__ inline int row_of_sum(int i, int e) { return i * MMA_M + e / 2 * 8 + threadIdx.x % WARP / 4; }
__device__ inline int col_of_sum(int j, int e) { return j * MMA_N + threadIdx.x % 4 * 2 + e % 2; }

// A warp's sums to C from (row, col) on, as far as that is on or below the diagonal and within the matrix; plus what is
// there if `add`.
__device__ inline void store(float* __restrict__ C, const int64_t N, int64_t row, int64_t col, const Sums& sums,
                             bool aligned, bool add) {
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
#pragma unroll
        for (int e = 0; e < 4; e += 2) {
            const int64_t r = row + row_of_sum(i, e);
#pragma unroll
            for (int j = 0; j < ACROSS; ++j) {
                const int64_t c = col + col_of_sum(j, e);
                float2 two = make_float2(sums[i][j][e], sums[i][j][e + 1]);
                float* to = C + r * N + c;
                if (aligned && r < N && c + 1 <= r) {
                    if (add) {
                        const float2 there = __ldcg(reinterpret_cast<const float2*>(to));
                        two = make_float2(two.x + there.x, two.y + there.y);
                    }
                    *reinterpret_cast<float2*>(to) = two;
                } else if (r < N && c <= r) {
                    to[0] = add ? two.x + __ldcg(to) : two.x;
                    if (c + 1 <= r) {
                        to[1] = add ? two.y + __ldcg(to + 1) : two.y;
                    }
                }
            }
        }
    }
}

// Blocks of the first launch: one a record.
inline dim3 preparing(const Parts& parts) {
    const int squares = parts.units / LONGEST;
    return dim3(squares * (squares + 1) / 2 * (LONGEST * UNIT / BK), 2 * LONGEST);
}

// Steps that the shared memory of a block may have.
inline int stages_on(int device) {
    int most_shared = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return most_shared < STAGES * STAGE ? most_shared / STAGE : STAGES;
}

inline int64_t bytes_prepared(const Parts& parts) {
    return static_cast<int64_t>(2) * parts.units * parts.units * (UNIT / BK) * RECORD;
}
