"""The cells of a Jupyter or Colab notebook: Python without magics, CUDA texts, and the ratios that outputs print."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from audit.claims.importers.facts import NO_FIGURES, Figure, Given, Missing
from audit.claims.importers.published import ratio
from audit.model import gpus, python_text
from audit.model.errors import BadInput
from audit.model.untrusted import SOURCE_BYTES
from audit.review.python_tree import last_name

KERNEL_MARK = "__global__"
MOST_CELLS = 5000
MOST_CHARACTERS = 1 << 16
"""Of one cell's outputs; what a cell prints behind that is not read."""
_RATIO = re.compile(r"(?<![\w.])(\d{1,6}(?:\.\d{1,6})?)\s*[x×]?(?![\w.])")
_SPEEDUP = re.compile(r"speed-?\s?up|faster", re.IGNORECASE)
_WRITES = re.compile(r"^%%(writefile|file)\s+(?:-a\s+)?(\S+)[^\n]*\n")
_CUDA_CELL = re.compile(r"^%%(cu|cuda|cuda_group_run)\b[^\n]*\n")
_MAGIC = re.compile(r"^(\s*)[%!?].*$", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A code cell: its number in the notebook from 1, its text, and its tree where it is Python."""

    number: int
    text: str
    tree: ast.Module | None


@dataclass(frozen=True)
class CudaText:
    """A CUDA source in a cell; `name` is the variable or file that holds it, `file` where it is written to."""

    cell: int
    text: str
    name: str
    file: str | None


def cells(document: dict[str, Any], *, where: str) -> list[Cell]:
    """Return the code cells in order. Raises BadInput for too many, or a malformed one, which it names."""
    if len(document["cells"]) > MOST_CELLS:
        raise BadInput(f"{where}: no notebook of format 4 with at most {MOST_CELLS:,} cells")
    return [
        Cell(number, text, _tree(text))
        for number, one in enumerate(document["cells"], start=1)
        if isinstance(one, dict) and one.get("cell_type") == "code"
        for text in [_text(one.get("source"), f"{where}: cell {number}")]
    ]


def _text(source: Any, where: str) -> str:
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        raise BadInput(f"{where}: its source is no text")
    text = "".join(lines)
    if len(text) > SOURCE_BYTES:
        raise BadInput(f"{where}: {len(text):,} characters; at most {SOURCE_BYTES:,} are imported")
    return text


def _tree(text: str) -> ast.Module | None:
    """Return the cell's Python, magics and shell lines taken out; None where it is none."""
    if text.startswith("%%"):
        return None
    try:
        return python_text.module(plain(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def plain(text: str) -> str:
    """Return the text with every line of a magic or the shell replaced by `pass`, so that lines keep their numbers."""
    return _MAGIC.sub(r"\1pass", text)


def cuda_texts(several: list[Cell]) -> list[CudaText]:
    """Return every CUDA source: cells written to a file, CUDA cells, and string constants with a kernel in them."""
    found: list[CudaText] = []
    for cell in several:
        written, cuda = _WRITES.match(cell.text), _CUDA_CELL.match(cell.text)
        if written is not None and KERNEL_MARK in cell.text:
            found.append(CudaText(cell.number, cell.text[written.end() :], written[2], written[2]))
        elif cuda is not None and KERNEL_MARK in cell.text:
            found.append(CudaText(cell.number, cell.text[cuda.end() :], f"cell {cell.number}", None))
        elif cell.tree is not None:
            found += [CudaText(cell.number, text, name, None) for name, text in _strings(cell.tree)]
    files = _written_files(several)
    return [one if one.file else CudaText(one.cell, one.text, one.name, files.get(one.name)) for one in found]


def _strings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Constants with a kernel, by the name they are bound to, or by their line where they are bound to none."""
    named = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named[id(_stripped(node.value))] = node.targets[0].id
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and KERNEL_MARK in node.value:
            yield named.get(id(node), f"line {node.lineno}"), node.value


def _stripped(node: ast.expr) -> ast.expr:
    """`text` of `text.strip()`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        node = node.func.value
    return node


def _written_files(several: list[Cell]) -> dict[str, str]:
    """For names of texts the file that a cell writes them to, by `write`, `write_text` or `print(..., file=)`."""
    files: dict[str, str] = {}
    for cell in several:
        for node in ast.walk(cell.tree) if cell.tree is not None else ():
            if isinstance(node, ast.With):
                opened = [_opened(item.context_expr) for item in node.items]
                inside = [
                    each for each in ast.walk(node) if isinstance(each, ast.Call) and last_name(each.func) == "write"
                ]
                pairs = [(call, each) for call in inside for each in opened if each and call.args]
                files |= {last_name(_stripped(call.args[0])): each for call, each in pairs}
            elif isinstance(node, ast.Call) and last_name(node.func) in ("write", "write_text") and node.args:
                owner = node.func.value if isinstance(node.func, ast.Attribute) else None
                file = _opened(owner) if owner is not None else None
                if file:
                    files.setdefault(last_name(_stripped(node.args[0])), file)
    return files


def _opened(node: ast.expr) -> str | None:
    """Return the file of `open("x.cu", "w")` and of `Path("x.cu")`."""
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def printed(document: dict[str, Any], given: Given) -> tuple[list[Figure], list[Missing]]:
    """Return the one ratio that the outputs print, and what is missing of it; several different ones are only listed.

    Times are left alone: no syntax tells which of two printed times is the kernel's.
    """
    found = list(_ratios(document))
    if not found:
        return [], [NO_FIGURES]
    if len({value for _, value, _ in found}) > 1:
        text = ", ".join(f"{value:g} in cell {cell}" for cell, value, _ in found[:8])
        return [], [Missing(f"the outputs print several ratios ({text})", "speedup", "write the one that is claimed")]
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
    """Return the GPU that the outputs name, where it is one; else the one that the notebook asks Colab for."""
    named = {name for _, text in _outputs(document) for line in text.splitlines() if (name := gpus.closest(line))}
    metadata = document.get("metadata")
    colab = metadata.get("colab") if isinstance(metadata, dict) else None
    asked = colab.get("gpuType") if isinstance(colab, dict) else None
    if not named and isinstance(asked, str):
        return gpus.closest(asked)
    return named.pop() if len(named) == 1 else None


def _outputs(document: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the text that each cell printed or showed, with its number from 1."""
    for number, cell in enumerate(document["cells"], start=1):
        outputs = cell.get("outputs") if isinstance(cell, dict) else None
        for output in outputs if isinstance(outputs, list) else []:
            data = output.get("data") if isinstance(output, dict) else None
            shown = data.get("text/plain") if isinstance(data, dict) else None
            text = output.get("text", shown) if isinstance(output, dict) else None
            lines = text if isinstance(text, list) else [text]
            yield number, "".join(line for line in lines if isinstance(line, str))[:MOST_CHARACTERS]
