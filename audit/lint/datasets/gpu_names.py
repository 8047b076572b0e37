"""A dataset's word for a GPU → the name the table of GPUs has for it."""

from __future__ import annotations

import re

from audit.model import gpus


def named(told: str) -> str:
    """The table's name for `a100`, `3090` or `NVIDIA H100 80GB HBM3`; a GPU that is not there keeps its own name."""
    words = [word.upper() for word in re.split(r"[\s_-]+", told) if word and word.upper() != "NVIDIA"]
    table = gpus.table()
    known = {name: {word.upper() for word in gpu.words} for name, gpu in table.items()}
    without = {name: {word.upper() for word in gpu.without} for name, gpu in table.items()}
    inside = [name for name, own in known.items() if own >= set(words) and words]
    around = [name for name, own in known.items() if own <= set(words) and not without[name] & set(words)]
    if inside:
        return min(inside, key=lambda name: len(known[name]))
    if around:
        return max(around, key=lambda name: len(known[name]))
    return told
