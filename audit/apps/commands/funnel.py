"""`audit funnel PATH`: many claims through lint, review, emulated probes and GPU; each stage settles what it can."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.build.devices import CHOICES


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "path", type=Path, metavar="PATH", help="a folder of claim folders, or a dataset as `audit lint` takes it"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for states, records and summary")
    parser.add_argument("--device", default="auto", choices=CHOICES, help="emulated: no GPU stage (default: auto)")
    parser.add_argument("--resume", action="store_true", help="go on with what lies in DIR")
    parser.add_argument("--seed", type=int, metavar="N", help="of all inputs, to see the findings of a record again")
    parser.add_argument("--gpu", metavar="NAME", help="the GPU of rows that name none")
    parser.add_argument("--unit", metavar="ms|us", help="of their times; default: read from the times themselves")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the stages, writes the summary page, and prints what was settled where."""
    from audit.apps.funnel import command  # the stages take a while to import

    return command.execute(
        options.path,
        options.out,
        device=options.device,
        resume=options.resume,
        seed=options.seed,
        gpu=options.gpu,
        unit=options.unit,
    )
