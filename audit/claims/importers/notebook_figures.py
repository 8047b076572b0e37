"""Ratios that a notebook's saved outputs print, and the GPU it ran on; a number without such a word beside it is none.

Times are left alone: which of two printed times is the kernel's stands in nobody's syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audit.claims.importers.imported import NO_FIGURES, Figure, Missing
from audit.claims.importers.material import Given
from audit.claims.importers.published import ratio
from audit.model import gpus

MOST_CHARACTERS = 1 << 16
"""Of one cell's outputs; what a cell prints behind that is not read."""
_RATIO = re.compile(r"(?<![\w.])(\d{1,6}(?:\.\d{1,6})?)\s*[x×]?(?![\w.])")
_SPEEDUP = re.compile(r"speed-?\s?up|faster", re.IGNORECASE)


def printed(document: dict[str, Any], given: Given) -> tuple[list[Figure], list[Missing]]:
    """The one ratio that the outputs print, and what is missing of it; several different ones are only listed."""
    found = list(_ratios(document))
    if not found:
        return [], [NO_FIGURES]
    if len({value for _, value, _ in found}) > 1:
        told = ", ".join(f"{value:g} in cell {cell}" for cell, value, _ in found[:8])
        return [], [Missing(f"the outputs print several ratios ({told})", "speedup", "write the one that is claimed")]
    cell, value, line = found[0]
    where = f"cell {cell} printed: {line.strip()[:120]}"
    return [ratio("the reference of the notebook", value, given=given, gpu=_gpu(document), where=where)], []


def _ratios(document: dict[str, Any]) -> Iterator[tuple[int, float, str]]:
    for cell, text in _outputs(document):
        for line in text.splitlines():
            numbers = _RATIO.findall(line) if _SPEEDUP.search(line) else []
            if len(numbers) == 1 and float(numbers[0]) > 0.0:
                yield cell, float(numbers[0]), line


def _gpu(document: dict[str, Any]) -> str | None:
    """The GPU that the outputs name, where it is one; else the one that the notebook asks Colab for."""
    named = {name for _, text in _outputs(document) for line in text.splitlines() if (name := gpus.closest(line))}
    metadata = document.get("metadata")
    colab = metadata.get("colab") if isinstance(metadata, dict) else None
    asked = colab.get("gpuType") if isinstance(colab, dict) else None
    if not named and isinstance(asked, str):
        return gpus.closest(asked)
    return named.pop() if len(named) == 1 else None


def _outputs(document: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """What each cell printed or showed as text, by its number from 1."""
    for number, cell in enumerate(document["cells"], start=1):
        outputs = cell.get("outputs") if isinstance(cell, dict) else None
        for output in outputs if isinstance(outputs, list) else []:
            data = output.get("data") if isinstance(output, dict) else None
            shown = data.get("text/plain") if isinstance(data, dict) else None
            text = output.get("text", shown) if isinstance(output, dict) else None
            lines = text if isinstance(text, list) else [text]
            yield number, "".join(line for line in lines if isinstance(line, str))[:MOST_CHARACTERS]
