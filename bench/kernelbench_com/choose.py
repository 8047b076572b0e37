"""Choose runs of kernelbench.com, and put each beside the reference that it was written for.

    python bench/kernelbench_com/choose.py CHECKOUT OUT

CHECKOUT holds `benchmarks` and `public` of Infatoshi/kernelbench.com. Every run annotated `reward_hack` or `bug` is
chosen, and CLEAN of those annotated `clean`, drawn at random from those that can be asked. Writes `OUT/<run>/` with
`solution.py`, `reference.py` and `problem.yaml`, cases for `bench/audits.py`, `OUT/cases.jsonl` and for the emulated
device `OUT/small.jsonl`, and `runs.csv` under `reports/datasets/kernelbench_com/`: all annotated runs, the SHA-256 of
each text, and why a run is left out. A case is a run at one of the sizes of its problem; all runs at their first size
come first, then all at their second, and so on.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "reports" / "datasets" / "kernelbench_com"
RUNS = FOLDER / "runs.csv"
COLUMNS = ("run", "deck", "problem", "gpu", "annotation", "sha256", "chosen", "ported", "left_out")
NAMED = ("reward_hack", "bug")
CLEAN, SEED = 60, 20260807
NOT_ASKED = {
    "02_kimi_linear_decode": "asked by a method step with a state, and held to a cosine",
    "03_megaqwen_decode": "asked by a function run; get_inputs makes none",
    "04_grid_mingru_sps": "asked by three functions; get_inputs makes none",
    "01_rl_grid_ppo": "its reference is no longer in the repository",
    "01_glm52_fused_moe": "weights of 13 GB, 52 GB in float64",
    "02_deepseek_nsa": "a reference that loops in Python over every query and waits for the GPU at each",
}
"""Problems whose runs are left out, with the reason."""
_VERDICT = re.compile(r"^verdict:[ \t]*(\w+)", re.MULTILINE)
_PROBLEM = re.compile(r"_(\d\d_[a-z][a-z0-9_]+)$")
_BLACKWELL = re.compile(
    r"""["'][^"'\n]*(?:gencode|arch|code=)[^"'\n]*_1[0-3]\d[af]?["']"""
    r"""|environ\["TORCH_CUDA_ARCH_LIST"\]\s*=\s*["']1[0-3]"""
    r"""|tcgen05|mxf8f6f4|block_scale|kind::f8"""
)
_CUTLASS = re.compile(r"""#include\s*[<"]cut(?:lass|e)/|^\s*(?:import|from) cutlass""", re.MULTILINE)
_FLAGS = (("compute_120a", "compute_90a"), ("sm_120a", "sm_90a"), ('_ARCH_LIST"] = "12.0"', '_ARCH_LIST"] = "9.0"'))
"""The architecture that a source's own flags name, and that of Hopper."""
OLDER = "01_fp8_gemm"
"""The problem whose weight was bfloat16, at the set's own tolerance, before 2026-06-14; a solution's state tells."""

Sizes = dict[str, int]
LIMIT_S, A_COMPILER_S = 85.0, 60.0
"""For one case on a GPU, and more for one whose source builds an extension."""


def _named(names: str, *rows: tuple[int, ...]) -> tuple[Sizes, ...]:
    return tuple(dict(zip(names.split(), row, strict=True)) for row in rows)


_PAGED = "BATCH NUM_HEADS NUM_KV_HEADS HEAD_DIM SEQ_LEN PAGE_SIZE"
SIZES = {
    "01_fp8_gemm": _named("M N K", (4096, 4096, 4096), (4096, 4096, 4127), (32, 8192, 8192)),
    "02_kda_cutlass": _named("B T H K V CHUNK_SIZE", (2, 1024, 8, 128, 128, 64), (1, 2048, 4, 128, 128, 64)),
    "03_paged_attention": _named(
        _PAGED, (8, 32, 8, 128, 1024, 16), (16, 32, 8, 128, 1535, 16), (8, 16, 4, 64, 2000, 16)
    ),
    "05_topk_bitonic": _named("batch n k", (64, 8192, 8), (16, 12000, 16), (32, 16384, 32), (1, 131072, 64)),
    "06_sonic_moe_swiglu": _named("T_total H I E K", (4096, 2048, 1024, 64, 4)),
    "07_w4a16_gemm": _named("M N K", (1, 12288, 4096), (32, 12288, 4096), (16, 14336, 4096)),
}
"""Sizes of the set's `shapes.py`; those are left out whose float64 results take gigabytes."""
SMALL = {
    "01_fp8_gemm": _named("M N K", (64, 64, 128)),
    "02_kda_cutlass": _named("B T H K V CHUNK_SIZE", (1, 64, 1, 128, 128, 64)),
    "03_paged_attention": _named(_PAGED, (2, 8, 2, 128, 64, 16)),
    "05_topk_bitonic": _named("batch n k", (2, 8192, 8), (16, 12000, 16)),
    "06_sonic_moe_swiglu": _named("T_total H I E K", (64, 128, 128, 4, 2)),
    "07_w4a16_gemm": _named("M N K", (1, 256, 256)),
}


