"""Builds for a GPU: as published, through torch's extension builder, and fast, with g++ and NVRTC."""
