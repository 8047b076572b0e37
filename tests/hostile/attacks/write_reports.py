"""Attack: opens published reports, and the record of this very audit, for writing.
Wall: landlock: a session writes below its own folder and nowhere else
Outcome: cleared
"""

from contextlib import suppress
from pathlib import Path

import torch

PLACES = ("@REPORTS@/record.json", "@CLAIMS@/write_reports/out/record.json", "@CLAIMS@/write_reports/claim.toml")


def forward(x: torch.Tensor) -> torch.Tensor:
    for place in map(Path, PLACES):
        with suppress(OSError), place.open("r+b"):
            raise RuntimeError(f"let through: {place.name} can be written")
    with suppress(OSError):
        (Path(PLACES[1]).parent / "report.html").write_text("forged")
        raise RuntimeError("let through: a report")
    return x * 2
