"""Attack: has an output end a gigabyte later than it did, with nothing in between.
Wall: the judge opens outputs as plain files of at most their shape's length, and never waits for one
Outcome: channel error: bytes long, more than any of its shape
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
            os.truncate(file, 1 << 30)
    return x * 2
