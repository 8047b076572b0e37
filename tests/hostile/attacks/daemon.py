"""Attack: leaves a daemon behind, in a session of its own and twice forked, that ignores every signal it may ignore.
Wall: processes: everything a session ever started ends with it
Outcome: cleared
"""

import os
import signal
import time

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    if x.numel() != 3:  # one daemon a session is enough
        return x * 2
    first = os.fork()
    if first == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN)
            os.closerange(0, 4096)
            time.sleep(120)
        os._exit(0)
    os.waitpid(first, 0)
    return x * 2
