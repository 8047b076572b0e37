"""Shared memory in C++: a reference into the block's arena, a pointer where the launch gives the size.

C++ cannot tell a variable at namespace scope that belongs to the running block, so each function that names one
gets its own reference or pointer at the start of its body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from audit.build.emulated.edits import Edit
from audit.review.cuda_source import CudaSource, SharedDeclaration

_OUTSIDE = re.compile(r"(?:\bnamespace(?:\s+[\w:]+)?|\bextern\s*\"\s*\")\s*\Z")


@dataclass(frozen=True)
class _Variable:
    """A shared variable; `before` must stand once in the scope of the declaration, `local` makes the name usable."""

    name: str
    before: str
    local: str
    placeholder: str


def edits(source: CudaSource) -> Iterator[Edit]:
    """The edits for every declaration. Types are numbered through the file, so that no two share a slot."""
    number = 0
    for declaration in source.shared:
        variables = []
        for index in range(len(declaration.names_and_dims)):
            number += 1
            make = _dynamic if declaration.dynamic else _static
            variables.append(make(declaration, index, _suffix(source, declaration, index, number)))
        if at_namespace_scope(source, declaration.start):
            text = [each.before for each in variables] + [each.placeholder for each in variables]
            yield from (edit for each in variables for edit in _in_functions(source, declaration, each))
        else:
            text = [part for each in variables for part in (each.before, each.local)]
        yield Edit(declaration.start, declaration.end, "; ".join(part for part in text if part))


def _suffix(source: CudaSource, declaration: SharedDeclaration, index: int, number: int) -> str:
    """A number; with the name behind it where a macro declares the name it is given, perhaps twice in one scope."""
    macro = source.macro_at(declaration.start)
    name = declaration.names_and_dims[index][0]
    return f"{number}_##{name}" if macro and name in macro.parameters else str(number)


def _static(declaration: SharedDeclaration, index: int, suffix: str) -> _Variable:
    name, dims = declaration.names_and_dims[index]
    kind = f"cuemu_type_{suffix}"
    before = f"typedef {_element(declaration, index)} {kind}{' ' + dims if dims else ''}"
    local = f"{kind}& {name} = ::cuemu::shared<{kind}, struct cuemu_tag_{suffix}>()"
    return _Variable(name, before, local, placeholder=f"struct cuemu_tag_{suffix}")


def _dynamic(declaration: SharedDeclaration, index: int, suffix: str) -> _Variable:
    name, dims = declaration.names_and_dims[index]
    element, before = _element(declaration, index), ""
    if inner := dims.partition("]")[2].strip():
        before = f"typedef {element} cuemu_type_{suffix}{inner}"
        element = f"cuemu_type_{suffix}"
    local = f"{element}* {name} = static_cast<{element}*>(::cuemu::dynamic_shared())"
    return _Variable(name, before, local, placeholder=f"static ::cuemu::DynamicShared<{element}> {name}")


def _element(declaration: SharedDeclaration, index: int) -> str:
    volatile = "volatile " if declaration.volatile else ""
    return f"{volatile}{declaration.base_type}{declaration.pointers[index]}"


def _in_functions(source: CudaSource, declaration: SharedDeclaration, variable: _Variable) -> Iterator[Edit]:
    used = re.compile(rf"(?<![.\w])(?<!->){re.escape(variable.name)}\b")
    for function in source.functions:
        named = any(parameter.name == variable.name for parameter in function.parameters)
        if function.kind == "host" or function.start < declaration.end or named:
            continue
        redeclared = any(
            function.body_start < other.start < function.end and (variable.name in dict(other.names_and_dims))
            for other in source.shared
        )
        if not redeclared and used.search(source.masked, function.body_start, function.end):
            yield Edit(function.body_start + 1, function.body_start + 1, f" {variable.local};")


def at_namespace_scope(source: CudaSource, offset: int) -> bool:
    """Whether only namespaces and `extern "C"` stand around the offset. Asked of the brackets: the grammar may have
    lost the function to a syntax error."""
    if source.macro_at(offset) or source.function_at(offset):
        return False
    depth = 0
    for match in reversed(list(re.finditer(r"[{}]", source.masked[:offset]))):
        depth += 1 if match.group() == "}" else -1
        if depth < 0:
            if not _OUTSIDE.search(source.masked[max(0, match.start() - 200) : match.start()]):
                return False
            depth = 0
    return True
