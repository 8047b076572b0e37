"""Triton's kernels on the emulated device: its interpreter, replaced where it differs from Triton's compiler."""
