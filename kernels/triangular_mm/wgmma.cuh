// What the kernels of `wgmma` share: the parts of a matrix that clusters take from a queue, barriers in the shared
// memory of a cluster, and the places that an instruction with 256 columns names. Included behind triangular.cuh.
#pragma once

// What a cluster computes: products `from` .. `to` - 1 of the tile of C from (row, col) on; none if `to` is 0.
struct __align__(16) Part {
    int row;
    int col;
    int from;
    int to;
};

// The part with that number of a matrix of `tiles` tiles a side. Sums longer than `most` tiles are cut there; the
// longest parts come first.
template <int TILE>
__device__ Part part_of(int number, int tiles, int most) {
    const auto part = [](int length, int col, int from, int to) -> Part {
        return {(col + length - 1) * TILE, col * TILE, (col + from) * TILE, (col + to) * TILE};
    };
    for (int length = tiles; length > most; --length) {
        const int parts = tiles - length + 1;
        if (number < parts) {
            return part(length, number, 0, most);
        }
        number -= parts;
    }
    for (int length = most; length > 0; --length) {
        const int rests = tiles - most - length + 1;
        if (number < rests) {
            return part(most + length, number, most, most + length);
        }
        number -= rests > 0 ? rests : 0;
        const int parts = tiles - length + 1;
        if (number < parts) {
            return part(length, number, 0, length);
        }
        number -= parts;
    }
    return {0, 0, 0, 0};
}

__device__ inline uint32_t rank_in_cluster() {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ inline void sync_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ inline void init_barrier(uint32_t barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ inline void expect_bytes(uint32_t barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ inline void wait_for(uint32_t barrier, uint32_t parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(barrier), "r"(parity) : "memory");
}

// Arrives at the barrier with this address in the shared memory of that block of the cluster.
__device__ inline void arrive_at(uint32_t barrier, uint32_t rank) {
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
        "}\n" ::"r"(barrier), "r"(rank) : "memory");
}

// Waits until at most `LATER` groups of products are under way.
template <int LATER>
__device__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LATER) : "memory");
}

#define PLACES_0 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
    "%24, %25, %26, %27, %28, %29, %30, %31"
#define PLACES_32 \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, " \
    "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define PLACES_64 \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, " \
    "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define PLACES_96 \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, " \
    "%115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_32(i) SUMS_16(i), SUMS_16(i + 16)
