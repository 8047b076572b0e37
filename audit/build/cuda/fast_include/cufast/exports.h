// Included once at the end of the host part: how audit/build/cuda/fast_load.py hands it its kernels.
#define CUFAST_EXPORT extern "C" __attribute__((visibility("default")))

// Loads the device part; a cudaError_t. `library` is then what cufast_bind takes.
CUFAST_EXPORT int cufast_open(const void* image, cudaLibrary_t* library) {
  return cudaLibraryLoadData(library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

// From now on the host's address stands for the kernel or the variable of that name; a cudaError_t.
CUFAST_EXPORT int cufast_bind(cudaLibrary_t library, const char* name, const void* address, bool variable) {
  cufast::Target target = {nullptr, 0};
  cudaError_t error = variable ? cudaLibraryGetGlobal(&target.handle, &target.bytes, library, name)
                               : cudaLibraryGetKernel(reinterpret_cast<cudaKernel_t*>(&target.handle), library, name);
  if (error == cudaSuccess) cufast::targets[address] = target;
  return error;
}