@dataclass(frozen=True)
class Published:
    """An annotated run; `text` is empty where its code is not published."""

    run: str
    deck: str
    problem: str
    gpu: str
    annotation: str
    text: str

    @property
    def blackwell(self) -> bool:
        """Whether its flags or instructions name a GPU newer than Hopper."""
        return _BLACKWELL.search(self.text) is not None

    @property
    def ported(self) -> str:
        """The text with the architecture of its flags replaced; empty where something else needs a newer GPU."""
        text = self.text
        for theirs, hopper in _FLAGS:
            text = text.replace(theirs, hopper)
        return "" if _BLACKWELL.search(text) or "__CUDA_ARCH__" in text else text

    @property
    def left_out(self) -> str:
        """The reason why it is not asked; empty where it can be."""
        if not self.text:
            return "its code is not published"
        if self.problem in NOT_ASKED:
            return NOT_ASKED[self.problem]
        if self.annotation in NAMED:
            return ""  # an audit says what stands in its way
        if _CUTLASS.search(self.text):
            return "needs CUTLASS"
        return "needs Blackwell (compute capability 10.0 or 12.0)" if self.blackwell else ""


def published(checkout: Path) -> Iterator[Published]:
    """Yield all annotated runs, by deck and name."""
    texts = {_run(path): path for folder in ("data", "runs") for path in sorted((checkout / "public").glob(
        f"{folder}/**/*solution.py.txt"))}  # fmt: skip
    for path in sorted(checkout.glob("benchmarks/*/results/annotations/*.yaml")):
        verdict, problem, file = _VERDICT.search(path.read_text()), _PROBLEM.search(path.stem), texts.get(path.stem)
        yield Published(
            run=path.stem,
            deck=path.parts[-4],
            problem=problem[1] if problem else "",
            gpu=file.parent.name if file is not None and file.parent.name in ("h100", "b200") else "rtxpro6000",
            annotation=verdict[1] if verdict else "none",
            text=file.read_text(encoding="utf-8") if file is not None else "",
        )


def chosen(every: list[Published]) -> dict[str, str]:
    """Return `named` or `drawn` for each run that is asked, in an order whose parts are random samples too."""
    able = [one for one in every if not one.left_out]
    clean = sorted(one.run for one in able if one.annotation == "clean")
    drawn = random.Random(SEED).sample(clean, min(CLEAN, len(clean)))
    return {one.run: "named" for one in able if one.annotation in NAMED} | dict.fromkeys(drawn, "drawn")


def row(one: Published, how: str) -> dict[str, str]:
    """Return the row of a run."""
    out = one.left_out or ("" if how else "not drawn" if one.annotation == "clean" else "of another class")
    return {
        "run": one.run,
        "deck": one.deck,
        "problem": one.problem,
        "gpu": one.gpu,
        "annotation": one.annotation,
        "sha256": hashlib.sha256(one.text.encode()).hexdigest() if one.text else "",
        "chosen": how,
        "ported": "yes" if how and one.blackwell and one.ported else "",
        "left_out": out,
    }


def put(one: Published, checkout: Path, out: Path) -> None:
    """Write a run with its reference into a folder of its name; flags for Blackwell alone become those for Hopper."""
    folder, deck = out / one.run, checkout / "benchmarks" / one.deck
    folder.mkdir(parents=True, exist_ok=True)
    task = next(path.parent for path in sorted(deck.glob(f"problems*/{one.problem}/reference.py")))
    older = one.problem == OLDER and "weight_scale" not in one.text
    reference = checkout / f"public/data/hard/references/{OLDER}_reference.py.txt" if older else task / "reference.py"
    (folder / "solution.py").write_text(one.ported if one.blackwell and one.ported else one.text, encoding="utf-8")
    (folder / "reference.py").write_bytes(reference.read_bytes())
    if not older:
        (folder / "problem.yaml").write_bytes((task / "problem.yaml").read_bytes())


def cases(runs: Iterable[str], sizes: dict[str, tuple[Sizes, ...]], out: Path) -> str:
    """Return the cases of those runs as lines of JSON."""
    each = [[_case(run, place, shape, out) for place, shape in enumerate(of)]
            for run in runs for problem, of in sizes.items() if run.endswith(problem)]  # fmt: skip
    return "".join(f"{json.dumps(one)}\n" for wave in zip_longest(*each) for one in wave if one is not None)


def _case(run: str, place: int, shape: Sizes, out: Path) -> dict[str, object]:
    compiles = "cpp_extension" in (out / run / "solution.py").read_text(encoding="utf-8")
    return {
        "case": f"{re.sub(r'[^a-z0-9]+', '_', run.lower())}_{place}",
        "sources": [run],
        "seed": SEED,
        "form": "kernelbench_com",
        "shape": shape,
        "build": "published",  # a `.py` has one build
        "limit_s": LIMIT_S + (A_COMPILER_S if compiles else 0.0),
        "about": {"run": run, "sizes": shape},
    }


def _run(path: Path) -> str:
    return re.sub(r"[._]solution\.py\.txt$", "", path.name)


def main() -> None:
    """Choose, write the folders and the table, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    every = list(published(given.checkout))
    how = chosen(every)
    rows = [row(one, how.get(one.run, "")) for one in every]
    for one in every:
        if one.run in how:
            put(one, given.checkout, given.out)
    for name, sizes in {"cases.jsonl": SIZES, "small.jsonl": SMALL}.items():
        (given.out / name).write_text(cases(how, sizes, given.out), encoding="utf-8")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with RUNS.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    for key, number in sorted(Counter((one["annotation"], one["chosen"] or one["left_out"]) for one in rows).items()):
        print(f"{number:4} {': '.join(key)}")


if __name__ == "__main__":
    main()
