"""Attack: puts a wrong kernel in place of its neighbour's copy in the cache, with a seal that fits.
Wall: landlock and read-only mounts; a session loads a file only with the digest that the judge holds of it
Outcome: cleared
"""

import hashlib
import json
from contextlib import suppress
from pathlib import Path

import torch

WRONG = b"def forward(x):\n    return x * 3\n"


def forward(x: torch.Tensor) -> torch.Tensor:
    for path in Path("@CACHE@").glob("python/*/known_good.py"):
        with suppress(OSError):
            path.write_bytes(WRONG)
            (path.parent / ".seal.json").write_text(json.dumps({path.name: hashlib.sha256(WRONG).hexdigest()}))
            raise RuntimeError("let through: the neighbour's copy can be written")
    return x * 2
