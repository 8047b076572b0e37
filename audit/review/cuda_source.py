"""A CUDA source as a record: functions, launches, shared memory, includes, macros.

`parse` combines the grammar of tree-sitter-cuda with a token scan for what macros hide from it. Every offset is
into `CudaSource.text`, counted in characters; every line counts from 1.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from tree_sitter import Tree

from audit.review import cuda_grammar, launches, shared_memory, token_scan
from audit.review.cuda_grammar import Function
from audit.review.launches import Launch
from audit.review.shared_memory import SharedDeclaration
from audit.review.token_scan import Macro

__all__ = ["CudaSource", "Function", "Include", "Launch", "Macro", "SharedDeclaration", "parse"]

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?P<header><[^>\n]*>|"[^"\n]*")[^\n]*', re.MULTILINE)


@dataclass(frozen=True)
class Include:
    """One `#include`; `header` is the name without its quotes, `end` excludes the line break."""

    header: str
    start: int
    end: int
    line: int


@dataclass(frozen=True, eq=False)
class CudaSource:
    """Everything that one CUDA source file holds.

    Args:
        text: the source as given.
        code: the same with comments and `#if 0` branches blanked.
        masked: the same with the inside of string and character literals blanked too.
        functions: definitions with a body, in order, methods included.
        launches: every `kernel<<<...>>>(...)`, in order, those in macros included.
        shared: every `__shared__` declaration, in order.
        includes: every `#include`, in order.
        macros: every `#define`, in order.
        error_count: nodes that the grammar could not place; the rest of the record is still good.
        tree: the syntax tree of `masked`, whose byte offsets are the offsets of the text.
    """

    text: str
    code: str
    masked: str
    functions: tuple[Function, ...]
    launches: tuple[Launch, ...]
    shared: tuple[SharedDeclaration, ...]
    includes: tuple[Include, ...]
    macros: tuple[Macro, ...]
    error_count: int
    tree: Tree = field(repr=False, compare=False)

    def line_of(self, offset: int) -> int:
        """Return the line that holds the offset, from 1."""
        return self.text.count("\n", 0, offset) + 1

    def function_at(self, offset: int) -> Function | None:
        """Return the innermost function whose body holds the offset, or None at namespace scope."""
        last = bisect_right(self.functions, offset, key=lambda function: function.start) - 1
        around = (self.functions[index] for index in range(last, -1, -1))
        return next((function for function in around if function.body_start < offset < function.end), None)

    def macro_at(self, offset: int) -> Macro | None:
        """Return the `#define` that holds the offset, or None."""
        return token_scan.macro_at(self.macros, offset)


def parse(text: str) -> CudaSource:
    """Read one CUDA source. Never fails: what cannot be understood is left out and counted in `error_count`."""
    views = token_scan.mask(text)
    macros = token_scan.macros(views.masked)
    grammar = cuda_grammar.read(views, macros)
    return CudaSource(
        text=text,
        code=views.code,
        masked=views.masked,
        functions=grammar.functions,
        launches=launches.find(views, macros, grammar.launch_nodes),
        shared=shared_memory.find(views, macros),
        includes=_includes(views.code),
        macros=macros,
        error_count=grammar.error_count,
        tree=grammar.tree,
    )


def _includes(code: str) -> tuple[Include, ...]:
    return tuple(
        Include(match["header"][1:-1], match.start(), match.end(), code.count("\n", 0, match.start()) + 1)
        for match in _INCLUDE.finditer(code)
    )
