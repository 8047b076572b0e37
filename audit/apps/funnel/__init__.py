"""Many claims through the cheap stages first: lint, review, emulated probes, GPU. Each settles what it can.

collection ─► stages, one after another over all items ─► state (one small file an item) ─► page
"""
