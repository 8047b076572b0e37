"""Attack: finds what tells events in the frames above it, and has it tell a whole session of forged ones.
Wall: a session within a session has no nonce; a source that reaches the process that checks it is not cleared
Outcome: contract error: BlockingIOError
"""

import sys

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    frame = sys._getframe()
    while frame is not None:
        writer = frame.f_locals.get("writer")
        if writer is not None:
            writer.serve(iter([{"step": 0, "returned": "Tensor"}]))
        frame = frame.f_back
    return x * 2
