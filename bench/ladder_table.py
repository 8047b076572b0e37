"""The ladder of triangular_mm as tables: its steps, what their headers predict, what was measured, how near that is to
the peak. `python bench/ladder_table.py` writes the tables of `kernels/triangular_mm/README.md` from `bench/results`."""

from __future__ import annotations

import functools
import json
import re
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from audit import claims
from audit.model import gpus
from audit.run.sessions.oracle import load_reference

ROOT = Path(__file__).resolve().parents[1]
CLAIM = ROOT / "kernels/triangular_mm"
README = CLAIM / "README.md"
RESULTS = ROOT / "bench/results"
CARDS = {"H100": "h100_ladder", "H200": "h200_ladder"}
"""The result file of each GPU."""
GPUS = ("T4", "L4", "A100", "H100", "H200")
"""GPUs that have a column in the table of do_bench, whoever measured."""
NOT_MEASURED = "NOT MEASURED"
PRODUCTS = {"wmma_split": 3, "mma_split": 3, "wgmma_split": 3}
"""Products of fp16 parts for one product of float32."""
_KEY = re.compile(r" *(changed|launch|needs|the line|predicted|precision) +(.*)")
_STEP = re.compile(r"^\| `(\w+)`[^|\n]* \| (?:[^|\n]* \| ){2}([^|\n]*) \|$", re.MULTILINE)
_TABLE = re.compile(r"^\| \| H100, ms .*?\n(?=\n)", re.MULTILINE | re.DOTALL)
_STEPS = re.compile(r"^(\| `(\w+)`([^|\n]*) \| [^|\n]* \| )[^|\n]*(?= \| [^|\n]* \|$)", re.MULTILINE)
BEFORE = {
    "fixed_grid2d": "naive", "coalesced": "fixed_grid2d", "shared_tiled": "fixed_grid2d", "register_1d": "shared_tiled",
    "register_2d": "register_1d", "vector_loads": "register_2d", "double_buffered": "vector_loads",
    "triangle_scheduled": "double_buffered", "register_blocked": "shared_tiled", "register_async": "register_blocked",
    "wmma_f16": "register_blocked", "wmma_tf32": "register_blocked", "mma_tf32": "wmma_tf32", "wgmma_tf32": "mma_tf32",
    "wgmma_f16": "wmma_f16", "wmma_split": "register_blocked", "mma_f16": "wmma_f16", "mma_split": "wmma_split",
    "wgmma_split": "mma_split", "triton_fp32": "double_buffered", "triton_tf32": "triton_fp32",
    "triton_fp16": "triton_tf32",
}  # fmt: skip
"""The step that another one starts from."""
_DO_BENCH = re.compile(r"^\| do_bench, ms .*?\n(?=\n)", re.MULTILINE | re.DOTALL)


def steps() -> dict[str, dict[str, str]]:
    """The repairs and lessons in the order of the ladder, each with what its header says by the header's own words."""
    variants = claims.load(str(CLAIM), lessons=True).claim.variant
    return {one.name: header(CLAIM / one.file) for one in variants if one.role in ("repair", "lesson")}


def header(path: Path) -> dict[str, str]:
    """What the header of a variant says, by key."""
    text = path.read_text(encoding="utf-8")
    head = text.split('"""')[1] if path.suffix == ".py" else text.partition("\n\n")[0]
    said: dict[str, str] = {}
    key = "title"
    for line in re.sub("^//", "", head, flags=re.MULTILINE).splitlines():
        found = _KEY.fullmatch(line)
        key, words = found.groups() if found else (key, line.strip())
        said[key] = f"{said.get(key, '')} {words}".strip()
    return said


def predicted_ms(said: dict[str, str]) -> float | None:
    """The predicted time, the middle of a range; None where none was written down."""
    found = re.search(r"([\d.]+)(?: to ([\d.]+))? ms", said.get("predicted", ""))
    return statistics.mean(float(one) for one in found.groups() if one) if found else None


def of_peak(name: str, gpu: str, median_ms: float, side: int) -> float | None:
    """The share of the time at the peak rate of the unit that a way uses, useful products alone, in that time."""
    known = gpus.at_hand(gpu)
    rates = {"fp32": known.fp32_tflops, "tf32": known.tf32_tflops, "fp16": known.fp16_tflops} if known else {}
    rate = rates.get(_unit(name))
    return _useful_flops(side) * PRODUCTS.get(name, 1) / rate / 1e9 / median_ms if rate else None


@functools.cache
def _useful_flops(side: int) -> float:
    return float(load_reference(CLAIM / "reference.py").cost({"N": side})["flops"])


def _unit(name: str) -> str:
    """The unit by its precision: that of the tensor cores where the name tells one of theirs."""
    low = name in PRODUCTS or re.search(r"float16|fp16|bf16|_f16", name)
    return "fp16" if low else "tf32" if "tf32" in name else "fp32"


