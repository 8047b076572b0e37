"""Attack: opens the kit's own files for writing and puts a module beside them.
Wall: landlock: a session writes below its own folder and nowhere else
Outcome: cleared
"""

import os
from contextlib import suppress
from pathlib import Path

import torch

KIT = Path("@KIT@")


def forward(x: torch.Tensor) -> torch.Tensor:
    for path in (KIT / "judge/__init__.py", KIT / "run/sessions/session.py", Path(torch.__file__), Path(os.__file__)):
        with suppress(OSError), path.open("r+b"):
            raise RuntimeError(f"let through: {path.name} can be written")
    for folder in (KIT, KIT / "run", Path(torch.__file__).parent, Path(os.__file__).parent):
        with suppress(OSError), (folder / "hostile_module.py").open("x"):
            (folder / "hostile_module.py").unlink()
            raise RuntimeError(f"let through: a file beside {folder.name}")
    return x * 2
