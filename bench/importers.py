"""How much of the published sets `audit import` makes ready for an audit, with nothing typed.

    python bench/importers.py FOLDER [SET...]

FOLDER holds the published repositories under their names; they stay outside this repository. Nothing of them is run.
Prints a table (set, sources, ready, refused by reason, slowest import) and writes the counts to
`bench/results/importers.json`.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given
from audit.model.errors import BadInput

RESULTS = Path(__file__).with_name("results") / "importers.json"
Source = tuple[list[Path], Given]
GPUS = ("3090", "a100", "h100", "h20", "l40")
LONGEST_REASON = 90


def popcorn(root: Path, scratch: Path) -> Iterator[Source]:  # noqa: ARG001
    """Yield a task of GPU MODE's with its first submission and the files that its `task.yml` names."""
    for stated in sorted(root.glob("reference-kernels/problems/*/*/task.yml")):
        folder = stated.parent
        named = re.findall(r'"source": "([^"@]+)"', stated.read_text(encoding="utf-8"))
        beside = [(folder / name).resolve() for name in named if name.endswith(".py")]
        submitted = [folder / "submission.py", *sorted(folder.glob("submission*.py"))]
        first = next(path for path in submitted if path.is_file())
        yield [first, stated, *(path for path in dict.fromkeys(beside) if path.is_file())], Given()


def cuda_l2(root: Path, scratch: Path) -> Iterator[Source]:  # noqa: ARG001
    """Yield every kernel of CUDA-L2 alone."""
    for path in sorted(root.glob("CUDA-L2/kernels/*/*.cu")):
        yield [path], Given()


def kernelbench_com(root: Path, scratch: Path) -> Iterator[Source]:
    """Yield every published solution, under its own file name, beside the files of its problem."""
    problems = {
        path.parent.name: path.parent
        for path in sorted(root.glob("kernelbench.com/benchmarks/*/problems*/*/reference.py"))
    }
    solutions = sorted(root.glob("kernelbench.com/public/**/*solution.py.txt"))
    for number, path in enumerate(solutions):
        problem = next((folder for name, folder in problems.items() if name in path.name), None)
        folder = scratch / f"solution_{number}"
        folder.mkdir()
        (folder / "solution.py").write_bytes(path.read_bytes())
        beside = [problem / name for name in ("reference.py", "shapes.py", "problem.yaml")] if problem else []
        yield [folder / "solution.py", *(one for one in beside if one.is_file())], Given()


def kernelagent(root: Path, scratch: Path) -> Iterator[Source]:  # noqa: ARG001
    """Yield the first and the last kernel of a problem, and those of every round."""
    for problem in sorted(root.glob("kernelagent*/*/problem.py")):
        for kernel in sorted(path for path in problem.parent.rglob("*.py") if path != problem):
            yield [problem, kernel], Given()


def hugging_face(root: Path, scratch: Path) -> Iterator[Source]:  # noqa: ARG001
    """Yield every folder of kernels-community with a benchmark script, and the classes of the package where it has
    those."""
    classes = sorted(root.glob("kernels/kernels/src/kernels/benchmarks/[a-z]*.py"))
    for path in sorted(root.glob("kernels-community/*/benchmarks/benchmark.py")):
        theirs = "from kernels.benchmarks import" in path.read_text(encoding="utf-8")
        yield [path.parent.parent, *(classes if theirs else [])], Given()


def robust_kbench(root: Path, scratch: Path) -> Iterator[Source]:  # noqa: ARG001
    """Yield every published kernel of robust-kbench with its task."""
    base = root / "robust-kbench"
    for path in sorted(base.glob("highlighted/*/*/kernel.cu")):
        task, kind = base / "tasks" / path.parts[-3], path.parts[-2]
        beside = [task / name for name in ("func_forward.py", f"config_{kind}.json", f"func_{kind}.py")]
        yield [path, *(one for one in dict.fromkeys(beside) if one.is_file())], Given()
    for path in sorted(base.glob("tasks/**/forward.cu")):
        yield [path.parent], Given()
    for path in sorted(base.glob("tasks/**/backward.cu")):
        yield [path, *(path.with_name(name) for name in ("func_backward.py", "config_backward.json"))], Given()


def stanford(root: Path, scratch: Path) -> Iterator[Source]:  # noqa: ARG001
    """Yield the six pairs of good-kernels."""
    for path in sorted(root.glob("good-kernels/*/ref.py")):
        yield [path, path.with_name("src.py")], Given()


def cuda_l1(root: Path, scratch: Path) -> Iterator[Source]:  # noqa: ARG001
    """Yield every fifth row of CUDA-L1's five files, since each import reads a whole file."""
    for gpu in GPUS:
        path = root / "CUDA-L1" / "optimized_cuda_code" / f"{gpu}.json"
        for row in range(1, 251, 5):
            yield [path], Given(row=row)


def kernelbench(root: Path, scratch: Path) -> Iterator[Source]:
    """Yield every task of levels 1 and 2, with itself as the solution: the set publishes no kernels."""
    for path in sorted(root.glob("KernelBench/KernelBench/level[12]/*.py")):
        folder = scratch / f"{path.parent.name}_{path.stem}"
        folder.mkdir()
        text = re.sub(r"\bModel\b", "ModelNew", path.read_text(encoding="utf-8"))
        (folder / "solution.py").write_text(text, encoding="utf-8")
        yield [path, folder / "solution.py"], Given()


SETS: dict[str, Callable[[Path, Path], Iterator[Source]]] = {
    "popcorn": popcorn,
    "cuda_l2": cuda_l2,
    "kernelbench_com": kernelbench_com,
    "kernelagent": kernelagent,
    "hugging_face": hugging_face,
    "robust_kbench": robust_kbench,
    "stanford": stanford,
    "cuda_l1": cuda_l1,
    "kernelbench": kernelbench,
}


def outcome(source: Source, folder: Path) -> str:
    """Return "ready", or why not: the missing keys, or the refusal without its file and numbers."""
    paths, given = source
    try:
        imported = importers.read(paths, given=given)
        writer.write(imported, folder)
    except BadInput as error:
        result = str(error)
        for path in sorted({*paths, *(path.parent for path in paths)}, key=lambda path: -len(str(path))):
            result = result.replace(str(path), "").replace(path.name, "FILE")
        result = re.sub(r"\d+", "N", result).lstrip(", :")
        return f"refused: {result[:LONGEST_REASON]}"
    essential = sorted({one.key for one in imported.missing if one.essential})
    return "ready" if imported.auditable else f"missing: {', '.join(essential) or 'a shape for the emulated device'}"


def measured(name: str, root: Path) -> dict[str, object]:
    """Return the counts of one set."""
    counts: Counter[str] = Counter()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        for number, source in enumerate(SETS[name](root, Path(scratch))):
            started = time.perf_counter()
            word = outcome(source, Path(scratch) / f"claim_{number}")
            slowest = max(slowest, time.perf_counter() - started)
            counts[word] += 1
    return {"sources": counts.total(), "ready": counts.pop("ready", 0), "slowest_s": round(slowest, 1),
            "others": dict(counts.most_common())}  # fmt: skip


def main() -> None:
    """Measure the sets, print the table and write the counts; sets that are not asked keep theirs."""
    root, names = Path(sys.argv[1]), sys.argv[2:] or list(SETS)
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in names:
        found[name] = measured(name, root)
        one = found[name]
        print(f"{name:<16} {one['ready']:>5} of {one['sources']:>5} ready, slowest {one['slowest_s']} s")
        for reason, count in one["others"].items():
            print(f"    {count:>5} {reason}", flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
