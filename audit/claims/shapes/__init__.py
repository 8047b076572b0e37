"""Sizes that count for a claim, read from the claimed sizes and from the numbers that its source names."""
