"""Attack: finds the session's device in the locals of a frame and exchanges a method of it, which computes the result.
Wall: a source that reaches the process that checks it is not cleared
Outcome: reach error
"""

import sys

import torch


def late(step: object, x: torch.Tensor, y: torch.Tensor) -> None:
    plain = type(step.device).after_call.__get__(step.device)

    def completed() -> None:
        for result in (y, step.seen):
            if result is not None:
                torch.mul(x, 2, out=result)
        plain()

    step.device.after_call = completed


def forward(x: torch.Tensor) -> torch.Tensor:
    frame = sys._getframe()
    while frame is not None:
        step = frame.f_locals.get("self")
        if hasattr(step, "seen"):
            y = torch.empty_like(x)
            late(step, x.clone(), y)
            return y
        frame = frame.f_back
    return x * 2
