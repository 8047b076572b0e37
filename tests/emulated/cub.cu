// CUB's block, warp and device functions, cuda::barrier and cuda::memcpy_async as kernels use them, right and wrong.
#ifndef KERNELS_ONLY
#include <torch/extension.h>
#endif
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda/barrier>

constexpr int kBlock = 128, kItems = 3;

struct Larger {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct Moments {
  float sum, squares;
  int count;
};
struct AddMoments {
  __device__ Moments operator()(const Moments& a, const Moments& b) const {
    return {a.sum + b.sum, a.squares + b.squares, a.count + b.count};
  }
};

// out[0..2] of each block: sum and largest of a row, sum of its first `valid` elements; out[3]: what thread 5 holds.
__global__ void reductions(const float* x, float* out, int valid, bool again) {
  using Reduce = cub::BlockReduce<float, kBlock>;
  __shared__ typename Reduce::TempStorage storage;
  float value = x[blockIdx.x * kBlock + threadIdx.x];
  float sum = Reduce(storage).Sum(value);
  if (!again) __syncthreads();
  float largest = Reduce(storage).Reduce(value, Larger());
  __syncthreads();
  float part = Reduce(storage).Sum(value, valid);
  float* to = out + 4 * blockIdx.x;
  if (threadIdx.x == 0) to[0] = sum, to[1] = largest, to[2] = part;
  if (threadIdx.x == 5) to[3] = sum;
}

// A struct, several items a thread, a block of two dimensions whose last warp is short, storage of the class's own.
__global__ void moments(const float* x, float* out) {
  float items[kItems];
  int rank = threadIdx.y * blockDim.x + threadIdx.x;
  cub::BlockLoad<float, 12, kItems, cub::BLOCK_LOAD_TRANSPOSE, 6>().Load(x, items);
  Moments mine = {0, 0, 0};
  for (float item : items) mine = AddMoments()(mine, {item, item * item, 1});
  Moments all = cub::BlockReduce<Moments, 12, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 6>().Reduce(mine, AddMoments());
  if (rank == 0) out[0] = all.sum, out[1] = all.squares, out[2] = all.count;
}

// Segments of 8 lanes: the sum of each from its first lane, and of its first three; a scan of each beside it.
__global__ void warps(const int* x, int* out) {
  using Reduce = cub::WarpReduce<int, 8>;
  using Scan = cub::WarpScan<int, 8>;
  __shared__ Reduce::TempStorage sums[kBlock / 8];
  __shared__ Scan::TempStorage scans[kBlock / 8];
  int i = threadIdx.x, segment = i / 8, value = x[i], scanned, before, all;
  int sum = Reduce(sums[segment]).Sum(value);
  int three = Reduce(sums[segment]).Sum(value, 3);
  Scan(scans[segment]).InclusiveSum(value, scanned);
  Scan(scans[segment]).ExclusiveSum(value, before, all);
  if (i % 8 == 0) out[segment] = sum, out[16 + segment] = three;
  out[32 + i] = scanned, out[160 + i] = before, out[288 + i] = all;
}

struct Running {
  int total;
  __device__ int operator()(int aggregate) {
    int before = total;
    total += aggregate;
    return before;
  }
};

// A row of tiles by one block: inclusive sums with a running prefix; exclusive ones and the running maximum of each tile.
__global__ void scans(const int* x, int* sums, int* before, int* largest, int n) {
  using Load = cub::BlockLoad<int, kBlock, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, kBlock, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kBlock>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } storage;
  Running running = {0};
  for (int tile = 0; tile < n; tile += kBlock * kItems) {
    int items[kItems], sum[kItems], ahead[kItems], most[kItems];
    Load(storage.load).Load(x + tile, items, n - tile, 0);
    __syncthreads();
    Scan(storage.scan).InclusiveSum(items, sum, running);
    __syncthreads();
    int all;
    Scan(storage.scan).ExclusiveSum(items, ahead, all);
    __syncthreads();
    Scan(storage.scan).InclusiveScan(items, most, Larger());
    __syncthreads();
    Store(storage.store).Store(sums + tile, sum, n - tile);
    __syncthreads();
    Store(storage.store).Store(before + tile, ahead, n - tile);
    __syncthreads();
    cub::BlockStore<int, kBlock, kItems>(*reinterpret_cast<cub::BlockStore<int, kBlock, kItems>::TempStorage*>(&storage))
        .Store(largest + tile, most, n - tile);
  }
}

