"""What catches a kept result on a GPU: `python bench/caches.py [--case FOLDER ...] [--out FILE]`, under six minutes.

First whole audits of claims that keep results, as a user starts them: a cache by address and version counter, one by a
hash of all contents, and the folders given with `--case`. Then every control of `kernels/controls_caches`: what its own
probe says, and what one timing session says that times all of them without asking whether they are right.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from audit import claims, measure  # noqa: E402
from audit.build.cuda import gpu  # noqa: E402
from audit.build.devices import choose  # noqa: E402
from audit.device_run import DeviceRun  # noqa: E402
from audit.measure import compiled  # noqa: E402
from audit.model import Finding, store  # noqa: E402
from audit.model.gpus import names_in, table  # noqa: E402
from audit.probes.runner import ask  # noqa: E402
from audit.probes.target import Target  # noqa: E402
from audit.run.pool import Workers  # noqa: E402

CONTROLS = ROOT / "kernels" / "controls_caches"
WHOLE = ("by_version_bad", "by_hash_good")
AUDIT_S, PROBES_AT_ONCE, RATIO = 100.0, 4, 20.0
BASELINES = ("eager", "graph_eager")
LADDER = "ladder"


def main() -> None:
    """Asks, prints a table and, with `--out`, writes the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", type=Path, action="append", default=[], help="a claim folder to audit whole")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    started = time.monotonic()
    card = gpu.find().name
    with tempfile.TemporaryDirectory(prefix="audit-bench-") as scratch:
        rows = controls(Path(scratch))
        made = [claimed(name, card, Path(scratch)) for name in WHOLE]
        audits = [audited(folder, Path(scratch)) for folder in [*asked.case, *made]]
    numbers = {"gpu": card, "audits": audits, "controls": rows, "seconds": round(time.monotonic() - started, 1)}
    if asked.out:
        asked.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    show(numbers)


def claimed(name: str, card: str, scratch: Path) -> Path:
    """A claim folder in which that control is the claimed kernel, said to be 20 times as fast on this GPU."""
    folder = Path(shutil.copytree(CONTROLS, scratch / name))
    text = (folder / "claim.toml").read_text(encoding="utf-8")
    head = re.split(r"(?m)^(?=\[\[variant\]\])", text)[0]
    known = sorted(names_in(card) & set(table())) or [card]
    speedup = f'[[speedup]]\ngpu = "{known[0]}"\nratio = {RATIO}\n\n'
    variant = f'[[variant]]\nfile = "{name}.py"\nrole = "claimed"\ntechnique = "torch operators, declared"\n'
    head = head.replace('name = "controls_caches"', f'name = "{name}"')
    (folder / "claim.toml").write_text(head + speedup + variant, encoding="utf-8")
    return folder


def audited(folder: Path, scratch: Path) -> dict[str, Any]:
    """One audit, read off its record."""
    out = scratch / f"{folder.name}-report"
    command = [sys.executable, "-m", "audit", "run", str(folder), "--device", "cuda", "--out", str(out)]
    started = time.monotonic()
    try:
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=AUDIT_S, check=False)
        said = ended.stderr[-2000:] if ended.returncode else ""
    except subprocess.TimeoutExpired:
        said = f"not over within {AUDIT_S:g} s"
    values: dict[str, Any] = {"claim": folder.name, "seconds": round(time.monotonic() - started, 1), "said": said}
    if (out / store.RECORD).is_file():
        record = store.read(out / store.RECORD)
        name = next(one.name for one in record.claim.statement.variant if one.role == "claimed")
        values["verdict"] = record.verdict.name
        values["reasons"] = [reason[:300] for reason in (*record.verdict.reasons, *record.verdict.missing)]
        values["caught_by"] = [one.probe for one in record.findings if one.target == name and one.fails_kernel]
        values["not_passed"] = {one.probe: f"{one.outcome}: {one.summary[:200]}" for one in record.findings
                              if one.target == name and one.outcome not in ("pass", "skip")}  # fmt: skip
        ratio = measure.compared(record.measurements, name, "baseline:eager")
        values["ratio"] = ratio.sentence() if ratio else None
    return values


