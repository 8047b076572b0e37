// How the kernels by `mma.sync` share out the tiles of C: sums longer than half the matrix are cut in two parts, and the
// block that comes second adds to what the first has stored. Stated before: BM and BN, the sides of a tile.
#pragma once

constexpr int UNIT = BM < BN ? BM : BN;             // lengths of sums are counted in this
constexpr int UNITS_DOWN = BM / UNIT;
constexpr int UNITS_ACROSS = BN / UNIT;
constexpr int LONGEST = UNITS_DOWN > UNITS_ACROSS ? UNITS_DOWN : UNITS_ACROSS;
constexpr int FINISHED = 2;  // what the first block of a tile adds to its ticket when C has its part; to come adds 1

// What a block computes: products `from` .. `to` - 1, counted from the tile's first column on, of the tile whose first
// element is (row, col). Where `ticket` is not negative, another block computes the rest.
struct Part {
    int row;
    int col;
    int from;
    int to;
    int ticket;
};

// How many tiles have sums of `length` units, in a matrix of `units` units; the sums of the last column's last tile
// are one unit long, or in part less.
__host__ __device__ inline int tiles_of(int length, int units) {
    return UNITS_ACROSS > 1 ? (units - length) / UNITS_ACROSS + 1
                            : units / UNITS_DOWN - (length + UNITS_DOWN - 1) / UNITS_DOWN + 1;
}

// Products `from` .. `to` - 1 units of the tile number `tile` of those with sums of `length` units.
__device__ inline Part part_of(int length, int tile, int from, int to, int units, bool shared) {
    const bool wide = UNITS_ACROSS > 1;
    const int row = wide ? length - 1 + UNITS_ACROSS * tile : (length + UNITS_DOWN - 1) / UNITS_DOWN - 1 + tile;
    const int col = wide ? tile : UNITS_DOWN * (row + 1) - length;
    return {row * BM, col * BN, from * UNIT, to * UNIT, shared ? row * (units / UNITS_ACROSS) + col : -1};
}

// The part of a block. Sums longer than `most` units are cut there; the longest parts come first.
__device__ inline Part part_of(int block, int units, int most) {
    for (int length = units; length > most; --length) {
        const int tiles = tiles_of(length, units);
        if (block < tiles) {
            return part_of(length, block, 0, most, units, true);
        }
        block -= tiles;
    }
    for (int length = most; length > 0; --length) {
        if (most + length <= units) {
            const int rests = tiles_of(most + length, units);
            if (block < rests) {
                return part_of(most + length, block, most, most + length, units, true);
            }
            block -= rests;
        }
        const int tiles = tiles_of(length, units);
        if (block < tiles) {
            return part_of(length, block, 0, length, units, false);
        }
        block -= tiles;
    }
    return {0, 0, 0, 0, -1};  // not reached
}

// The parts of an N x N matrix.
struct Parts {
    int units;
    int most;
    unsigned blocks;
    int64_t tiles;

    __host__ __device__ explicit Parts(int64_t N)
        : units(static_cast<int>((N + LONGEST * UNIT - 1) / (LONGEST * UNIT)) * LONGEST),
          most((units + 1) / 2),
          blocks(0),
          tiles(static_cast<int64_t>(units / UNITS_DOWN) * (units / UNITS_ACROSS)) {
        for (int length = 1; length <= units; ++length) {
            blocks += tiles_of(length, units) * (length > most ? 2 : 1);
        }
    }
};

// Whether the tile's other block has come before. Then its part is in C. `spare` is shared memory.
__device__ inline bool came_second(int* ticket, int* spare) {
    if (threadIdx.x == 0) {
        *spare = atomicAdd(ticket, 1);
        if (*spare == 1) {  // the other one is storing at this moment
            while (atomicAdd(ticket, 0) != 2 + FINISHED) {
            }
        }
        __threadfence();
    }
    __syncthreads();
    return *spare != 0;
}

// Calls `store(add)` in turn with the block of the tile's other part, and tells that one when C has this part.
template <class Store>
__device__ void store_in_turn(const Part& part, int* tickets, int* spare, Store store) {
    const bool second = part.ticket >= 0 && came_second(tickets + part.ticket, spare);
    store(second);
    if (part.ticket >= 0 && !second) {
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(tickets + part.ticket, FINISHED);
        }
    }
}
