"""Attack: rewrites the files with the outputs of earlier calls, once it has had the time to compute them better.
Wall: an event states the digest of the bytes that were written; other bytes are seen
Outcome: channel error: holds other bytes than the session wrote
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
            data = bytearray(file.read_bytes())
            data[0] ^= 1
            file.write_bytes(data)
    return x * 2
