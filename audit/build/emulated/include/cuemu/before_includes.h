// Takes back what after_includes.h of a header defines, before torch's own headers may follow. No include guard on purpose.
#undef is_cuda
#undef kCUDA
#undef cuda
#undef checkAllSameGPU
