"""`audit run CLAIM`: the audit of one claim, from its folder to the report."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit import claims
from audit.apps.commands import report
from audit.audit import Audit
from audit.build.devices import CHOICES, beside, choose
from audit.report import terminal
from audit.report.formats import FORMATS
from audit.report.progress import Progress


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("claim", help="a name that `audit list` shows, or the folder of a claim")
    parser.add_argument("--device", default="auto", choices=CHOICES, help="where the kernels run (default: auto)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the results (default: out/CLAIM-DEVICE)")
    parser.add_argument("--seed", type=int, metavar="N", help="the seed a record names, to see its findings again")
    report.add_form(parser)
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Audits, prints the verdict with its reasons, and returns 0 whatever the verdict is."""
    form = report.form(options)
    folder = claims.load(options.claim)
    device = choose(options.device, folder.claim)
    out = options.out or Path("out") / f"{folder.claim.name}-{device.describe().kind}"
    others = beside(device)
    with Audit(folder, device, out, beside=others, entropy=options.seed, progress=Progress()) as audit:
        record = audit.run(form)
    terminal.say("", f"{folder.claim.name}: {record.verdict.name}")
    for text in (*record.verdict.reasons, *record.verdict.missing, *filter(None, [record.verdict.root_cause])):
        terminal.say(f"  {text}")
    for name in form.names:
        terminal.say(f"  report: {out / FORMATS[name].file(form.language)}")
    return 0
