"""One solution of flashinfer-bench or SOL-ExecBench, with the definition, workloads and traces that belong to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from audit.claims.importers import definitions, published
from audit.claims.importers.definitions import Definition, Document
from audit.claims.importers.imported import Figure, Given, Original
from audit.claims.importers.material import Material
from audit.model.claim import MOST_SIZE
from audit.model.errors import BadInput

RESERVED = ("definition.json", "reference_of.py")
"""What the importer itself puts beside the sources."""
TRACES = "the benchmark's own evaluation, in its traces"
"""Who takes the times: not the author of the solution."""
_LATENCIES = {"runtime": "latency_ms", "reference": "reference_latency_ms"}


@dataclass(frozen=True)
class Workload:
    """One case: its sizes, what every input comes from, and the tolerance."""

    sizes: dict[str, int]
    inputs: Document
    tolerance: Document


@dataclass(frozen=True)
class Found:
    """Everything of one solution: the parsed definition, workloads, solution, and the traces about it."""

    solution: Document
    solution_at: str
    definition: Definition | None
    workloads: tuple[Workload, ...]
    traces: tuple[tuple[str, Document], ...]


def is_solution(document: Any) -> bool:
    """Return whether a JSON document is a solution of either benchmark."""
    spec = document.get("spec") if isinstance(document, dict) else None
    return isinstance(spec, dict) and "entry_point" in spec and isinstance(document.get("sources"), list)


def is_sol(material: Material) -> bool:
    """Return whether documents say what SOL-ExecBench alone says."""
    for document in material.documents.values():
        if is_solution(document) and {"languages", "compile_options"} & set(document["spec"]):
            return True
        inner = document.get("workload", document) if isinstance(document, dict) else {}
        if isinstance(document, dict) and document.get("custom_inputs_entrypoint"):
            return True
        if isinstance(inner, dict) and isinstance(inner.get("tolerance"), dict):
            return True
    return False


def find(material: Material, given: Given) -> Found:
    """Return the one solution of the material with what belongs to it.

    Raises:
        BadInput: none or several solutions, several definitions of the name, or one that is malformed.
    """
    solutions = [(name, each) for name, each in material.documents.items() if is_solution(each)]
    if len(solutions) != 1:
        names = ", ".join(name for name, _ in solutions[:10])
        text = f"{len(solutions)} solutions ({names})" if solutions else "no solution"
        raise BadInput(f"{material.where}: {text}; name the files of one")
    at, solution = solutions[0]
    named = solution.get("definition")
    stated = [(name, each) for name, each in material.documents.items() if definitions.is_definition(each)]
    own = [one for one in stated if one[1].get("name") == named] or stated
    if len(own) > 1:
        raise BadInput(f"{material.where}: {len(own)} definitions, none or several called {named}; name the one file")
    definition = definitions.read(material, *own[0]) if own else None
    workloads = [] if definition is None else _workloads(material, definition)
    if given.row is not None and workloads:
        if not 1 <= given.row <= len(workloads):
            raise BadInput(f"{material.where}: no workload {given.row}; there are {len(workloads)}")
        workloads = [workloads[given.row - 1]]
    evaluated = [(name, each) for name, each in material.documents.items() if isinstance(each, dict)
                 and isinstance(each.get("evaluation"), dict)]  # fmt: skip
    traces = [(name, each) for name, each in evaluated if each.get("solution") == solution.get("name")]
    return Found(solution, at, definition, tuple(workloads), tuple(traces))


def _workloads(material: Material, definition: Definition) -> list[Workload]:
    """Return every workload of the definition, each once."""
    found: dict[str, Workload] = {}
    for at, document in material.documents.items():
        if not isinstance(document, dict) or is_solution(document) or definitions.is_definition(document):
            continue
        inner = document.get("workload", document)
        if isinstance(inner, dict) and isinstance(inner.get("axes"), dict) and isinstance(inner.get("inputs"), dict):
            if document.get("definition") not in (None, definition.name):
                continue
            workload = _workload(inner, definition, at)
            found.setdefault(str(inner.get("uuid") or at), workload)
    return list(found.values())


def _workload(inner: Document, definition: Definition, at: str) -> Workload:
    sizes = {}
    for name in definition.variables:
        value = inner["axes"].get(name)
        if type(value) is not int or not 0 < value < MOST_SIZE:
            raise BadInput(f"{at}: axes: {name} = {str(value)[:20]} is no positive integer")
        sizes[name] = value
    tolerance = inner.get("tolerance")
    return Workload(sizes, inner["inputs"], tolerance if isinstance(tolerance, dict) else {})


def sources(found: Found) -> list[Original]:
    """Return the sources of the solution as originals, their folders in the file name.

    Raises:
        BadInput: a path leads out of the folder or stands twice, or a source is no text.
    """
    kept: dict[str, Original] = {}
    for number, source in enumerate(found.solution["sources"], start=1):
        where = f"{found.solution_at}: sources {number}"
        path, content = (source.get(key) if isinstance(source, dict) else None for key in ("path", "content"))
        if not isinstance(path, str) or not isinstance(content, str):
            raise BadInput(f"{where}: has no path and content")
        file = flattened(path, where)
        if file in kept:
            raise BadInput(f"{where}: path {path} stands twice")
        try:
            kept[file] = Original(file, content.encode(), published_as=f"{where}: {path}")
        except UnicodeEncodeError as error:
            raise BadInput(f"{where}: content is not UTF-8 at character {error.start}") from error
    return list(kept.values())


def flattened(path: str, where: str) -> str:
    """Return a relative path as one file name, none of `RESERVED`. Raises BadInput for a path that leads out."""
    parts: Sequence[str] = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or ":" in path or ".." in parts:
        raise BadInput(f"{where}: path {path[:60]!r} leads out of the folder")
    file = "_".join(part for part in parts if part != ".")
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in file)
    if not plain.strip("._-"):
        raise BadInput(f"{where}: path {path[:60]!r} names no file")
    file = plain.lstrip(".-")
    return f"source_{file}" if file in RESERVED else file


def figures(found: Found, workload: Workload, given: Given) -> list[Figure]:
    """Latencies and the ratio of the traces about this solution at the claimed workload, as the benchmark took them."""
    found_figures: list[Figure] = []
    for where, trace in found.traces:
        evaluation, inner = trace["evaluation"], trace.get("workload")
        performance, environment = evaluation.get("performance"), evaluation.get("environment")
        if not isinstance(performance, dict) or not isinstance(inner, dict) or inner.get("axes") != workload.sizes:
            continue
        gpu = environment.get("hardware") if isinstance(environment, dict) else None
        values = {name: _time(performance, key, where) for name, key in _LATENCIES.items()}
        known = {name: value for name, value in values.items() if value is not None}
        place = f"{where}: performance"
        found_figures += published.times(known, given=Given(gpu=given.gpu), gpu=gpu, where=place, named="ms")[0]
        ratio = _time(performance, "speedup_factor", where)
        if ratio is not None:
            found_figures.append(
                published.ratio("reference", ratio, given=given, gpu=gpu, where=f"{place} speedup_factor")
            )
    return [replace(figure, by=TRACES) for figure in found_figures]


def _time(performance: Mapping[str, Any], key: str, where: str) -> float | None:
    value = performance.get(key)
    return None if value is None else published.checked(value, where=f"{where}: {key}")