// Keys of a block in descending order with where they came from, as each thread's own and striped; by the low bits; by a comparison.
__global__ void sorts(const float* x, float* keys, int* places, const unsigned* words, unsigned* low, float* merged) {
  using Sort = cub::BlockRadixSort<float, kBlock, kItems, int>;
  using Low = cub::BlockRadixSort<unsigned, kBlock, 1>;
  using Merge = cub::BlockMergeSort<float, kBlock, kItems>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Low::TempStorage low;
    typename Merge::TempStorage merge;
  } storage;
  float mine[kItems], again[kItems];
  int from[kItems];
  for (int i = 0; i < kItems; i++) from[i] = threadIdx.x * kItems + i, again[i] = mine[i] = x[from[i]];
  Sort(storage.sort).SortDescendingBlockedToStriped(mine, from);
  for (int i = 0; i < kItems; i++) keys[i * kBlock + threadIdx.x] = mine[i], places[i * kBlock + threadIdx.x] = from[i];
  __syncthreads();
  unsigned word[1] = {words[threadIdx.x]};
  Low(storage.low).Sort(word, 0, 4);
  low[threadIdx.x] = word[0];
  __syncthreads();
  Merge(storage.merge).Sort(again, [](const float& a, const float& b) { return a < b; });
  for (int i = 0; i < kItems; i++) merged[threadIdx.x * kItems + i] = again[i];
}

// Tiles of x summed through shared memory, copied ahead by barriers; without the wait the copy is not there.
__global__ void tiles(const float* x, float* out, int count, bool waits) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#ifdef __CUDACC__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif
  __shared__ Barrier arrived[2];
  __shared__ float tile[2][kBlock];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&arrived[0], block.size()), init(&arrived[1], block.size());
  __syncthreads();
  float sum = 0;
  cuda::memcpy_async(block, tile[0], x, sizeof(float) * kBlock, arrived[0]);
  for (int i = 0; i < count; i++) {
    if (i + 1 < count)
      cuda::memcpy_async(tile[(i + 1) % 2] + threadIdx.x, x + (i + 1) * kBlock + threadIdx.x, cuda::aligned_size_t<4>(4),
                         arrived[(i + 1) % 2]);
    if (waits) arrived[i % 2].arrive_and_wait();
    sum += tile[i % 2][kBlock - 1 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// The first warp makes what the others take: two barriers, each of all threads, arrived at without waiting.
__global__ void handed_over(const float* x, float* out, int count) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier full, taken;
  __shared__ float value[32];
  if (threadIdx.x == 0) init(&full, blockDim.x), init(&taken, blockDim.x);
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < count; i++) {
    if (threadIdx.x < 32) {
      value[threadIdx.x] = x[i * 32 + threadIdx.x];
      (void)full.arrive();
      taken.arrive_and_wait();
    } else {
      full.arrive_and_wait();
      sum += value[threadIdx.x % 32];
      (void)taken.arrive();
    }
  }
  out[threadIdx.x] = sum;
}

#ifndef KERNELS_ONLY
template <class Call>
torch::Tensor with_storage(const torch::Tensor& x, Call call, int less = 0) {
  size_t bytes = 0;
  call(nullptr, bytes);
  auto storage = torch::empty({static_cast<int64_t>(bytes)}, x.options().dtype(torch::kUInt8));
  size_t given = bytes - less;
  return torch::tensor(static_cast<int>(call(storage.data_ptr(), given)));
}

