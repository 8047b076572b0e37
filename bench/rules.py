"""On how many right kernels of published sets each rule of source review hints: a rule that often does tells nothing.

    python bench/rules.py NAME=PATH[@COMMIT] ... [--archive FOLDER]

A PATH is a file, or a folder whose `.cu` files with a kernel and `.py` files with a Triton kernel or a CUDA text are
read. `--archive` is the folder of the AI CUDA Engineer archive's kernels; those are read that
`reports/datasets/ai_cuda_engineer/verdicts.csv` lists as `no defect found`. Prints each rule that hints on more than
MOST_SHARE of a set and writes `bench/results/rules.json`. Advice, which speaks of right kernels too, is counted apart.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measured import ROOT, keep

from audit.review import hints, rules

MOST_SHARE = 0.02
VERDICTS = ROOT / "reports" / "datasets" / "ai_cuda_engineer" / "verdicts.csv"
LARGEST = 400_000
"""Bytes of a file; larger ones are tables."""
_CUDA, _TRITON = re.compile(r"__global__"), re.compile(r"@(?:triton\.)?jit\b|__global__")
_TEST = re.compile(r"(?:^|[/_])(?:tests?|benchmarks?|examples?|docs?|setup|conftest)(?:[/_.]|$)")


def of_a_set(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file with a kernel; tests and benchmarks are none."""
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        kind = {".cu": _CUDA, ".cuh": _CUDA, ".py": _TRITON}.get(file.suffix)
        name = str(file.relative_to(path)) if path != file else file.name
        if kind is None or not file.is_file() or _TEST.search(name) or file.stat().st_size > LARGEST:
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        if kind.search(text):
            yield name, text


def of_the_archive(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the archive's kernels in which the audits found no defect."""
    with VERDICTS.open(encoding="utf-8", newline="") as file:
        right = [row["id"] for row in csv.DictReader(file) if row["verdict"] == "no defect found"]
    for number in right:
        yield f"{number}.cu", (folder / f"{number}.cu").read_text(encoding="utf-8", errors="replace")


def counted(files: Iterator[tuple[str, str]]) -> dict[str, Any]:
    """Return the number of files, their digest, and for each rule the files on which it speaks."""
    found: dict[str, list[str]] = {}
    read, unread, digest = 0, Counter[str](), hashlib.sha256()
    for name, text in files:
        try:
            spoken = hints.of_python(text) if name.endswith(".py") else hints.of_cuda(text)
        except SyntaxError:
            unread["not Python"] += 1
            continue
        read += 1
        digest.update(f"{name}\0{text}\0".encode())
        for rule in {hint.rule.name for hint in spoken}:
            found.setdefault(rule, []).append(name)
    return {"files": read, "unread": dict(unread), "sha256": digest.hexdigest(), "found": found}


def summed(one: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of a set: hints and advice by rule, most frequent first."""
    order = sorted(one["found"], key=lambda name: -len(one["found"][name]))
    by = {name: len(one["found"][name]) for name in order}
    kept = {key: value for key, value in one.items() if key != "found"}
    of = {kind: {name: by[name] for name in order if rules.RULES[name].standing == kind} for kind in ("hint", "advice")}
    return {**kept, "hints": of["hint"], "advice": of["advice"]}


def main() -> None:
    """Count, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="NAME=PATH[@COMMIT]")
    parser.add_argument("--archive", type=Path)
    parser.add_argument("--files", action="store_true", help="also print the files of each rule over the bound")
    options = parser.parse_args()
    sets: dict[str, Any] = {}
    if options.archive:
        sets["AI CUDA Engineer archive, no defect found"] = counted(of_the_archive(options.archive))
    for given in options.sets:
        name, _, place = given.partition("=")
        path, _, commit = place.partition("@")
        sets[name] = {"commit": commit, **counted(of_a_set(Path(path)))}
    for name, one in sets.items():
        print(f"{name}: {one['files']} files")
        for rule, files in sorted(one["found"].items(), key=lambda pair: -len(pair[1])):
            share, kind = len(files) / max(1, one["files"]), rules.RULES[rule].standing
            if kind == "hint" and share > MOST_SHARE:
                print(f"  {rule}: {len(files)} ({share:.1%})" + (f": {' '.join(files[:12])}" if options.files else ""))
    keep("rules", {"most_share": MOST_SHARE, "sets": {name: summed(one) for name, one in sets.items()}})


if __name__ == "__main__":
    main()
