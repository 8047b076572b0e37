"""Attack: puts a pipe in the place of an output, so that whoever opens it waits for ever.
Wall: landlock: a session leaves plain files only; the judge opens nothing else, and never waits for one
Outcome: channel error
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

import torch


def folder() -> Path | None:
    frame = sys._getframe()
    while frame is not None:
        request = frame.f_locals.get("request")
        if isinstance(getattr(request, "folder", None), Path):
            return request.folder
        frame = frame.f_back
    return None


def forward(x: torch.Tensor) -> torch.Tensor:
    place = folder()
    for file in sorted(place.glob("*.bin")) if place else []:
        with suppress(OSError):
            file.unlink()
            os.mkfifo(file)
    return x * 2
