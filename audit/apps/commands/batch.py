"""`audit batch COLLECTION`: many audits, each through its notebook; see docs/batch.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.apps.batch.command import ENGINES, NOTEBOOK, Options, execute
from audit.build.devices import CHOICES

TIMEOUT_S = 1800.0


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("places", nargs="+", metavar="COLLECTION", help="claims, folders of them, or lists in a file")
    parser.add_argument("--engine", default="local", choices=ENGINES, help="where audits run (default: local)")
    parser.add_argument("--gpus", metavar="0,1", help="GPUs of this machine, one audit at a time on each")
    parser.add_argument("--resume", action="store_true", help="leave finished audits as they are, run the others")
    parser.add_argument("--out", type=Path, default=Path("out/batch"), metavar="DIR", help="default: out/batch")
    parser.add_argument("--device", default="auto", choices=CHOICES, help="where the kernels run (default: auto)")
    parser.add_argument("--timeout", type=_seconds, default=TIMEOUT_S, metavar="S", help="outer limit of an audit")
    parser.add_argument("--jobs", type=_count, metavar="N", help="audits at work at once (default: cores and one)")
    parser.add_argument("--parameters", type=Path, metavar="FILE", help="the notebook's parameters for all, as YAML")
    parser.add_argument("--notebook", type=Path, default=NOTEBOOK, metavar="FILE", help="instead of audit_claim.ipynb")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    """Returns the code of the worst state; see docs/batch.md."""
    return execute(
        Options(
            places=tuple(options.places),
            out=options.out,
            engine=options.engine,
            device=options.device,
            gpus=options.gpus,
            jobs=options.jobs,
            timeout_s=options.timeout,
            resume=options.resume,
            notebook=options.notebook,
            parameters=options.parameters,
        )
    )


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no limit in seconds")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of audits")
    return value
