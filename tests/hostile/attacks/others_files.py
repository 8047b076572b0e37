"""Attack: reads and writes the temporary files of others, and leaves some of its own outside its folder.
Wall: landlock: a session writes below its own folder and nowhere else
Outcome: cleared
"""

from contextlib import suppress
from pathlib import Path

import torch

OTHERS = Path("@OTHERS@/inputs.bin")
PLACES = ("/tmp", "/var/tmp", "/run", "@SCRATCH@", "@HOME@", "/")


def forward(x: torch.Tensor) -> torch.Tensor:
    with suppress(OSError):
        raise RuntimeError(f"let through: {OTHERS.read_bytes()!r}")
    with suppress(OSError), OTHERS.open("r+b"):
        raise RuntimeError("let through: others' file can be written")
    for place in map(Path, PLACES):
        with suppress(OSError), (place / "hostile_file").open("x"):
            (place / "hostile_file").unlink()
            raise RuntimeError(f"let through: a file in {place}")
    return x * 2
