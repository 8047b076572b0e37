"""The emulated device: an unmodified CUDA source, rewritten, compiled by the host compiler and run on the CPU."""
