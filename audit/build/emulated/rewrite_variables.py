"""Rewrite the variables of the device: shared memory, and those at file scope, which tell the runtime their places.

Shared memory becomes a reference into the block's arena. C++ has no variables at namespace scope that belong to the
running block, so each function that uses one gets its own reference at the start of its body. An `extern` array is one
entity in its namespace wherever it is declared: nvcc refuses a second type for the name, such as that of a template's
other instance. A declaration that nothing uses is left behind, of which g++ asks the same.

Behind its declaration each variable at file scope tells the runtime its place, and gaps follow it that nothing may
touch (`include/cuemu/variables.h`). Members of classes, templates, variables in functions and those that a macro
declares are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from audit.build.emulated.edits import Edit
from audit.build.emulated.imports import CONSTANTS
from audit.review.cuda_source import CudaSource, Function, SharedDeclaration
from audit.review.token_scan import LONGEST, blank_directives, matching, split_commas

DYNAMIC = "cuemu_extern_array_"
"""The beginning of the name by which g++ compares the types of `extern` arrays."""
_IDENTIFIER = re.compile(r"(?<![.\w])(?<!->)[A-Za-z_]\w*")
_BY_COPY = re.compile(r"\[\s*=")
_MOST = 8  # declarations of one name outside functions; a compiler takes no second one
_OUTSIDE = re.compile(r"(?:\bnamespace(?:\s+[\w:]+)?|\bextern\s*\"\s*\")\s*\Z")


@dataclass(frozen=True)
class _Variable:
    """A shared variable; `before` comes once in the scope of the declaration, `local` defines the name."""

    name: str
    before: str
    local: str
    placeholder: str


def shared(source: CudaSource) -> Iterator[Edit]:
    """Yield the edits for every declaration. Types are numbered in the file, so that no two share a slot."""
    number, by_copy = 0, _BY_COPY.search(source.masked) is not None
    uses: _Uses | None = None
    for declaration in source.shared:
        variables, types = [], list[str]()
        if "{" in declaration.base_type:  # defines the type, which each variable names
            types = [f"typedef {declaration.base_type} cuemu_base_{number + 1}"]
            declaration = replace(declaration, base_type=f"cuemu_base_{number + 1}")  # noqa: PLW2901
        for index in range(len(declaration.names_and_dims)):
            number += 1
            make = partial(_dynamic, by_copy=by_copy) if declaration.dynamic else _static
            variables.append(make(declaration, index, _suffix(source, declaration, index, number)))
        if at_namespace_scope(source, declaration.start):
            text = [*types, *(each.before for each in variables), *(each.placeholder for each in variables)]
            uses = uses or _Uses(source)
            yield from (edit for each in variables for edit in uses.edits(declaration, each))
        else:
            text = [*types, *(part for each in variables for part in (each.before, each.local))]
        yield Edit(declaration.start, declaration.end, "; ".join(part for part in text if part))


def _suffix(source: CudaSource, declaration: SharedDeclaration, index: int, number: int) -> str:
    """Return a number, with the name after it where a macro declares its argument, perhaps twice in one scope."""
    macro = source.macro_at(declaration.start)
    name = declaration.names_and_dims[index][0]
    return f"{number}_##{name}" if macro and name in macro.parameters else str(number)


def _static(declaration: SharedDeclaration, index: int, suffix: str) -> _Variable:
    name, dims = declaration.names_and_dims[index]
    kind = f"cuemu_type_{suffix}"
    before = f"typedef {_element(declaration, index)} {kind}{' ' + dims if dims else ''}"
    local = f"{kind}& {name} = ::cuemu::shared<{kind}, struct cuemu_tag_{suffix}>()"
    return _Variable(name, before, local, placeholder=f"struct cuemu_tag_{suffix}")


def _dynamic(declaration: SharedDeclaration, index: int, suffix: str, *, by_copy: bool) -> _Variable:
    """A reference to an array of no known size, which a source may cast to one of another type; a pointer where
    lambdas take what they use by copy."""
    name, dims = declaration.names_and_dims[index]
    element = _element(declaration, index)
    before = f"extern {element} {DYNAMIC}{'##' if '##' in suffix else ''}{name}{dims}"
    if outer := dims.partition("]")[0].strip("[ "):
        before += f"; static_assert(sizeof(char[{outer}]) >= 0)"  # a constant expression, or nvcc refuses it
    if inner := dims.partition("]")[2].strip():
        before += f"; typedef {element} cuemu_type_{suffix}{inner}"
        element = f"cuemu_type_{suffix}"
    if by_copy:
        local = f"{element}* {name} = static_cast<{element}*>(::cuemu::dynamic_shared())"
    else:
        local = f"{element} (&{name})[] = *static_cast<{element} (*)[]>(::cuemu::dynamic_shared())"
    return _Variable(name, before, local, placeholder=f"static ::cuemu::DynamicShared<{element}> {name}")


def _element(declaration: SharedDeclaration, index: int) -> str:
    volatile = "volatile " if declaration.volatile else ""
    return f"{volatile}{declaration.base_type}{declaration.pointers[index]}"


class _Uses:
    """The functions that use a variable which none of their declarations or parameters hides."""

    def __init__(self, source: CudaSource) -> None:
        self._functions: dict[str, dict[Function, None]] = {}
        for match in _IDENTIFIER.finditer(source.masked):
            function = source.function_at(match.start())
            if function is not None and function.kind != "host":
                self._functions.setdefault(match.group(), {})[function] = None
        self._hidden = {(function, each.name) for function in source.functions for each in function.parameters}
        for other in source.shared:
            if function := source.function_at(other.start):
                self._hidden |= {(function, name) for name, _ in other.names_and_dims}
        self._declared = Counter[str]()

    def edits(self, declaration: SharedDeclaration, variable: _Variable) -> Iterator[Edit]:
        """Define the name at the start of each such function after the declaration."""
        self._declared[variable.name] += 1
        for function in self._functions.get(variable.name, ()) if self._declared[variable.name] <= _MOST else ():
            if function.start >= declaration.end and (function, variable.name) not in self._hidden:
                yield Edit(function.body_start + 1, function.body_start + 1, f" {variable.local};")


def at_namespace_scope(source: CudaSource, offset: int) -> bool:
    """Return whether only namespaces and `extern "C"` hold the offset, by brackets: the grammar may miss functions."""
    if source.macro_at(offset) or source.function_at(offset):
        return False
    offsets, outside = _scopes(source)
    return outside[bisect_left(offsets, offset) - 1]


@lru_cache(maxsize=1)
def _scopes(source: CudaSource) -> tuple[list[int], list[bool]]:
    """Return the offset of each brace, and whether only namespaces and `extern "C"` are open after it."""
    offsets, outside, opened = [-1], [True], list[bool]()
    for match in re.finditer(r"[{}]", source.masked):
        if match.group() == "{":
            before = source.masked[max(0, match.start() - 200) : match.start()]
            opened.append(outside[-1])
            outside.append(outside[-1] and _OUTSIDE.search(before) is not None)
        else:
            outside.append(opened.pop() if opened else True)
        offsets.append(match.start())
    return offsets, outside


_WORD = re.compile(r"\b__(?:constant|device|managed)__\b")
_NAME = re.compile(r"(\w+)\s*(?:\[.*)?\Z", re.DOTALL)
_NEXT = re.compile(r"[;({]")
_HEAD = re.compile(r"(?:\b(?:alignas|__align__|__attribute__)\s*\([^;{}]*?\)(?=\s)|[^;{}()=\[])*")
"""The words before the brackets, the initialiser or the end; before the parameters of a function."""
_TYPE = re.compile(r"\b(?:struct|class|union|enum)\b")
_OTHERS = re.compile(r"\b(?:extern|template|inline|using|typedef|friend)\b")


@dataclass(frozen=True)
class _Declaration:
    """Variables in one declaration; `start` is that of its first word of CUDA, `end` that of its semicolon."""

    start: int
    end: int
    names: tuple[str, ...]
    constant: bool


def at_file_scope(source: CudaSource) -> Iterator[Edit]:
    """Yield, behind each declaration, a word in a section with the size of its constants, and the places of all."""
    for one in _declarations(source):
        text = ""
        if one.constant:
            sizes = " + ".join(f"sizeof({name})" for name in one.names)
            attribute = f'__attribute__((used, section("{CONSTANTS}")))'
            text = f" static const unsigned long cuemu_constant_{one.names[0]} {attribute} = {sizes};"
        kind = "kConstant" if one.constant else "kVariable"
        places = "".join(f" CUEMU_VARIABLE({name}, {kind})" for name in one.names)
        yield Edit(one.start, one.start, "CUEMU_KEPT ")
        yield Edit(one.end + 1, one.end + 1, f"{text} CUEMU_GAPS({one.names[0]}){places}")


def _declarations(source: CudaSource) -> Iterator[_Declaration]:
    flat = blank_directives(source.masked) if _WORD.search(source.masked) else ""
    ends, past = [mark.end() for mark in re.finditer(r"[;{}]", flat)], 0
    for word in _WORD.finditer(flat):
        if (
            word.start() >= past
            and (found := _declaration(flat, word, ends))
            and at_namespace_scope(source, word.start())
        ):
            past = found.end  # another word may stand in the same declaration
            yield found


def _declaration(flat: str, word: re.Match[str], ends: list[int]) -> _Declaration | None:
    head = _HEAD.match(flat, word.end(), word.end() + LONGEST)
    past = head.end() if head else len(flat)
    if flat[past : past + 1] not in (";", "=", "[", "{"):  # a function
        return None
    last = bisect_left(ends, word.start() + 1) - 1
    words = flat[max(ends[last] if last >= 0 else 0, word.start() - LONGEST) : past]
    end = _end(flat, past)
    of_type = flat[past] == "{" and _TYPE.search(words)  # the names come behind the type
    start = matching(flat, past) + 1 if of_type else word.end()
    names = _names(flat, start, end) if 0 < start <= end and not _OTHERS.search(words) else ()
    return _Declaration(word.start(), end, names, "__constant__" in words) if names else None


def _names(masked: str, start: int, end: int) -> tuple[str, ...]:
    parts = split_commas(masked, start, end)
    found = (_NAME.search(re.split(r"[={]", masked[one:past], maxsplit=1)[0].rstrip()) for one, past in parts)
    return tuple(name[1] for name in found if name)


def _end(masked: str, start: int) -> int:
    """Return the offset of the semicolon that ends a declaration, past its initialiser; -1 without one."""
    while (found := _NEXT.search(masked, start)) and found.group() != ";":
        closing = matching(masked, found.start())
        if closing < 0:
            return -1
        start = closing + 1
    return found.start() if found else -1
