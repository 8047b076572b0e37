"""Attack: raises SystemExit(0), which is no Exception, out of the call.
Wall: a session has finished only when its own last message came
Outcome: contract error: the process ended itself with exit code 0
"""

import sys

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    sys.exit(0)
