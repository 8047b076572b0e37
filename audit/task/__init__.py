"""The task stage: can the task, at its own tolerance, tell a right kernel from one that does no work?"""

from audit.task.candidates import PROBE, finding

__all__ = ["PROBE", "finding"]
