"""The rules about extensions that torch refuses to build."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from audit.review.python_constants import Constants, NotConstant, functions_around
from audit.review.python_reading import PythonReading
from audit.review.rule import Spot, rule
from audit.review.token_scan import mask

_BUILDER = "torch.utils.cpp_extension.load_inline"
MOST = 20
"""Extensions of one source that are read: all names of the source are looked at for each."""
_MODULE = re.compile(r"\bPYBIND11_MODULE\s*\(\s*TORCH_EXTENSION_NAME\b")
SECOND_MODULE = "torch cannot build this extension: its source has a PYBIND11_MODULE, and functions adds a second one"
_TIMED = "; where this error is caught, what stands in for the extension is what was timed"


@rule("kernels_ran")
def undeclared_binding(reading: PythonReading) -> Iterator[Spot]:
    """Does `load_inline` bind a function that its `cpp_sources` do not declare, so that torch cannot build the
    extension?

    Silent where the texts are no constants, and where `cpp_sources` include a header in quotes.
    """
    for call, given, constants in _extensions(reading):
        if "functions" in given and "cpp_sources" in given:
            names = undeclared(_texts(constants, given["cpp_sources"]), _texts(constants, given["functions"]))
            if names:
                yield Spot(call.lineno, refusal(names) + _TIMED)


@rule("kernels_ran")
def second_module(reading: PythonReading) -> Iterator[Spot]:
    """Does `load_inline` bind functions of a source that defines its module itself, so that torch cannot build the
    extension?

    Silent where the texts are no constants, and on a module of another name.
    """
    for call, given, constants in _extensions(reading):
        bound = given.get("functions")
        if bound is None or (isinstance(bound, ast.Constant) and bound.value is None):
            continue
        sources = [given[name] for name in ("cpp_sources", "cuda_sources") if name in given]
        if defines_module([text for source in sources for text in _texts(constants, source)]):
            yield Spot(call.lineno, SECOND_MODULE + _TIMED)


def _extensions(reading: PythonReading) -> Iterator[tuple[ast.Call, dict[str, ast.expr], Constants]]:
    """Yield the calls of `load_inline`, their arguments by name, and the constants that these may be made of."""
    calls = [node for node in reading.nodes(ast.Call) if reading.name(node) == _BUILDER]
    for call in calls[:MOST]:
        given = dict(zip(("name", "cpp_sources", "cuda_sources"), call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        yield call, given, Constants(reading.tree, within=functions_around(reading.tree, call), in_blocks=True)


def _texts(constants: Constants, node: ast.expr) -> list[str]:
    """Return the texts that constants decide; a quoted include, which settles nothing, where they do not."""
    try:
        value = constants.value(node)
    except (NotConstant, RecursionError):
        return ['#include "unknown"']
    several = [value] if isinstance(value, str) else list(value or [])
    return [one for one in several if isinstance(one, str)]


def undeclared(cpp: Sequence[str], functions: Sequence[str]) -> tuple[str, ...]:
    """Return the bound functions whose names no text of `cpp_sources` holds outside its comments.

    A header of the source's own may declare them, so none is returned where one is included in quotes.
    """
    text = mask("\n".join(cpp))
    if re.search(r'#\s*include\s*"', text.code):
        return ()
    words = set(re.findall(r"\w+", text.masked))
    return tuple(name for name in functions if name not in words)


def defines_module(texts: Sequence[str]) -> bool:
    """Return whether a text defines the extension's module, outside its comments: torch writes another definition
    where functions are bound, and no compiler or linker takes two."""
    return any(_MODULE.search(mask(text).masked) for text in texts)


def refusal(names: Sequence[str]) -> str:
    """Say why torch's builder refuses an extension that leaves those names undeclared; empty for no name."""
    text = f"torch cannot build this extension: its cpp_sources declare no {', '.join(names)}, which functions binds"
    return text if names else ""
