// What a GPU answers to what it refuses or faults on. One case a process: `faults NAME` prints the launch's error, the
// error after waiting, and the first words of the result.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace nvcuda;

struct Loose {
  float x, y, z, w;
};
static unsigned char* in;
static unsigned char* out;
static int host_code = -1;

// __ldg of shared memory, or of an array of the thread: nvcc reads both as if they were the device's own memory.
__global__ void read_only(unsigned* to, bool shared) {
  __shared__ unsigned held[32];
  unsigned own[32];
  for (int i = 0; i < 32; i++) own[i] = 0xabcd0000u + i;
  held[threadIdx.x] = 0x12340000u + threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = __ldg((shared ? held : own) + (threadIdx.x ^ 1));
}

template <class T>
__global__ void copy(const unsigned char* from, unsigned char* to, int read_at, int write_at) {
  T value = *reinterpret_cast<const T*>(from + read_at);
  *reinterpret_cast<T*>(to + write_at) = value;
}
template <class T>
__global__ void through_cache(const unsigned char* from, unsigned char* to, int at) {
  *reinterpret_cast<T*>(to) = __ldg(reinterpret_cast<const T*>(from + at));
}
template <class T>
__global__ void through_shared(const unsigned char* from, unsigned char* to, int at) {
  __shared__ __align__(16) unsigned char held[128];
  for (int i = 0; i < 64; i++) held[i] = from[i];
  *reinterpret_cast<T*>(to) = *reinterpret_cast<T*>(held + at);
}
template <class T>
__global__ void add(unsigned char* to, int at) {
  atomicAdd(reinterpret_cast<T*>(to + at), T(1));
}
__global__ void __launch_bounds__(128) bounded(float* to) { to[threadIdx.x] = 1.0f; }
__global__ void plain(float* to) { to[threadIdx.x] = 1.0f; }
__global__ void divide(const int* from, int* to) {
  to[0] = from[0] / from[1];
  to[1] = from[0] % from[1];
  to[2] = from[2] / from[3];
  to[3] = from[2] % from[3];
  to[4] = (int)((unsigned)from[0] / (unsigned)from[1]);
}
__global__ void asynchronous(const unsigned char* from, unsigned char* to, int from_at, int to_at, int bytes) {
  __shared__ __align__(16) unsigned char held[128];
  if (bytes == 4) __pipeline_memcpy_async(held + to_at, from + from_at, 4);
  if (bytes == 8) __pipeline_memcpy_async(held + to_at, from + from_at, 8);
  if (bytes == 16) __pipeline_memcpy_async(held + to_at, from + from_at, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  to[threadIdx.x] = held[threadIdx.x];
}
template <class T, int K, class Sum>
__global__ void tile(const unsigned char* from, unsigned char* to, int at, int stride, int store_at, int store_stride) {
  wmma::fragment<wmma::matrix_a, 16, 16, K, T, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, K, T, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, K, Sum> c;
  using Memory = typename decltype(a)::storage_element_type;
  const Memory* memory = reinterpret_cast<const Memory*>(from);
  wmma::load_matrix_sync(a, memory + at, stride);
  wmma::load_matrix_sync(b, memory, 32);
  wmma::fill_fragment(c, Sum(0));
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(reinterpret_cast<Sum*>(to) + store_at, c, store_stride, wmma::mem_row_major);
}
__global__ void trapped() { __trap(); }
__global__ void wild(float* to) { to[1ull << 40] = 1.0f; }
__global__ void dynamic(float* to) {
  extern __shared__ float held[];
  held[threadIdx.x] = 1.0f;
  to[threadIdx.x] = held[threadIdx.x];
}

static void host_copy(void* to, const void* from, cudaMemcpyKind kind) { host_code = cudaMemcpy(to, from, 64, kind); }

// Variables at file scope: reads past one, writes of a constant, and copies, after which `out` holds its first words.
__constant__ float weights[1024];
__constant__ float behind[1024];
__device__ float table[100];
__global__ void read_constant(float* to, int at) { to[0] = weights[at] + behind[0]; }
__global__ void read_variable(float* to, int at) { to[0] = table[at]; }
__global__ void write_constant(float* to, int at) {
  const_cast<float*>(weights)[at] = 7.0f;
  to[0] = weights[at];
}
__global__ void write_by_address(float* to, float* address) {
  address[0] = 7.0f;
  to[0] = address[0];
}
template <class Call>
std::function<void()> symbol(Call call) {
  return [=] {
    static float values[4096];
    for (float& value : values) value = 3.0f;
    host_code = call(values);
    cudaMemcpyFromSymbol(out, weights, 32, 0, cudaMemcpyDeviceToDevice);
  };
}
static void symbols(std::map<std::string, std::function<void()>>& all) {
  float* floats = reinterpret_cast<float*>(out);
  for (int at : {1023, 1024, 3000, 1 << 20, -1})
    all["constant read at " + std::to_string(at)] = [=] { read_constant<<<1, 1>>>(floats, at); };
  for (int at : {99, 100, 1 << 28})
    all["variable read at " + std::to_string(at)] = [=] { read_variable<<<1, 1>>>(floats, at); };
  all["constant write"] = [=] { write_constant<<<1, 1>>>(floats, 5); };
  all["constant write by address"] = [=] {
    void* address;
    host_code = cudaGetSymbolAddress(&address, weights);
    write_by_address<<<1, 1>>>(floats, static_cast<float*>(address));
  };
  auto to = [&all](const char* name, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    all[name] = symbol([=](float* host) { return cudaMemcpyToSymbol(weights, host, bytes, offset, kind); });
  };
  auto from = [&all](const char* name, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    all[name] = symbol([=](float* host) { return cudaMemcpyFromSymbol(host, weights, bytes, offset, kind); });
  };
  to("symbol whole", 4096);
  to("symbol past end", 4097);
  to("symbol past end by offset", 4096, 4);
  to("symbol nothing past end", 0, 5000);
  to("symbol to host", 16, 0, cudaMemcpyDeviceToHost);
  to("symbol host to host", 16, 0, cudaMemcpyHostToHost);
  to("symbol nothing to host", 0, 0, cudaMemcpyDeviceToHost);
  to("symbol pageable as device", 16, 0, cudaMemcpyDeviceToDevice);
  to("symbol default kind", 16, 0, cudaMemcpyDefault);
  from("symbol from past end", 4097);
  from("symbol from as to device", 16, 0, cudaMemcpyHostToDevice);
  from("symbol from huge offset", 16, size_t(-4));
  from("symbol from to pageable as device", 16, 0, cudaMemcpyDeviceToDevice);
  all["symbol device past end"] = symbol([](float* host) { return cudaMemcpyToSymbol(table, host, 404); });
  for (size_t bytes : {4097, 8200})
    all["symbol asynchronous " + std::to_string(bytes)] =
        symbol([=](float* host) { return cudaMemcpyToSymbolAsync(weights, host, bytes, 0, cudaMemcpyHostToDevice); });
}

static std::map<std::string, std::function<void()>> cases() {
  static unsigned char host[256], other[256];
  static unsigned char *pinned, *managed;
  cudaMallocHost(&pinned, 256);
  cudaMallocManaged(&managed, 256);
  float* floats = reinterpret_cast<float*>(out);
  std::map<std::string, std::function<void()>> all;
  symbols(all);
#define COPY(NAME, T)                                                                                \
  for (int at : {0, 1, 2, 4, 8, 16}) {                                                               \
    std::string tail = std::string(NAME) + " at " + std::to_string(at);                              \
    all["load " + tail] = [=] { copy<T><<<1, 1>>>(in, out, at, 0); };                                \
    all["store " + tail] = [=] { copy<T><<<1, 1>>>(in, out, 0, at); };                               \
    all["shared load " + tail] = [=] { through_shared<T><<<1, 1>>>(in, out, at); };                  \
  }
  COPY("float", float)
  COPY("float2", float2)
  COPY("float3", float3)
  COPY("float4", float4)
  COPY("double", double)
  COPY("double2", double2)
  COPY("short", short)
  COPY("half2", __half2)
  COPY("Loose", Loose)
  COPY("uchar4", uchar4)
  for (int at : {2, 4, 8}) all["ldg float4 at " + std::to_string(at)] = [=] { through_cache<float4><<<1, 1>>>(in, out, at); };
  for (int at : {1, 2, 4}) {
    all["atomicAdd float at " + std::to_string(at)] = [=] { add<float><<<1, 1>>>(out, at); };
    all["atomicAdd double at " + std::to_string(at)] = [=] { add<double><<<1, 1>>>(out, at); };
    all["atomicAdd half at " + std::to_string(at)] = [=] { add<__half><<<1, 1>>>(out, at); };
  }
  all["launch bounds kept"] = [=] { bounded<<<1, 128>>>(floats); };
  all["launch bounds exceeded"] = [=] { bounded<<<1, 256>>>(floats); };
  all["launch bounds exceeded by one"] = [=] { bounded<<<1, 129>>>(floats); };
  all["no blocks"] = [=] { plain<<<0, 32>>>(floats); };
  all["no threads"] = [=] { plain<<<1, 0>>>(floats); };
  all["block of 1025"] = [=] { plain<<<1, 1025>>>(floats); };
  all["block 65 deep"] = [=] { plain<<<1, dim3(1, 1, 65)>>>(floats); };
  all["grid 65536 high"] = [=] { plain<<<dim3(1, 65536), 1>>>(floats); };
  all["dynamic shared 48 KiB"] = [=] { dynamic<<<1, 32, 49152>>>(floats); };
  all["dynamic shared 49 KiB"] = [=] { dynamic<<<1, 32, 50176>>>(floats); };
  all["opt in to 1 MiB of shared memory"] = [=] { host_code = cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20); };
  all["trap"] = [=] { trapped<<<1, 1>>>(); };
  all["wild address"] = [=] { wild<<<1, 1>>>(floats); };
  all["division by zero"] = [=] {
    int numbers[] = {7, 0, (int)0x80000000, -1};
    cudaMemcpy(in, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    divide<<<1, 1>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out));
  };
  for (int bytes : {4, 8, 16})
    for (int at : {0, 1, 2, 4, 8}) {
      std::string tail = std::to_string(bytes) + " at " + std::to_string(at);
      all["async from " + tail] = [=] { asynchronous<<<1, 64>>>(in, out, at, 0, bytes); };
      all["async to " + tail] = [=] { asynchronous<<<1, 64>>>(in, out, 0, at, bytes); };
    }
  for (int at : {0, 1, 2, 4, 8, 16}) {
    std::string tail = std::to_string(at);
    all["wmma half load at " + tail] = [=] { tile<__half, 16, float><<<1, 32>>>(in, out, at, 32, 0, 32); };
    all["wmma half stride 16 + " + tail] = [=] { tile<__half, 16, float><<<1, 32>>>(in, out, 0, 16 + at, 0, 32); };
    all["wmma int8 load at " + tail] = [=] { tile<signed char, 16, int><<<1, 32>>>(in, out, at, 32, 0, 32); };
    all["wmma int8 stride 16 + " + tail] = [=] { tile<signed char, 16, int><<<1, 32>>>(in, out, 0, 16 + at, 0, 32); };
    all["wmma tf32 load at " + tail] = [=] { tile<wmma::precision::tf32, 8, float><<<1, 32>>>(in, out, at, 32, 0, 32); };
    all["wmma tf32 stride 16 + " + tail] = [=] { tile<wmma::precision::tf32, 8, float><<<1, 32>>>(in, out, 0, 16 + at, 0, 32); };
    all["wmma float store at " + tail] = [=] { tile<__half, 16, float><<<1, 32>>>(in, out, 0, 32, at, 32); };
    all["wmma float store stride 16 + " + tail] = [=] { tile<__half, 16, float><<<1, 32>>>(in, out, 0, 32, 0, 16 + at); };
    all["wmma half store at " + tail] = [=] { tile<__half, 16, __half><<<1, 32>>>(in, out, 0, 32, at, 32); };
    all["wmma half store stride 16 + " + tail] = [=] { tile<__half, 16, __half><<<1, 32>>>(in, out, 0, 32, 0, 16 + at); };
  }
  const std::pair<const char*, cudaMemcpyKind> kinds[] = {
      {"host to host", cudaMemcpyHostToHost}, {"host to device", cudaMemcpyHostToDevice},
      {"device to host", cudaMemcpyDeviceToHost}, {"device to device", cudaMemcpyDeviceToDevice}, {"default", cudaMemcpyDefault}};
  const std::pair<const char*, unsigned char*> places[] = {{"host", host}, {"device", in}, {"pinned", pinned}, {"managed", managed}};
  for (auto [kind_name, kind] : kinds)
    for (auto [from_name, from] : places)
      for (auto [to_name, to] : places) {
        unsigned char* target = to == from ? (to == host ? other : to + 128) : to;
        all[std::string("copy ") + from_name + " > " + to_name + " as " + kind_name] = [=] { host_copy(target, from, kind); };
      }
  for (bool shared : {false, true})
    all[shared ? "ldg of shared memory" : "ldg of a local array"] = [=] { read_only<<<1, 32>>>((unsigned*)out, shared); };
  all["memset of host memory"] = [=] { host_code = cudaMemset(other, 0, 64); };
  all["free of host memory"] = [=] { host_code = cudaFree(other); };
  all["free twice"] = [=] {
    void* one;
    cudaMalloc(&one, 64);
    cudaFree(one);
    host_code = cudaFree(one);
  };
  all["free inside"] = [=] { host_code = cudaFree(in + 256); };
  all["set device 1000"] = [=] { host_code = cudaSetDevice(1000); };
  return all;
}

int main(int count, char** words) {
  cudaMalloc(&in, 65536);
  cudaMalloc(&out, 65536);
  std::vector<unsigned char> bytes(65536);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<unsigned char>(i % 48);
  cudaMemcpy(in, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 65536);
  auto all = cases();
  if (count < 2) {
    for (auto& [name, ignored] : all) std::puts(name.c_str());
    return 0;
  }
  auto found = all.find(words[1]);
  if (found == all.end()) return 2;
  found->second();
  int launched = cudaGetLastError(), waited = cudaDeviceSynchronize();
  unsigned held[8] = {};
  cudaMemcpy(held, out, sizeof(held), cudaMemcpyDeviceToHost);
  std::printf("%d %d %d", host_code, launched, waited);
  for (unsigned word : held) std::printf(" %08x", word);
  std::puts("");
  return 0;
}
