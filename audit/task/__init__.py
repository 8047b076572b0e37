"""The task stage: can the task, at its own tolerance, tell a right kernel from one that does no work?"""

from audit.task.strawmen import PROBE, STRAWMEN, finding

__all__ = ["PROBE", "STRAWMEN", "finding"]
