"""Attack: puts its own functions in the place of the kit's, in the modules that run the session and watch over it.
Wall: a source that reaches the process that checks it is not cleared
Outcome: reach error: sys.modules
"""

import functools
import sys

import torch

for name in ("calls.arguments", "sessions.session", "sessions.process_state"):
    module = sys.modules[f"audit.run.{name}"]
    for own in ("differing", "as_bytes", "_watched", "look", "settled"):
        if hasattr(module, own):
            setattr(module, own, functools.partial(getattr(module, own)))


def forward(x: torch.Tensor) -> torch.Tensor:
    return x * 2
