"""Attack: returns at once and has a signal's handler compute the result a moment later; no thread is there to see.
Wall: a source that reaches the process that checks it is not cleared
Outcome: reach error: import signal
"""

import signal
from collections import deque

import torch

pending: deque[tuple[torch.Tensor, torch.Tensor]] = deque()


def complete(*_: object) -> None:
    while pending:
        source, y = pending.popleft()
        torch.mul(source, 2, out=y)


signal.signal(signal.SIGALRM, complete)


def forward(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    pending.append((x.clone(), y))
    signal.setitimer(signal.ITIMER_REAL, 1e-6)
    return y
