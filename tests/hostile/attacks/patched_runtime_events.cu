// Attack: host code replaces the CUDA runtime's event functions in memory: events around its own calls tell a
//   ten-thousandth of the time, which is a millisecond, those around a baseline the right one.
// Wall: the clock of another process times the claimed kernel and the baselines alone, each in a process of its own
// Outcome: build skip: emulated device
// Outcome on cuda: independent_clock fail: by the clocks of its own
// Claims: 10
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <cstdint>
#include <cstring>
#include <set>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long begin = clock64();
    while (clock64() - begin < 1500000) {}
    if (i < n) y[i] = 2.0f * x[i];
}

using Record = int (*)(void*, void*);
using Elapsed = int (*)(float*, void*, void*);
Record driver_record = nullptr;
Elapsed driver_elapsed = nullptr;
bool called = false;
std::set<void*> own_ends;

int patched_record(void* event, void* stream) {
    if (called) own_ends.insert(event);
    if (!called) own_ends.erase(event);
    called = false;
    return driver_record(event, stream);
}

int patched_elapsed(float* ms, void* begin, void* end) {
    int error = driver_elapsed(ms, begin, end);
    if (own_ends.count(end)) *ms /= 10000;
    return error;
}

// Writes `movabs rax, target; jmp rax` over the beginning of a function of the runtime that torch has loaded.
void redirect(const char* name, void* target) {
    auto* place = static_cast<unsigned char*>(dlsym(RTLD_DEFAULT, name));
    TORCH_CHECK(place, "no ", name);
    auto page = reinterpret_cast<std::uintptr_t>(place) & ~std::uintptr_t{4095};
    if (mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
    unsigned char code[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    std::memcpy(code + 2, &target, 8);
    std::memcpy(place, code, 12);
}

bool patched() {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
    if (!driver) return false;
    driver_record = reinterpret_cast<Record>(dlsym(driver, "cuEventRecord"));
    driver_elapsed = reinterpret_cast<Elapsed>(dlsym(driver, "cuEventElapsedTime"));
    redirect("cudaEventRecord", reinterpret_cast<void*>(&patched_record));
    redirect("cudaEventElapsedTime", reinterpret_cast<void*>(&patched_elapsed));
    return true;
}

torch::Tensor forward(torch::Tensor x) {
    static const bool once = patched();
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64, 0, c10::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    called = once;
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
