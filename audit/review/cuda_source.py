"""A CUDA source as a record: functions, launches, shared memory, includes, macros.

`parse` combines the grammar of tree-sitter-cuda with a token scan for what macros hide from it. Every offset is
into `CudaSource.text`, counted in characters; every line counts from 1.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from tree_sitter import Tree

from audit.review import cuda_grammar, scanned, token_scan
from audit.review.cuda_grammar import ERROR, Function, Walked
from audit.review.rule import between, grouped
from audit.review.scanned import Launch, SharedDeclaration
from audit.review.token_scan import Macro

__all__ = ["CudaSource", "Function", "Include", "Launch", "Macro", "SharedDeclaration", "parse"]

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?P<header><[^>\n]*>|"[^"\n]*")[^\n]*', re.MULTILINE)
_BOUND = re.compile(r'\bm\.def\(\s*"(\w+)"\s*,\s*&?\s*(?:\w+\s*::\s*)*(\w+)')
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Include:
    """One `#include`; `header` is the name without its quotes, `end` excludes the line break."""

    header: str
    start: int
    end: int
    line: int


@dataclass(frozen=True, eq=False)
class CudaSource:
    """Everything that one CUDA source file holds, in order."""

    text: str
    code: str  # the text with comments and `#if 0` branches blanked
    masked: str  # the same with the inside of string and character literals blanked too
    functions: tuple[Function, ...]  # with a body, methods included
    launches: tuple[Launch, ...]  # those in macros included
    shared: tuple[SharedDeclaration, ...]
    includes: tuple[Include, ...]
    macros: tuple[Macro, ...]
    error_count: int  # nodes that the grammar could not place; the rest of the record is still good
    parsed: bool  # whether the grammar read it; if not, its tree is empty and only what tokens show is known
    tree: Tree = field(repr=False, compare=False)  # of `masked`; its byte offsets are the offsets of the text
    walked: Walked = field(repr=False, compare=False)  # what one walk over the tree finds

    def line_of(self, offset: int) -> int:
        """Return the line that holds the offset, from 1."""
        return token_scan.line_of(self.text, offset)

    def function_at(self, offset: int) -> Function | None:
        """Return the innermost function whose body holds the offset, or None at namespace scope."""
        places, functions = self._bodies
        return functions[bisect_right(places, offset) - 1]

    @cached_property
    def _bodies(self) -> tuple[list[int], list[Function | None]]:
        """Offsets in order from which on another function's body is the innermost, and that function."""
        places, innermost = [-1], list[Function | None]([None])
        opened: list[Function] = []
        for function in (*sorted(self.functions, key=lambda each: each.body_start), None):
            while opened and (function is None or opened[-1].end <= function.body_start):
                places.append(opened.pop().end)
                innermost.append(opened[-1] if opened else None)
            if function is not None:
                places.append(function.body_start + 1)
                innermost.append(function)
                opened.append(function)
        return places, innermost

    @cached_property
    def by_name(self) -> dict[str, list[Function]]:
        """The functions of each name."""
        return grouped((function.name, function) for function in self.functions)

    @cached_property
    def launches_of(self) -> dict[str, list[Launch]]:
        """The launches of each kernel's name."""
        return grouped((launch.kernel_name, launch) for launch in self.launches)

    def shared_in(self, function: Function) -> list[SharedDeclaration]:
        """Return the shared memory declared in the body of a function."""
        return between(self.shared, function.body_start + 1, function.end, lambda each: each.start)

    def launches_in(self, function: Function) -> list[Launch]:
        """Return the launches in the body of a function."""
        return between(self.launches, function.body_start + 1, function.end, lambda each: each.start)

    def apart_from(self, entry: str) -> list[Function]:
        """Return the functions, in order, that nothing names of what the function which is bound as `entry` reaches.

        None where the source does not show that function, or pastes names together.
        """
        spans = [(each.name, each.start, each.end) for each in self.functions]
        spans += [(each.name, each.body_start, each.end) for each in self.macros]
        words = grouped((name, frozenset(_WORD.findall(self.masked, *span))) for name, *span in spans)
        bound = dict(_BOUND.findall(self.code)).get(entry, entry)
        queue = [bound, *(name for name in words if not name.isidentifier())]  # operators and destructors have no calls
        reached = set[str]()
        while queue:
            reached.add(name := queue.pop())
            queue += {word for found in words.get(name, ()) for word in found if word in words} - reached
        shown = bound in self.by_name and "##" not in self.masked
        return [each for each in self.functions if each.name not in reached] if shown else []

    def macro_at(self, offset: int) -> Macro | None:
        """Return the `#define` that holds the offset, or None."""
        return token_scan.macro_at(self.macros, offset)


def parse(text: str) -> CudaSource:
    """Read one CUDA source. Never fails: what cannot be understood is left out and counted in `error_count`."""
    views = token_scan.mask(text)
    macros = token_scan.macros(views.masked)
    tree, parsed = cuda_grammar.tree_of(views)
    walked = cuda_grammar.walked_of(tree)
    return CudaSource(
        text=text,
        code=views.code,
        masked=views.masked,
        functions=cuda_grammar.functions(walked, views, macros),
        launches=scanned.launches(views, macros),
        shared=scanned.shared_memory(views, macros),
        includes=tuple(
            Include(match["header"][1:-1], match.start(), match.end(), token_scan.line_of(views.code, match.start()))
            for match in _INCLUDE.finditer(views.code)
        ),
        macros=macros,
        error_count=len(walked.nodes[ERROR]),
        parsed=parsed,
        tree=tree,
        walked=walked,
    )