def controls(scratch: Path) -> list[dict[str, Any]]:
    """Every control: its own probe's answer, and what a timing session says of it."""
    folder = claims.load(str(CONTROLS))
    device = choose("cuda", folder.claim)
    device.prepare()
    place = scratch / "controls"
    place.mkdir()
    with Workers(PROBES_AT_ONCE + 2) as workers:
        device_run = DeviceRun(folder, device, workers=workers, scratch=place, keep=lambda _: None)
        device_run.make_cases(entropy=time.time_ns() % 2**40)
        device_run.vary()
        first = device.levels.first
        builds = {variant.name: device_run.build(variant, first).built for variant in folder.claim.variant}
        built = {name: one for name, one in builds.items() if one is not None}
        with ThreadPoolExecutor(PROBES_AT_ONCE) as threads:
            probed = dict(
                threads.map(
                    lambda one: (one.name, _probed(device_run.target(one, built[one.name]))), folder.claim.variant
                )
            )
        session = measure.Session(
            claim=folder.claim,
            reference=folder.reference,
            case=device_run.case_of(folder.claim.shapes.claimed),
            workers=workers,
            say=lambda text: print(text, flush=True),
            ready=compiled.Ready(()),
        )
        session.rotate()
        session.interleaved(LADDER, built, baselines=BASELINES)
        times = session.taken()
    return [_row(variant.name, variant.role, probed[variant.name], times) for variant in folder.claim.variant]


def _probed(target: Target) -> Finding:
    return ask(target.variant.probe or "fresh_values", target)


def _row(name: str, role: str, probed: Finding, times: measure.Times) -> dict[str, Any]:
    about = {one.probe: one for one in times.findings if one.target == name}
    ratio = measure.compared(times.measurements, name, "baseline:eager")
    timed, kept = about.get("timed_outputs"), about.get("kept_by_content")
    return {
        "control": name,
        "role": role,
        "probe": probed.probe,
        "answer": f"{probed.outcome} {probed.grade or ''}".strip(),
        "summary": probed.summary[:300],
        "ratio": round(ratio.ratio.value, 2) if ratio else None,
        "timed": f"{timed.outcome} {timed.grade or ''}".strip() if timed else None,
        "told": timed.summary[:300] if timed else None,
        "every_call": timed.evidence.get("every_call") if timed else None,
        "contents": timed.evidence.get("contents") if timed else None,
        "kept_by_content": kept.summary[:300] if kept else None,
    }


def show(numbers: dict[str, Any]) -> None:
    """The table, last."""
    for row in numbers["controls"]:
        if row["summary"] and row["answer"] != "pass":
            print(f"{row['control']}: {row['summary']}")
        print(f"{row['control']}: timed: {row['told']}")
    print(f"\n{'control':28} {'its probe':34} {'timed outputs':14} {'wrong/calls':12} {'ratio':>7}  kept by content")
    for row in numbers["controls"]:
        every = row["every_call"] or {"wrong": "?", "calls": "?"}
        probe, counted = f"{row['probe']}: {row['answer']}", f"{every['wrong']}/{every['calls']}"
        kept = "yes" if row["kept_by_content"] else "no"
        print(f"{row['control']:28} {probe:34} {row['timed'] or '-':14} {counted:12} {row['ratio'] or 0:7.2f}  {kept}")
    for one in numbers["audits"]:
        print(f"audit of {one['claim']}: {one.get('verdict')} in {one['seconds']} s, ratio {one.get('ratio')}, "
              f"caught by {', '.join(one.get('caught_by', [])) or 'nothing'}; {'; '.join(one.get('reasons', []))[:300]} {one['said']}")  # fmt: skip  # noqa: E501
    print(f"{numbers['gpu']}: {numbers['seconds']} s")


if __name__ == "__main__":
    main()
