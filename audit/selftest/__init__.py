"""The auditor scores itself: kernels known to be wrong and kernels known to be right, through the stages users run."""

from audit.selftest.record import SelfTest, read, write
from audit.selftest.run import run
from audit.selftest.score import rates

__all__ = ["SelfTest", "rates", "read", "run", "write"]
