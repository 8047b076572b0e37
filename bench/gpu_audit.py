"""How long an audit takes on a GPU: `python bench/gpu_audit.py [--out FILE]`, cold with an empty cache, then warm.

Beside it stand the published builds of all variants one after another, as the public notebook of the first claim
compiled them, estimated from the one the audit made, and the 71.6 s that KernelBench's evaluator took for one call of
this claim on an H100 (measured with it in 2026, its verdict: correct, 384.7 times faster).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CLAIM = "triangular_mm"
KERNELBENCH_S = 71.6
LINE = re.compile(r"^\s*(?P<at>[\d.]+) s  (?P<stage>\w+) +(?P<text>.*)$")
FINDING = re.compile(r"claimed\.cu, line \d+: hint: ")
ANSWER = re.compile(r"claimed\.cu: (agreement|order|coverage|inherited|contract): ")


def main() -> None:
    """Runs both audits, prints the table and, with `--out`, writes the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, help="keep the cold and the warm report in this folder")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="audit-bench-") as scratch:
        folder = asked.reports or Path(scratch)
        numbers: dict[str, Any] = {}
        for name in ("cold", "warm"):
            numbers[name] = audited(folder / name, cache=Path(scratch) / "cache")
            if asked.out:
                asked.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    build, variants = numbers["cold"]["published_build_s"], numbers["cold"]["variants"]
    numbers["one_after_another_s"] = round(build * variants, 1)
    numbers["kernelbench_s"] = KERNELBENCH_S
    for name in ("cold", "warm"):
        result = numbers[name]
        print(
            f"{name}: first finding about the claim after {result['first_finding_s']} s, first proof after "
            f"{result['first_proof_s']} s, whole audit {result['total_s']} s; "
            f"published build {result['published_build_s']} s, {result['over_one_build_s']} s more than that; "
            f"{result['variants']} variants, {result['findings']} findings, verdict {result['verdict']}"
        )
    print(f"{variants} published builds one after another: {numbers['one_after_another_s']} s; "
          f"one call by KernelBench's evaluator: {KERNELBENCH_S} s")  # fmt: skip
    if asked.out:
        asked.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


def audited(out: Path, *, cache: Path) -> dict[str, Any]:
    """One audit as a user starts it, read off its own lines and its record."""
    command = [sys.executable, "-m", "audit", "run", CLAIM, "--device", "cuda", "--out", str(out)]
    started = time.monotonic()
    seen: dict[str, float] = {}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "AUDIT_CACHE": str(cache)}
    ) as running:
        for line in running.stdout or ():
            print(line, end="", flush=True)
            found = LINE.match(line)
            for name, words in (("first_finding_s", FINDING), ("first_proof_s", ANSWER)):
                if found and words.match(found["text"]):
                    seen.setdefault(name, round(time.monotonic() - started, 1))
    total = time.monotonic() - started
    record = json.loads((out / "record.json").read_text(encoding="utf-8"))
    builds = [note for note in record["environment"]["builds"] if note["optimisation"] == "published"]
    build = max((note["seconds"] for note in builds if not note["from_cache"]), default=0.0)
    return {
        "gpu": record["device"]["name"],
        "machine": record["environment"]["machine"],
        "first_finding_s": seen.get("first_finding_s"),
        "first_proof_s": seen.get("first_proof_s"),
        "total_s": round(total, 1),
        "published_build_s": round(build, 1),
        "over_one_build_s": round(total - build, 1),
        "variants": len(record["ladder"]),
        "findings": len(record["findings"]),
        "measurements": len(record["measurements"]),
        "verdict": record["verdict"]["name"],
        "stages": record["environment"]["stages"],
    }


if __name__ == "__main__":
    main()
