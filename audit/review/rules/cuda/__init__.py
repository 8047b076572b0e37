"""Rules over CUDA C++."""
