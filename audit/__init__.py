"""Audit a published GPU-kernel speedup claim: is it right, is the time real, how fast can it honestly be."""

__version__ = "0.2.0"
