"""The source alone: what it holds, what the emulated device cannot run, static-analysis hints. Nothing is run."""
