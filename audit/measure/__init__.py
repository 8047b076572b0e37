"""Raw samples of times on a real GPU, and statistics derived from them."""

from audit.measure.comparison import Comparison, compared, strongest, wrong_baselines
from audit.measure.plan import repeated, times
from audit.measure.samples import DO_BENCH, OURS, median_ms, speedup
from audit.measure.timing import Session, Times

__all__ = [
    "DO_BENCH",
    "OURS",
    "Comparison",
    "Session",
    "Times",
    "compared",
    "median_ms",
    "repeated",
    "speedup",
    "strongest",
    "times",
    "wrong_baselines",
]
