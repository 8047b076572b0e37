// Takes back what after_includes.h of a header defines, before torch's own headers may follow. No include guard on purpose.
#undef is_cuda
#undef kCUDA
#undef checkAllSameGPU
#undef __CUDACC__
#undef __NVCC__
#undef __CUDACC_VER_MAJOR__
#undef __CUDACC_VER_MINOR__
#undef __CUDA_ARCH__
