"""Claimed kernels with another calling convention than the audit's: an entry of ours after their untouched source."""

from __future__ import annotations

import ast
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ENTRY = "audited_entry"
"""The function our lines add; no source has it."""
CUDA_MARK = "\n\n// What follows was added by `audit import`; all above is the original, byte for byte."
_MARK = "\n\n# What follows was added by `audit import`; all above is the original, byte for byte.\n"


@dataclass(frozen=True)
class Destination:
    """The call of a function that writes its results into tensors it is given.

    Attributes:
        inputs: names of its arguments, with the shape of each: names of axes, None for a number.
        outputs: the shape of each result, as names of axes, and its dtype.
        axes: every axis that an output needs and no input's shape tells, with its expression, in order.
    """

    inputs: Mapping[str, Sequence[str] | None]
    outputs: Sequence[tuple[Sequence[str], str]]
    axes: Sequence[tuple[str, str]]


def of_one_tuple(data: bytes, function: str) -> bytes:
    """Return a Python source whose function takes all its inputs as one tuple."""
    lines = [
        f"def {ENTRY}(*data):",
        '    """Hands the inputs on as the one tuple that the source takes."""',
        f"    return {function}(data if len(data) > 1 else data[0])",
    ]
    return data + (_MARK + "\n\n" + "\n".join(lines) + "\n").encode()


def beside_reference(data: bytes, reference: bytes, lines: str) -> bytes:
    """Return a Python source with a class `ModelNew` of ours in it, which needs the reference's module.

    Args:
        data: the source.
        reference: the text of the task, whose statements stand in `_stated(*arguments)`, which makes its `Model`.
        lines: the class.
    """
    stated = ast.parse("import torch").body + ast.parse(reference).body
    body = [node for node in stated if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
    made: Any = ast.parse("def _stated(*arguments):\n    torch.manual_seed(42)\n    return Model(*arguments)\n")
    made.body[0].body[:0] = body
    return data + f"{_MARK}\n\n{ast.unparse(ast.fix_missing_locations(made))}\n\n\n{lines}".encode()


def into_destination(data: bytes, function: str, called: Destination) -> bytes:
    """Return a Python source whose function writes into tensors that it is given last."""
    return data + (_MARK + "\n\n" + _destination(function, called)).encode()


def of_cuda(text: str, *, name: str, function: str, flags: Sequence[str], called: Destination) -> bytes:
    """Return a CUDA source with its own bindings as a Python source whose function writes into tensors it makes."""
    built = inline(text, cpp="", name=name, functions=None, flags=flags)
    return built + ("\n\n" + _destination(f"_EXTENSION.{function}", called)).encode()


def inline(text: str, *, cpp: str, name: str, functions: Sequence[str] | None, flags: Sequence[str]) -> bytes:
    """Return a Python source that builds `_EXTENSION` from texts, each as it was published."""
    head = "# Written by `audit import` around texts that stand in `original/`; they are the same here.\n"
    texts = f"_CUDA = {literal(text)}\n_CPP = {literal(cpp)}\n"
    named = "" if functions is None else f", functions={json.dumps(list(functions))}"
    flagged = f", extra_cuda_cflags={json.dumps(list(flags))}" if flags else ""
    built = f"_EXTENSION = load_inline({json.dumps(name)}, cpp_sources=_CPP, cuda_sources=_CUDA{named}{flagged})\n"
    return f"{head}from torch.utils.cpp_extension import load_inline\n\n{texts}{built}".encode()


def bound(text: str) -> list[str]:
    """Return the functions that a CUDA source binds for Python, in order."""
    return re.findall(r"\bm\.def\(\s*\"(\w+)\"", text)


def literal(text: str) -> str:
    """Return a Python literal of a text; raw and over several lines where possible, so that lines can be counted."""
    plain = all(character.isprintable() or character in "\n\t" for character in text)
    raw = plain and "'''" not in text and not text.endswith(("'", "\\"))
    return f"r'''{text}'''" if raw else repr(text)


def plain_name(name: Any) -> bool:
    """Return whether a foreign name may stand in generated code."""
    return isinstance(name, str) and name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def variable(axis: str) -> str:
    """Return the variable of an axis in generated code, where no foreign name may shadow another."""
    return f"axis_{axis}"


def _destination(function: str, called: Destination) -> str:
    """Return the function that makes the destinations; shapes come from the inputs at hand."""
    names = ", ".join(called.inputs)
    tensors = [name for name, axes in called.inputs.items() if axes is not None]
    lines = ["import torch", "", "", f"def {ENTRY}({names}):",
             '    """Makes each tensor that the source writes into; nothing is in it before."""']  # fmt: skip
    known: set[str] = set()
    for name in tensors:
        for place, axis in enumerate(called.inputs[name] or ()):
            if axis not in known:
                lines.append(f"    {variable(axis)} = {name}.shape[{place}]")
                known.add(axis)
    lines += [f"    {variable(axis)} = {expression}" for axis, expression in called.axes if axis not in known]
    results = [f"result_{place}" for place in range(len(called.outputs))] if len(called.outputs) > 1 else ["result"]
    for result, (shape, dtype) in zip(results, called.outputs, strict=True):
        size = ", ".join(map(variable, shape))
        lines.append(f"    {result} = torch.empty([{size}], dtype=torch.{dtype}, device={tensors[0]}.device)")
    every = ", ".join(results)
    return "\n".join([*lines, f"    {function}({names}, {every})", f"    return {every}", ""])
