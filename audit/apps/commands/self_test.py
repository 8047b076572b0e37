"""`audit self-test`: the auditor's own error rates, from kernels known to be wrong or right."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.apps.selftest import command
from audit.build.devices import CHOICES


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--device", default="auto", choices=CHOICES, help="where the kernels run (default: auto)")
    parser.add_argument("--json", action="store_true", help="print the record instead of the matrix")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the record there")
    parser.add_argument("--seed", type=int, metavar="N", help="the seed a record names, to see its answers again")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="a record; what comes out otherwise is told, exit 1"
    )
    parser.add_argument(
        "--blind", action="store_true", help="the controls whose writers had read the documentation alone"
    )
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Returns 1 if the device's answers cannot be relied on."""
    return command.execute(
        options.device,
        as_json=options.json,
        out=options.out,
        seed=options.seed,
        against=options.against,
        blind=options.blind,
    )
