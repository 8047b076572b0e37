"""Builds of Python variants: their own sources, inline CUDA and Triton."""
