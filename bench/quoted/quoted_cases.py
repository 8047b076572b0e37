"""Import the kernels of sets that are often quoted, and order them for one visit to a GPU.

    python bench/quoted/quoted_cases.py CHECKOUTS OUT

CHECKOUTS holds good-kernels, K-Search, reference-kernels, robust-kbench and CUDA-L2 under these names. Writes a claim
folder a case to OUT, `cases.jsonl` there for `bench/audits.py`, and `cases.csv` of each set under `reports/datasets/`:
names, SHA-256, published ratios, and why a case cannot be asked. Of CUDA-L2's H100 kernels SAMPLE are drawn within
strata, of the work of the product and of the ratio over the strongest published baseline, in an order of which every
beginning has all strata.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.cuda_l2 import COLUMN
from audit.claims.importers.facts import Given, Imported
from audit.model.errors import BadInput

ROOT = Path(__file__).resolve().parents[2] / "reports" / "datasets"
CASES, READ = "cases.csv", "cases.jsonl"
STANFORD = {"matmulfp32": 1.013, "conv2d": 1.799, "conv2d_relu_maxpool": 2.901, "softmax": 1.118, "layernorm": 4.844,
            "layernorm2": None}  # fmt: skip
"""Ratios over torch in fp32 on an L40S, as the set's page of 2025-05-28 states them."""
_TESTS = ({"seqlen": 32, "bs": 1, "dim": 128, "hiddendim": 128}, {"seqlen": 64, "bs": 2, "dim": 256, "hiddendim": 128})
TRIMUL: dict[str, Any] = {
    "claimed": {"seqlen": 512, "bs": 1, "dim": 128, "hiddendim": 128},
    "others": _TESTS,
    "emulated": _TESTS,
}
"""A benchmark of the task and two of its tests; larger ones take gigabytes in float64."""
FRESH = """

def audited_entry(*data):
    \"\"\"Hands the inputs on as one tuple, with dicts of this call alone: what a call leaves in them is lost.\"\"\"
    return custom_kernel(tuple(dict(one) if isinstance(one, dict) else one for one in data))
"""
BASELINES = ("torch.matmul", "cuBLAS-max", "cuBLASLt-heuristic-max", "cuBLASLt-auto-tuning-max")
SAMPLE, SEED, LEAST = 100, 20261127, 8
"""Kernels of CUDA-L2 in all, and at least in each stratum."""
WORK, RATIOS, MOST_ELEMENTS = (2.0**32, 2.0**37), (1.0, 1.15), 210_000_000
"""Bounds of the strata (operations, ratio); products with more elements in a, b and c are left out."""
_TEMPLATES = {
    "CUTLASS CollectiveBuilder": r"\bCollectiveBuilder\b",
    "CuTe": r"\bcute::|using namespace cute|include\s*[<\"]cute/",
    "CUTLASS": r"\bcutlass::|include\s*[<\"]cutlass/",
    "mma.sync or wmma": r"\bwmma::|mma\.sync",
    "wgmma": r"\bwgmma\b",
}


