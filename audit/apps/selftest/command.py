"""`audit self-test`: runs the controls, prints the matrix or the record, says whether this machine can be relied on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from audit.apps.commands.declare import Arg, Device
from audit.apps.selftest.against import differences
from audit.apps.selftest.matrix import matrix
from audit.apps.selftest.record import read, to_json, write
from audit.apps.selftest.run import run
from audit.apps.selftest.score import shortfalls
from audit.report import terminal
from audit.report.progress import Progress


def self_test(  # one argument an option
    *,
    device: Device = "auto",
    json: Annotated[bool, Arg("print the record instead of the matrix, and the progress on stderr")] = False,
    out: Annotated[Path | None, Arg("also write the record there", "FILE")] = None,
    seed: Annotated[int | None, Arg("the seed a record names, to reproduce its answers", "N")] = None,
    against: Annotated[Path | None, Arg("an earlier record: exit 1 where an answer differs from it", "FILE")] = None,
    blind: Annotated[bool, Arg("the controls whose writers had read the documentation alone")] = False,
) -> int:
    """Returns 0 if the device's answers can be relied on, else 1 with the reason on stderr.

    Without `seed` the inputs are drawn from the seed that the record `against` names.

    Raises:
        BadInput: the device cannot be used here, or a file cannot be read or written.
    """
    before = None if against is None else read(against)
    progress = Progress(sys.stderr if json else None)
    seed = before.environment.seeds[0] if before is not None and seed is None else seed
    record = run(device, blind=blind, entropy=seed, progress=progress)
    if out is not None:
        write(record, out)
    if json:
        print(to_json(record), end="")
    else:
        terminal.say(*matrix(record).splitlines())
    reasons = shortfalls(record) + ([] if before is None else differences(record, before))
    if reasons:
        terminal.warn(f"{record.device.name} cannot be relied on here: {'; '.join(reasons)}")
    return 1 if reasons else 0
