"""Claimed kernels with another calling convention than the audit's: an entry of ours after their untouched source."""

from __future__ import annotations

import ast
import json
import keyword
import re
from collections.abc import Sequence
from typing import Any

from audit.review.token_scan import mask

ENTRY = "audited_entry"
"""The function our lines add; no source has it."""
CUDA_MARK = "\n\n// What follows was added by `audit import`; all above is the original, byte for byte."
MARK = "\n\n# What follows was added by `audit import`; all above is the original, byte for byte.\n"


HEADER = "torch/extension.h"
_GIVES_TENSORS = re.compile(
    r"^[ \t]*(?:inline\s+)?(?:(?:torch|at)::Tensor|std::(?:vector|tuple)<[^;{}()]*Tensor[^;{}()]*>)\s+(\w+)\s*"
    r"\([^;{}]*\)\s*\{",
    re.MULTILINE,
)


def of_one_tuple(data: bytes, function: str) -> bytes:
    """Return a Python source whose function takes all its inputs as one tuple."""
    lines = [
        f"def {ENTRY}(*data):",
        '    """Hands the inputs on as the one tuple that the source takes."""',
        f"    return {function}(data if len(data) > 1 else data[0])",
    ]
    return data + (MARK + "\n\n" + "\n".join(lines) + "\n").encode()


def beside_reference(data: bytes, reference: bytes, lines: str) -> bytes:
    """Return a Python source with a class `ModelNew` of ours (`lines`) in it, which needs the reference's module.

    The statements of the reference stand in `_stated(*arguments)`, which makes its `Model`.
    """
    stated = ast.parse("import torch").body + ast.parse(reference).body
    body = [node for node in stated if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
    made: Any = ast.parse("def _stated(*arguments):\n    torch.manual_seed(42)\n    return Model(*arguments)\n")
    made.body[0].body[:0] = body
    return data + f"{MARK}\n\n{ast.unparse(ast.fix_missing_locations(made))}\n\n\n{lines}".encode()


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


def unbound(text: str) -> str | None:
    """Return the one function of a CUDA source that returns tensors and that no other calls; None for several, and
    where the source lacks the header that a binding needs."""
    code = mask(text).masked if HEADER in text else ""
    names = [name for name in _GIVES_TENSORS.findall(code) if not re.search(rf"(?<!Tensor)(?<!>)[^\w:]{name}\b", code)]
    return names[0] if len(names) == 1 else None


def with_binding(data: bytes, function: str) -> bytes:
    """Return a CUDA source with a binding of that function behind it."""
    line = f'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("{function}", &{function}); }}'
    return data + f"{CUDA_MARK}\n{line}\n".encode()


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
