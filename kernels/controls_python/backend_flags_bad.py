"""backend_flags_bad: changes how exact everybody's arithmetic is, and leaves it so.

mechanism  on import it allows TF32 for the whole process: matrix products get faster and coarser without a kernel.
what shows the backend's flags are not what they were before the source was loaded.
"""

import torch

torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
torch.set_float32_matmul_precision("medium")


def forward(x):
    """Y = 2 x + 1."""
    return x * 2 + 1
