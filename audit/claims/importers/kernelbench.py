"""KernelBench: a task (`Model`, `get_inputs`, `get_init_inputs`) and a solution (`ModelNew`), with or without results.

Two `.py` files, a folder that holds them, or the task beside a `kernel.json` of the published samples; results are a
`KernelExecResult`, or a dict or list of them. Facts: the benchmark's `src/kernelbench/eval.py` (2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from audit.claims.importers import module_task, published
from audit.claims.importers.facts import NO_FIGURES, Figure, Given, Imported, Missing, Original
from audit.claims.importers.material import Material

TAKES = "a task with `Model` and `get_inputs`, a solution with `ModelNew` (two `.py` files, a folder, or `kernel.json`)"
LACKS = ("reference.py cost",)
STEPS = ("torch.allclose on several random inputs", "the mean of CUDA event times, reference and kernel apart")
PLAIN_NAMES = ("task", "ref", "reference", "model", "solution", "kernel")
"""Names of files that say nothing of the task; the folder's counts then."""
KERNELS = ("kernel", "custom_kernel", "generated_kernel")


def matches(material: Material) -> bool:
    """Return whether a Python file defines `ModelNew`, or JSON holds a kernel that does, beside a task or not."""
    in_files = any("ModelNew" in one.classes for one in material.python.values())
    return in_files or any(any(_samples(document)) for document in material.documents.values())


def read(material: Material, given: Given) -> Imported:
    """Return task, solution and results. Raises BadInput for several tasks or solutions, or times that are none."""
    figures, missing = _figures(material, given)
    tasks = material.written_in(
        lambda one: "Model" in one.classes and "get_inputs" in one.functions and "ModelNew" not in one.classes
    )
    task = material.only(tasks, what="task (a class Model)") if tasks else None
    found = module_task.imported("kernelbench", task=task, solution=_solution(material), shape=given.shape)
    name = found.name
    if name in PLAIN_NAMES:
        place = material.paths[0].resolve()
        name = module_task.named_after((place if place.is_dir() else place.parent).name)
    return replace(found, name=name, title=name.replace("_", " "), steps=STEPS).with_figures(figures, missing)


def _solution(material: Material) -> Original:
    files = material.written_in(lambda one: "ModelNew" in one.classes)
    cells = [
        Original("solution.py", text.encode(), published_as=f"{name} key {key}")
        for name, document in material.documents.items()
        for key, text in _samples(document)
    ]
    return material.only(files or cells, what="solution (a class ModelNew)")


def _samples(document: Any) -> Iterator[tuple[str, str]]:
    """Yield the kernels of a `kernel.json`."""
    if isinstance(document, dict):
        for key in KERNELS:
            if isinstance(document.get(key), str) and "ModelNew" in document[key]:
                yield key, document[key]


def _figures(material: Material, given: Given) -> tuple[list[Figure], list[Missing]]:
    results = [(where, one) for name, each in material.documents.items() for where, one in _results(each, name)]
    if len(results) > 1:
        text = ", ".join(where for where, _ in results[:5])
        missing = Missing(f"{len(results)} results ({text}) and no saying which is this solution's", "observation",
                          "keep the one result beside the solution and import again")  # fmt: skip
        return [], [missing]
    if not results:
        return [], [NO_FIGURES]
    where, result = results[0]
    metadata = result.get("metadata") if isinstance(result.get("metadata"), dict) else {}
    times = {name: value for name in ("runtime", "ref_runtime") if (value := _time(result, name, where)) is not None}
    average = _time(result, "avg_runtime", where)
    return published.times(
        times or ({} if average is None else {"runtime": average}),
        given=given,
        gpu=str((metadata or {}).get("hardware") or ""),
        where=where,
        named=result.get("unit") or result.get("units"),
        statistics=result.get("runtime_stats"),
    )


def _results(document: Any, where: str, depth: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every `KernelExecResult` in a document, and where it stands."""
    if isinstance(document, dict) and ("runtime" in document or "avg_runtime" in document):
        yield where, document
    elif isinstance(document, dict | list) and depth < 4:
        pairs = document.items() if isinstance(document, dict) else enumerate(document, start=1)
        for key, value in pairs:
            yield from _results(value, f"{where} {'key' if isinstance(document, dict) else 'row'} {key}", depth + 1)


def _time(result: dict[str, Any], name: str, where: str) -> float | None:
    """Return a time of a result; -1 is KernelBench's word for one that was not taken."""
    value = result.get(name)
    if value is None or value == -1:
        return None
    return published.checked(value, where=f"{where}: {name}")
