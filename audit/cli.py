"""The command line: `audit run`, `audit review`, `audit list`, `audit report`, `audit compare`, `audit doctor`.

Exit codes: 0 the audit ended, whatever its verdict; 1 the audit itself failed; 2 bad input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from audit import __version__, claims, doctor, report
from audit.build.devices import CHOICES, beside, choose
from audit.emulator.selftest import selftest
from audit.errors import AuditError, BadInput
from audit.model import store
from audit.pipeline import Audit
from audit.progress import Progress
from audit.report.compare import compare
from audit.review import command as review
from audit.selftest.command import execute


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except BadInput as error:
        print(f"audit: {error}", file=sys.stderr)
        return 2
    except AuditError as error:
        print(f"audit: the audit itself failed: {error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    folder = claims.load(options.claim)
    device = choose(options.device, folder.claim)
    out = options.out or Path("out") / f"{folder.claim.name}-{device.describe().kind}"
    others = beside(device)
    with Audit(folder, device, out, beside=others, entropy=options.seed, progress=Progress()) as audit:
        record = audit.run()
    print(f"\n{folder.claim.name}: {record.verdict.name}")
    for text in (*record.verdict.reasons, *record.verdict.missing, *filter(None, [record.verdict.root_cause])):
        print(f"  {text}")
    print(f"  report: {out / 'report.html'}")
    return 0


def _review(options: argparse.Namespace) -> int:
    found = review.reviewed(options.files)
    print(review.as_json(found) if options.json else "\n".join(review.lines(found)))
    return 0


def _list(_: argparse.Namespace) -> int:
    for name in claims.names():
        claim = claims.load(name).claim
        print(f"{name:<20} {len(claim.variant)} variants  {claim.title}")
    return 0


def _report(options: argparse.Namespace) -> int:
    for file in report.render(store.read(options.record), options.out or options.record.parent):
        print(file)
    return 0


def _compare(options: argparse.Namespace) -> int:
    print(compare([store.read(path) for path in options.records]), end="")
    return 0


def _self_test(options: argparse.Namespace) -> int:
    return execute(options.device, as_json=options.json, out=options.out, seed=options.seed)


def _doctor(options: argparse.Namespace) -> int:
    for check in doctor.examine():
        print(f"{check.mark} {check.name:<16} {check.found}" + (f" -> {check.advice}" if check.advice else ""))
    if options.self_test:
        for feature in selftest(progress=lambda text: print(f"   {text}", flush=True)):
            print(f"{'ok' if feature.passed else '!!'} emulated: {feature.name:<24} {feature.detail}".rstrip())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="audit", description="Audit published GPU-kernel speedup claims.")
    parser.add_argument("--version", action="version", version=f"audit {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="audit one claim; writes record.json, report.md, report.html and figures")
    run.add_argument("claim", help="a name that `audit list` shows, or the folder of a claim")
    run.add_argument("--device", default="auto", choices=CHOICES, help="where the kernels run (default: auto)")
    run.add_argument("--out", type=Path, metavar="DIR", help="folder for the results (default: out/CLAIM-DEVICE)")
    run.add_argument("--seed", type=int, metavar="N", help="the seed a record names, to see its findings again")
    run.set_defaults(command=_run)
    source = commands.add_parser("review", help="what sources alone say: hints with lines; nothing is built or run")
    source.add_argument("files", type=Path, nargs="+", metavar="FILE", help="CUDA C++ or Python files")
    source.add_argument("--json", action="store_true", help="print JSON instead of lines")
    source.set_defaults(command=_review)
    listing = commands.add_parser("list", help="the claims that can be audited")
    listing.set_defaults(command=_list)
    again = commands.add_parser("report", help="render the report of a record again")
    again.add_argument("record", type=Path, metavar="RECORD", help="a record.json")
    again.add_argument("--out", type=Path, metavar="DIR", help="folder for the report (default: beside the record)")
    again.set_defaults(command=_report)
    together = commands.add_parser("compare", help="records of one claim from several GPUs, side by side")
    together.add_argument("records", type=Path, nargs="+", metavar="RECORD", help="record.json files of one claim")
    together.set_defaults(command=_compare)
    score = commands.add_parser(
        "self-test", help="the auditor's own error rates, from kernels known to be wrong or right"
    )
    score.add_argument("--device", default="auto", choices=CHOICES, help="where the kernels run (default: auto)")
    score.add_argument("--json", action="store_true", help="print the record instead of the matrix")
    score.add_argument("--out", type=Path, metavar="FILE", help="also write the record there")
    score.add_argument("--seed", type=int, metavar="N", help="the seed a record names, to see its answers again")
    score.set_defaults(command=_self_test)
    check = commands.add_parser("doctor", help="what this machine can and cannot answer, and what to install")
    check.add_argument("--self-test", action="store_true", help="also run every feature of the emulated device")
    check.set_defaults(command=_doctor)
    return parser


if __name__ == "__main__":
    sys.exit(main())
