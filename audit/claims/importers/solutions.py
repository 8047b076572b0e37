"""One solution of flashinfer-bench or SOL-ExecBench, with the definition, workloads and traces that belong to it."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from audit.claims.importers import definitions, published
from audit.claims.importers.definitions import Definition, Document
from audit.claims.importers.facts import Figure, Given, Original
from audit.claims.importers.material import Material
from audit.model import untrusted
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
    """Return the one solution of the material with what belongs to it. Raises BadInput: none or several solutions,
    several definitions of the name, or one that is malformed."""
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
    """Return the sources of the solution as originals, their folders in the file name. Raises BadInput: a path leads
    out of the folder or stands twice, or a source is no text."""
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


MOST_BYTES = 3 << 20
"""Of a file: a claim folder keeps its tensor as text, a third longer."""
LENGTH_BYTES, MOST_HEADER = 8, 1 << 20
DTYPES = {"F64": ("float64", 8), "F32": ("float32", 4), "F16": ("float16", 2), "BF16": ("bfloat16", 2),
          "I64": ("int64", 8), "I32": ("int32", 4), "I16": ("int16", 2), "I8": ("int8", 1), "U8": ("uint8", 1),
          "BOOL": ("bool", 1)}  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """One tensor of a file: its torch dtype, its shape, and its bytes as an original."""

    dtype: str
    shape: tuple[int, ...]
    original: Original


def stored(material: Material, path: object, key: object, *, name: str) -> Stored | None:
    """Return the tensor of that key in the one file whose name ends that path; None where it was not given. Raises
    BadInput: the file is no safetensors file, is larger than `MOST_BYTES`, or holds no such tensor."""
    text = str(path).lstrip("./")
    files = [one for one in material.named(".safetensors") if f"/{text}".endswith(f"/{one}") or one.endswith(text)]
    if len(files) != 1 or not isinstance(key, str):
        return None
    data = untrusted.data(material.files[files[0]], limit_bytes=MOST_BYTES)
    header, start = _header(data, files[0])
    about = header.get(key)
    if not isinstance(about, dict):
        raise BadInput(f"{files[0]}: holds no tensor {key[:60]}; it has: {', '.join(map(str, header))[:200]}")
    return _tensor(data[start:], about, name=name, where=f"{files[0]}: {key[:60]}")


def _header(data: bytes, where: str) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(data[:LENGTH_BYTES], "little")
    try:
        if not 0 < length <= min(MOST_HEADER, len(data) - LENGTH_BYTES):
            raise ValueError
        header = json.loads(data[LENGTH_BYTES : LENGTH_BYTES + length])
        if not isinstance(header, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise BadInput(f"{where}: no safetensors file: its header cannot be read") from None
    return header, LENGTH_BYTES + length


def _tensor(data: bytes, about: dict[str, Any], *, name: str, where: str) -> Stored:
    shape, place = about.get("shape"), about.get("data_offsets")
    dtype, width = DTYPES.get(str(about.get("dtype")), ("", 0))
    sound = all(
        isinstance(one, list) and all(type(each) is int and each >= 0 for each in one) for one in (shape, place)
    )
    if not dtype or not sound or not isinstance(shape, list) or not isinstance(place, list) or len(place) != 2:
        raise BadInput(f"{where}: no shape and place of a known type ({str(about.get('dtype'))[:20]})")
    first, last = place
    if last > len(data) or last - first != width * math.prod(shape):
        raise BadInput(f"{where}: {last - first:,} bytes are stated, which are not those of its shape, or not there")
    lines = base64.encodebytes(data[first:last])
    said = f"{where}, its {last - first:,} bytes in base64"
    return Stored(dtype, tuple(shape), Original(f"input_{name}.b64", lines, published_as=said))
