"""The auditor scores itself: kernels known to be wrong and kernels known to be right, through the stages users run."""

from audit.apps.selftest.controls import run
from audit.apps.selftest.record import SelfTest, read, write
from audit.apps.selftest.score import rates

__all__ = ["SelfTest", "rates", "read", "run", "write"]