std::vector<torch::Tensor> device(torch::Tensor x, torch::Tensor starts) {
  int n = x.numel(), rows = starts.numel() - 1;
  auto in = x.data_ptr<float>();
  auto out = torch::empty({4}, x.options()), sums = torch::empty_like(x), ahead = torch::empty_like(x);
  auto sorted = torch::empty_like(x), row_sums = torch::empty({rows}, x.options()), row_sorted = torch::empty_like(x);
  auto from = torch::arange(n, starts.options()), to = torch::empty({n}, starts.options());
  auto begin = starts.data_ptr<int>();
  cub::KeyValuePair<int, float>* best;
  cudaMalloc(&best, sizeof(*best));
  with_storage(x, [&](void* s, size_t& b) { return cub::DeviceReduce::Sum(s, b, in, out.data_ptr<float>(), n); });
  with_storage(x, [&](void* s, size_t& b) { return cub::DeviceReduce::Max(s, b, in, out.data_ptr<float>() + 1, n); });
  with_storage(x, [&](void* s, size_t& b) { return cub::DeviceReduce::ArgMax(s, b, in, best, n); });
  with_storage(x, [&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, in, sums.data_ptr<float>(), n); });
  with_storage(x, [&](void* s, size_t& b) { return cub::DeviceScan::ExclusiveScan(s, b, in, ahead.data_ptr<float>(), Larger(), -9.0f, n); });
  with_storage(x, [&](void* s, size_t& b) {
    return cub::DeviceRadixSort::SortPairsDescending(s, b, in, sorted.data_ptr<float>(), from.data_ptr<int>(), to.data_ptr<int>(), n);
  });
  with_storage(x, [&](void* s, size_t& b) {
    return cub::DeviceSegmentedReduce::Sum(s, b, in, row_sums.data_ptr<float>(), rows, begin, begin + 1);
  });
  with_storage(x, [&](void* s, size_t& b) {
    return cub::DeviceSegmentedRadixSort::SortKeys(s, b, in, row_sorted.data_ptr<float>(), n, rows, begin, begin + 1);
  });
  cub::KeyValuePair<int, float> found;
  cudaMemcpy(&found, best, sizeof(found), cudaMemcpyDeviceToHost);
  out[2] = found.key;
  out[3] = found.value;
  cudaFree(best);
  return {out, sums, ahead, sorted, to, row_sums, row_sorted};
}

// 0: less storage than was asked for is given; 1: the same, but said to be enough; 2: more items than there are.
int wrong_device(torch::Tensor x, int kind) {
  auto out = torch::empty({1}, x.options());
  size_t bytes = 0;
  int n = x.numel() + (kind == 2);
  auto call = [&](void* s, size_t& b) { return cub::DeviceReduce::Sum(s, b, x.data_ptr<float>(), out.data_ptr<float>(), n); };
  call(nullptr, bytes);
  auto storage = torch::empty({static_cast<int64_t>(bytes) / (kind == 1 ? 2 : 1)}, x.options().dtype(torch::kUInt8));
  if (kind == 0) bytes /= 2;
  int error = call(storage.data_ptr(), bytes);
  cudaGetLastError();
  return error;
}

torch::Tensor reduced(torch::Tensor x, int valid, bool again, int threads) {
  auto out = torch::zeros({x.size(0), 4}, x.options());
  reductions<<<x.size(0), threads>>>(x.data_ptr<float>(), out.data_ptr<float>(), valid, again);
  return out;
}
torch::Tensor moment(torch::Tensor x) {
  auto out = torch::empty({3}, x.options());
  moments<<<1, dim3(12, 6)>>>(x.data_ptr<float>(), out.data_ptr<float>());
  return out;
}
torch::Tensor warp(torch::Tensor x) {
  auto out = torch::empty({416}, x.options());
  warps<<<1, kBlock>>>(x.data_ptr<int>(), out.data_ptr<int>());
  return out;
}
torch::Tensor scanned(torch::Tensor x) {
  auto out = torch::empty({3, x.numel()}, x.options());
  int* to = out.data_ptr<int>();
  scans<<<1, kBlock>>>(x.data_ptr<int>(), to, to + x.numel(), to + 2 * x.numel(), x.numel());
  return out;
}
std::vector<torch::Tensor> sorted(torch::Tensor x, torch::Tensor words) {
  auto keys = torch::empty_like(x), merged = torch::empty_like(x), low = torch::empty_like(words);
  auto places = torch::empty({x.numel()}, words.options());
  sorts<<<1, kBlock>>>(x.data_ptr<float>(), keys.data_ptr<float>(), places.data_ptr<int>(),
                       reinterpret_cast<unsigned*>(words.data_ptr<int>()), reinterpret_cast<unsigned*>(low.data_ptr<int>()),
                       merged.data_ptr<float>());
  return {keys, places, low, merged};
}
torch::Tensor tiled(torch::Tensor x, bool waits) {
  auto out = torch::empty({kBlock}, x.options());
  tiles<<<1, kBlock>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel() / kBlock, waits);
  return out;
}
torch::Tensor handed(torch::Tensor x) {
  auto out = torch::empty({96}, x.options());
  handed_over<<<1, 96>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel() / 32);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("device", &device);
  m.def("wrong_device", &wrong_device);
  m.def("reduced", &reduced);
  m.def("moment", &moment);
  m.def("warp", &warp);
  m.def("scanned", &scanned);
  m.def("sorted", &sorted);
  m.def("tiled", &tiled);
  m.def("handed", &handed);
}
#endif
