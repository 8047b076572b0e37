"""What a session asks of its device: a GPU, a GPU under compute-sanitizer, or the emulated device."""
