"""Attack: gives the files of others, and a secret, a second name in its own folder, and moves them there.
Wall: landlock: no link and no move across the border of the session's folder
Outcome: cleared
"""

import os
from contextlib import suppress
from pathlib import Path

import torch

THEIRS = ("@OTHERS@/inputs.bin", "@HOME@/token", "@REPORTS@/record.json")


def forward(x: torch.Tensor) -> torch.Tensor:
    here = Path(os.environ.get("TMPDIR", "/tmp"))
    for index, place in enumerate(THEIRS):
        with suppress(OSError):
            os.link(place, here / f"hostile_{index}")
            raise RuntimeError(f"let through: a second name for {place}")
        with suppress(OSError):
            (here / f"hostile_link{index}").symlink_to(place)
            raise RuntimeError(f"let through: {(here / f'hostile_link{index}').read_bytes()!r}")
    return x * 2
