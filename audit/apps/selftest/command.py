"""`audit self-test`: runs the controls, prints the matrix or the record, says whether this machine can be relied on."""

from __future__ import annotations

import sys
from pathlib import Path

from audit import claims
from audit.apps.selftest.against import differences
from audit.apps.selftest.matrix import matrix
from audit.apps.selftest.record import read, to_json, write
from audit.apps.selftest.run import run
from audit.apps.selftest.score import shortfalls
from audit.report import terminal
from audit.report.progress import Progress


def execute(  # noqa: PLR0913  # one argument an option
    device: str,
    *,
    as_json: bool,
    out: Path | None,
    seed: int | None = None,
    against: Path | None = None,
    root: Path = claims.KERNELS,
    blind: bool = False,
) -> int:
    """Returns the exit code: 0 if the device's answers can be relied on, else 1 with the reason on stderr.

    Args:
        device: "auto", "cuda" or "emulated".
        as_json: print the record, and the progress on stderr.
        out: also write the record there.
        seed: the one a record names, to see its answers again.
        against: a record of an earlier self-test; a control that comes out otherwise, from the seed it names unless
            `seed` is given, is a reason not to rely on it.
        root: the folder that holds the claim folders.
        blind: ask the blind controls instead of all others.

    Raises:
        BadInput: the device cannot be used here, or a file cannot be read or written.
    """
    before = None if against is None else read(against)
    progress = Progress(sys.stderr if as_json else None)
    seed = before.environment.seeds[0] if before is not None and seed is None else seed
    record = run(device, root=root, blind=blind, entropy=seed, progress=progress)
    if out is not None:
        write(record, out)
    if as_json:
        print(to_json(record), end="")
    else:
        terminal.say(*matrix(record).splitlines())
    reasons = shortfalls(record) + ([] if before is None else differences(record, before))
    if reasons:
        terminal.warn(f"{record.device.name} cannot be relied on here: {'; '.join(reasons)}")
    return 1 if reasons else 0
