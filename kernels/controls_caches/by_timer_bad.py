"""by_timer_bad: works until it finds a timer's buffer in the process, and then returns old answers.

mechanism  timers overwrite many megabytes of bytes before each call to empty a cache; checkers do not.
what shows calls that are compared while such a buffer is there.
"""

import gc

import torch

BUFFER_BYTES = 32 << 20
_seen = {"timer": False, "answers": {}}


def forward(x, parameters):
    """Y = x W + b, as long as nobody takes the time."""
    if not _seen["timer"]:
        _seen["timer"] = any(
            type(one) is torch.Tensor and one.dtype == torch.uint8 and one.numel() >= BUFFER_BYTES
            for one in gc.get_objects()
        )
    if not _seen["timer"] or x.shape not in _seen["answers"]:
        _seen["answers"][x.shape] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _seen["answers"][x.shape].clone()