@dataclass(frozen=True)
class Case:
    """One kernel: its set, the files to import, and what its row of the table says beside.

    `gib` is about the GPU memory of an audit; `fresh` gives each call dicts of its own.
    """

    of: str
    name: str
    files: tuple[Path, ...]
    given: Given = field(default_factory=Given)
    gib: float = 6.0
    fresh: bool = False
    row: dict[str, object] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The name of its claim."""
        return f"{self.of}_{self.name}"

    @property
    def line(self) -> str:
        """The case as `bench/audits.py` takes it; sources that the fast build cannot take are built as published."""
        build, more = "both" if self.of == "robust_kbench" else "published", {}
        if self.of == "cuda_l2_sample":
            more = {"baselines": ["eager", "cublas_tn", "cublaslt", "cublaslt_tn", "graph_eager"]}
        known = {"case": self.folder, "sources": [self.folder], "seed": SEED, "build": build, "limit_s": 230.0}
        return json.dumps(known | {"gib": round(self.gib, 1)} | more)


def stanford(root: Path) -> Iterator[Case]:
    """Yield the six pairs, those with a published ratio first."""
    folders = {path.parent.name.lower(): path.parent for path in root.glob("good-kernels/*/ref.py")}
    for name, ratio in STANFORD.items():
        files = (folders[name] / "ref.py", folders[name] / "src.py")
        given = Given(claimed=(("L40S", ratio),)) if ratio else Given()
        yield Case("stanford", name, files, given, 18.0 if name == "softmax" else 6.0, row={"published": ratio or ""})


def trimul(root: Path) -> Iterator[Case]:
    """Yield each rival twice: called as the leaderboard calls it, and with dicts that no call has left anything in."""
    task = root / "reference-kernels/problems/bioml/trimul"
    beside = tuple(task / name for name in ("task.yml", "reference.py", "task.py", "utils.py"))
    for path in sorted(root.glob("K-Search/results/gpumode_trimul/*.py")):
        for fresh in (False, True):
            name = f"{path.stem.lower()}_{'fresh' if fresh else 'kept'}"
            yield Case("trimul", name, (path, *beside), Given(claimed=(("H100", None),)), 12.0, fresh)


def robust_kbench(root: Path) -> Iterator[Case]:
    """Yield the highlighted kernels in the order of their published ratios."""
    base = root / "robust-kbench"
    csv.field_size_limit(1 << 24)
    with (base / "highlighted/results.csv").open(newline="", encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: -float(row["Speedup"]))
    for row in rows:
        way, task = "forward" if row["forward"] == "True" else "backward", row["task_name"]
        files = (base / "highlighted" / task / way / "kernel.cu", base / "tasks" / task / f"func_{way}.py",
                 base / "tasks" / task / f"config_{way}.json")  # fmt: skip
        ratio, over_compile = float(row["Speedup"]), float(row["Speedup Compile"])
        said: dict[str, object] = {"published": round(ratio, 3), "published_compile": round(over_compile, 3)}
        yield Case("robust_kbench", f"{task}_{way}", files, Given(claimed=(("H100", ratio),)), row=said)


def cuda_l2_sample(root: Path) -> Iterator[Case]:
    """Yield the sample, a kernel of each stratum in turn."""
    figures = root / "CUDA-L2/eval_results/cuda_l2_h100_F32F16F16F32_speedup_offline.csv"
    with figures.open(newline="", encoding="utf-8") as file:
        rows = {row[COLUMN]: row for row in csv.DictReader(file)}
    strata: dict[str, list[str]] = {}
    for name, row in sorted(rows.items()):
        if _elements(name) <= MOST_ELEMENTS:
            strata.setdefault(_stratum(name, row), []).append(name)
    for names in strata.values():
        random.Random(SEED).shuffle(names)
    share = SAMPLE / sum(map(len, strata.values()))
    parts = [names[: max(LEAST, round(len(names) * share))] for names in strata.values()]
    for name in [one for wave in zip_longest(*parts) for one in wave if one][:SAMPLE]:
        path = root / f"CUDA-L2/kernels/h100_F32F16F16F32/{name}.cu"
        of = _stratum(name, rows[name])
        row = {"stratum": of, "of_stratum": len(strata[of]), "published": _strongest(rows[name]),
               "published_matmul": rows[name][BASELINES[0]]}  # fmt: skip
        yield Case("cuda_l2_sample", name, (path, figures), gib=2.0 + _elements(name) * 40 / 2**30, row=row)


def _strongest(row: dict[str, str]) -> float:
    return min(float(row[name]) for name in BASELINES)


def _stratum(name: str, row: dict[str, str]) -> str:
    m, n, k = map(int, name.split("_"))
    size = ("small", "middle", "large")[sum(2.0 * m * n * k >= bound for bound in WORK)]
    return f"{size}, {('slower', 'up to 1.15', 'over 1.15')[sum(_strongest(row) > bound for bound in RATIOS)]}"


def _elements(name: str) -> int:
    m, n, k = map(int, name.split("_"))
    return m * k + k * n + m * n


def put(case: Case, out: Path) -> dict[str, object]:
    """Write the claim folder of a case; return its row of the table."""
    source = case.files[1] if case.of == "stanford" else case.files[0]
    data = source.read_bytes()
    row = {"case": case.name, "sha256": hashlib.sha256(data).hexdigest(), "templates": _templates(data.decode()),
           **case.row, "refused": ""}  # fmt: skip
    try:
        imported = importers.read(_files(case, out), given=case.given)
        if not imported.auditable:
            missing = "; ".join(one.key for one in imported.missing if one.essential)
            return row | {"refused": f"missing: {missing or 'a shape'}"}
        writer.write(_changed(imported, case), out / case.folder)
    except BadInput as error:
        row["refused"] = str(error)[:200]
    return row


def _files(case: Case, out: Path) -> list[Path]:
    """Return the files to import; a submission of another name stands beside the others as `submission.py`."""
    if case.of != "trimul":
        return [*case.files]
    folder = out / ".submissions" / case.name
    folder.mkdir(parents=True, exist_ok=True)
    for path in case.files:
        shutil.copy(path, folder / ("submission.py" if path is case.files[0] else path.name))
    return [folder]


def _changed(imported: Imported, case: Case) -> Imported:
    """Return the claim at sizes that fit a visit, and with new dicts for each call where these are asked for."""
    if case.of != "trimul":
        return replace(imported, name=case.folder)
    assert imported.shapes is not None and imported.claimed is not None  # an auditable claim has both
    shapes, claimed = replace(imported.shapes, **TRIMUL), imported.claimed
    if case.fresh:
        data = claimed.data + FRESH.encode()
        claimed = replace(claimed, data=data, added="a function that hands the inputs on as one tuple, in new dicts")
    return replace(imported, name=case.folder, shapes=shapes, claimed=claimed)


def _templates(text: str) -> str:
    return ", ".join(name for name, pattern in _TEMPLATES.items() if re.search(pattern, text))


def main() -> None:
    """Import all cases, and write the order and the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    shutil.rmtree(given.out, ignore_errors=True)
    given.out.mkdir(parents=True)
    order = []
    for of in (stanford, trimul, robust_kbench, cuda_l2_sample):
        cases = [*of(given.checkouts)]
        rows = [put(case, given.out) for case in cases]
        order += [case.line for case, row in zip(cases, rows, strict=True) if not row["refused"]]
        folder = ROOT / of.__name__
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / CASES).open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
        refused = [f"{row['case']}: {row['refused']}" for row in rows if row["refused"]]
        print(of.__name__, len(cases), *refused, sep="\n  ")
    shutil.rmtree(given.out / ".submissions", ignore_errors=True)
    (given.out / READ).write_text("\n".join(order) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
