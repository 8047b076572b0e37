"""Attacks on the kit, one a file in `attacks/`, and what must be true after each: see `header` for what a file says."""
