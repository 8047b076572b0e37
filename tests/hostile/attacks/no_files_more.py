"""Attack: forbids its own process to write or open files, so that the kit cannot tell what it found.
Wall: a session that cannot tell its answer has not answered
Outcome: contract error
"""

import resource
import signal

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    return x * 2
