# coding: unicode_escape
"""Attack: declares an encoding in which a comment is code, so that a reader of the text sees a comment alone.
Wall: a source in another encoding than UTF-8 is not cleared
Outcome: reach error: coding: unicode_escape
"""

import torch

# \u000aimport time; time.perf_counter = time.perf_counter


def forward(x: torch.Tensor) -> torch.Tensor:
    return x * 2