def ladder(numbers: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each step: predicted, measured in that run, the share of the peak, the lesson."""
    lessons = dict(_STEP.findall(README.read_text(encoding="utf-8")))
    rows = []
    for name, said in steps().items():
        ms = numbers["ways"].get(name, {}).get("median_ms")
        share = of_peak(name, numbers["machine"]["gpu"], ms, numbers["side"]) if ms else None
        told = said.get("predicted", "none was written down")
        row = {"step": name, "predicted": told, "predicted_ms": predicted_ms(said), "measured_ms": ms}
        rows.append({**row, "of_peak": share, "lesson": lessons.get(name, said["title"].partition(": ")[2])})
    return rows


def step_table(numbers: dict[str, Any]) -> str:
    """The same as Markdown."""
    lines = ["| step | predicted | measured, ms | of the peak | lesson |", "|---|---|---|---|---|"]
    for row in ladder(numbers):
        measured, share = row["measured_ms"], row["of_peak"]
        cells = (f"{measured:.3f}" if measured else NOT_MEASURED, f"{share:.0%}" if share else "-")
        lines.append(f"| `{row['step']}` | {row['predicted']} | {' | '.join(cells)} | {row['lesson']} |")
    return "\n".join(lines)


def table() -> str:
    """The table of the README: every way that was measured, and every step, on each of `CARDS`."""
    cards = {card: _read(name) for card, name in CARDS.items()}
    known = [name for numbers in cards.values() for name in numbers["ways"]]
    names = dict.fromkeys([*(name for name in known if name not in steps()), *steps()])
    head = " | ".join(f"{card}, ms | against `eager` | of the peak" for card in cards)
    lines = [f"| | {head} | error at N = 4096 |", "|---" * (2 + 3 * len(cards)) + "|"]
    for name in names:
        errors = [one["ways"][name]["relative_error"]["4096"] for one in cards.values() if name in one["ways"]]
        cells = " | ".join(cell for numbers in cards.values() for cell in _cells(name, numbers))
        lines.append(f"| `{name}` | {cells} | {f'{errors[-1]:.1e}' if errors else NOT_MEASURED} |")
    return "\n".join(lines) + "\n"


def do_bench_table(runs: Sequence[dict[str, Any]]) -> str:
    """The times of those runs by `triton.testing.do_bench` as Markdown, the fastest first, with a column for each of
    `GPUS` and for other GPUs of the runs."""
    times: dict[str, dict[str, dict[str, float]]] = {}
    for numbers in runs:
        name = numbers["machine"]["gpu"]
        here = next((one for one in re.findall(r"\w+", name) if one in GPUS), name)
        for way, row in numbers["ways"].items():
            if "do_bench_ms" in row:
                times.setdefault(way, {}).setdefault(here, row["do_bench_ms"])
    columns = dict.fromkeys([*GPUS, *(gpu for one in times.values() for gpu in one)])
    lines = [f"| do_bench, ms | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"]
    for way in sorted(times, key=lambda way: min(ms["median"] for ms in times[way].values())):
        cells = (_by_do_bench(times[way].get(gpu)) for gpu in columns)
        lines.append(f"| `{way}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _by_do_bench(ms: dict[str, float] | None) -> str:
    return f"{ms['median']:.4f} ({ms['p20']:.4f} to {ms['p80']:.4f})" if ms else NOT_MEASURED


def _read(name: str) -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return numbers


def _cells(name: str, numbers: dict[str, Any]) -> tuple[str, str, str]:
    if name not in numbers["ways"]:
        return NOT_MEASURED, NOT_MEASURED, NOT_MEASURED
    own, eager = (statistics.median(numbers["ways"][way]["samples_ms"]) for way in (name, "eager"))
    share = of_peak(name, numbers["machine"]["gpu"], own, numbers["side"])
    return f"{own:.4f}", f"{eager / own:.2f}x", f"{share:.0%}" if share else "no such unit"


def _step_ms(row: re.Match[str]) -> str:
    """A row of the steps with its time, behind that of the step it starts from; on an H200 where the row says so."""
    start, name, about = row.groups()
    ways = _read(CARDS["H200" if "H200" in about else "H100"])["ways"]
    ms = {one: f"{statistics.median(ways[one]['samples_ms']):.3f}" for one in (BEFORE.get(name), name) if one}
    before = "".join(f"{shown} (`{one}`) → " for one, shown in ms.items() if one != name)
    return f"{start}{before}{ms[name]} ms"


def written(text: str) -> str:
    """The README with the tables of today."""
    tables, steps_, rest = text.partition("## Step by step")
    steps_, words, rest = (steps_ + rest).partition("\nWords:")
    runs = [_read(name) for name in CARDS.values()]
    tables = _DO_BENCH.sub(lambda _: do_bench_table(runs), _TABLE.sub(lambda _: table(), tables))
    return tables + _STEPS.sub(_step_ms, steps_) + words + rest


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
