// Included after the last #include of the source: what would break torch's own headers. No include guard on purpose.
// CPU tensors answer as CUDA ones.
#define is_cuda() is_cpu()
#define kCUDA kCPU
#define cuda() cpu()
#define checkAllSameGPU checkAllDefined  // the check of CUDA tensors has no other of its parameters for CPU ones
#undef assert
#define assert(...) ((__VA_ARGS__) ? static_cast<void>(0) : ::cuemu::assert_failed(#__VA_ARGS__, __FILE__, __LINE__))
#undef CUDA_KERNEL_ASSERT
#define CUDA_KERNEL_ASSERT(...) assert(__VA_ARGS__)
#undef CUDA_KERNEL_ASSERT2
#define CUDA_KERNEL_ASSERT2(...) assert(__VA_ARGS__)
