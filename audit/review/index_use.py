"""The launch axes that a kernel turns into the index of a store.

An index of an axis is an expression made of `blockIdx` and `threadIdx` of that axis and of no other. It counts when
it reaches the address of a store, through variables and through device functions of the same file. A variable that
a loop moves on is no longer such an index: a strided loop covers an axis whatever the launch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, TypeAlias

from tree_sitter import Node

from audit.review.cuda_source import CudaSource, Function

Axis = Literal["x", "y", "z"]
_Trace: TypeAlias = frozenset[tuple[str, str, int]]

Known: TypeAlias = dict[tuple[str, int, int, tuple[_Trace, ...]], tuple[dict[Axis, int], _Trace]]
"""What device functions of one source store and return, by name, place, depth and what their arguments carry."""

_NOTHING: _Trace = frozenset()
_POINTER: _Trace = frozenset({("pointer", "", 0)})
_BUILTIN = re.compile(r"(blockIdx|threadIdx)\s*\.\s*([xyz])")
_OTHER_AXIS = re.compile(r"blockIdx\s*\.\s*[yz]")
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"})
_PLACES = frozenset({"subscript_expression", "pointer_expression", "parenthesized_expression", "field_expression"})
_SILENT = frozenset({"printf", "assert", "__assert_fail", "__trap", "sizeof"})
_STORING_CALL = re.compile(r"atomic|store|Store|copy|write|stcs|stcg|stwt")
_DEPTH = 5
_MOST_KINDS = 10  # of what a value can carry, but for the lines of its indices, of which the first counts
_MOST_CALLS = 500  # of device functions that are followed, in one source
_LEVELS = 200  # of nesting; what lies deeper carries nothing, so the rule is silent about it


@dataclass
class _Frame:
    """One function while it is read: what its names carry, the first line of each axis that is stored by, its value."""

    source: CudaSource
    depth: int
    names: dict[str, _Trace]
    moved: frozenset[str]
    level: int
    known: Known
    stored: dict[Axis, int] = field(default_factory=dict)
    returned: _Trace = _NOTHING

    def keep(self, axis: Axis, line: int) -> None:
        self.stored[axis] = min(line, self.stored.get(axis, line))


def index_uses(source: CudaSource, kernel: Function, known: Known) -> dict[Axis, int]:
    """Return the line of the first index of each axis that addresses a store of this kernel, in the order of the axes.

    `known` grows with each call and belongs to one source.
    """
    if not _OTHER_AXIS.search(source.masked):
        return {}
    arguments = [_POINTER if parameter.is_pointer else _NOTHING for parameter in kernel.parameters]
    frame = _Frame(source, 0, {}, frozenset(), 0, known)
    return dict(sorted(_read(kernel, arguments, frame).stored.items()))


def _read(function: Function, arguments: list[_Trace], caller: _Frame) -> _Frame:
    source = caller.source
    names = {parameter.name: trace for parameter, trace in zip(function.parameters, arguments, strict=False)}
    moved = _moved(source.masked[function.body_start : function.end])
    frame = _Frame(source, caller.depth + 1, names, moved, caller.level, caller.known)
    _trace(function.body, frame)
    return frame


def _moved(body: str) -> frozenset[str]:
    """Return names that are stepped: `i += s`, `i++`, `++i`, `i = i + s`."""
    stepped = re.findall(r"\b(\w+)\s*(?:[-+*/|&^]|<<|>>)=|\b(\w+)\s*(?:\+\+|--)|(?:\+\+|--)\s*(\w+)", body)
    renewed = re.findall(r"\b(\w+)\s*=\s*\1\b", body)
    return frozenset(name for group in stepped for name in group if name) | frozenset(renewed)


def _trace(node: Node, frame: _Frame) -> _Trace:
    """Return the trace of an expression's value; statements are walked for their effects."""
    if frame.level > _LEVELS:
        return _NOTHING
    frame.level += 1
    found = _HANDLERS.get(node.type, _children)(node, frame)
    frame.level -= 1
    return found


def _children(node: Node, frame: _Frame) -> _Trace:
    found = _NOTHING
    for child in node.named_children:
        found |= _trace(child, frame)
    return found if len(found) <= _MOST_KINDS else frozenset({each[:2]: each for each in sorted(found)[::-1]}.values())


def _text(node: Node, frame: _Frame) -> str:
    return frame.source.masked[node.start_byte : node.end_byte]


def _field(node: Node, frame: _Frame) -> _Trace:
    if builtin := _BUILTIN.fullmatch(_text(node, frame)):
        return frozenset({(builtin[1], builtin[2], 0)})
    inner = node.child_by_field_name("argument")
    return _trace(inner, frame) if inner else _NOTHING


def _binary(node: Node, frame: _Frame) -> _Trace:
    operator = node.child_by_field_name("operator")
    found = _children(node, frame)
    if operator is None or operator.type not in _ARITHMETIC:
        return _NOTHING  # a comparison guards, it does not address
    axes = {(source, axis) for source, axis, _ in found if source in ("blockIdx", "threadIdx")}
    for axis in "yz":
        if axes == {("blockIdx", axis), ("threadIdx", axis)} and not any(each[:2] == ("index", axis) for each in found):
            found |= {("index", axis, node.start_point[0] + 1)}
    return found


def _bind(name: Node, value: _Trace, frame: _Frame) -> None:
    while name.type != "identifier" and (inner := name.child_by_field_name("declarator")):
        name = inner
    if name.type in ("pointer_declarator", "reference_declarator"):
        name = name.named_children[-1]
    label = _text(name, frame)
    carried = _POINTER & value if label in frame.moved else value
    frame.names[label] = frame.names.get(label, _NOTHING) | carried


def _declared(node: Node, frame: _Frame) -> _Trace:
    name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
    if name and value:
        _bind(name, _trace(value, frame), frame)
    return _NOTHING


def _assigned(node: Node, frame: _Frame) -> _Trace:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = _trace(right, frame) if right else _NOTHING
    if left is not None and left.type == "identifier":
        _bind(left, value, frame)
    elif left is not None:
        _store(_address(left, frame), frame)
    return value


def _updated(node: Node, frame: _Frame) -> _Trace:
    target = node.child_by_field_name("argument")
    if target is not None and target.type != "identifier":
        _store(_address(target, frame), frame)
    return _NOTHING


def _store(address: _Trace, frame: _Frame) -> None:
    for kind, axis, line in address:
        if kind == "index":
            frame.keep("y" if axis == "y" else "z", line)


def _address(node: Node, frame: _Frame) -> _Trace:
    """Return the trace of an lvalue's address."""
    found, places = _NOTHING, [node]
    while places:
        place = places.pop()
        if place.type in _PLACES:
            places += place.named_children
        else:
            found |= _trace(place, frame)
    return found


def _pointed(node: Node, frame: _Frame) -> _Trace:
    inner = node.child_by_field_name("argument")
    if inner is None:
        return _NOTHING
    return _address(inner, frame) | _POINTER if _text(node, frame).startswith("&") else _value_of(inner, frame)


def _value_of(node: Node, frame: _Frame) -> _Trace:
    """Return a value read from memory carries nothing of the address it was read from."""
    _children(node, frame)
    return _NOTHING


def _returned(node: Node, frame: _Frame) -> _Trace:
    frame.returned |= _children(node, frame)
    return _NOTHING


def _call(node: Node, frame: _Frame) -> _Trace:
    called, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    name = re.split(r"::|\.|->", _text(called, frame).split("<")[0])[-1].strip() if called else ""
    if name in _SILENT or listed is None:
        return _NOTHING
    arguments = [_trace(child, frame) for child in listed.named_children]
    devices = (each for each in frame.source.by_name.get(name, ()) if each.kind == "device")
    visible = list(islice(devices, 2))
    if len(visible) == 1 and frame.depth < _DEPTH:
        key = (name, visible[0].start, frame.depth, tuple(arguments))
        if key not in frame.known and len(frame.known) < _MOST_CALLS:
            inner = _read(visible[0], arguments, frame)
            frame.known[key] = (inner.stored, inner.returned)
        stored, returned = frame.known.get(key, ({}, _NOTHING))
        for axis, line in stored.items():
            frame.keep(axis, line)
        return returned
    found = _NOTHING.union(*arguments)
    for argument in arguments:
        if _STORING_CALL.search(name) and argument & _POINTER:
            _store(argument, frame)
    return found


_HANDLERS: dict[str, Callable[[Node, _Frame], _Trace]] = {
    "identifier": lambda node, frame: frame.names.get(_text(node, frame), _NOTHING),
    "field_expression": _field,
    "binary_expression": _binary,
    "init_declarator": _declared,
    "assignment_expression": _assigned,
    "update_expression": _updated,
    "subscript_expression": _value_of,
    "pointer_expression": _pointed,
    "return_statement": _returned,
    "call_expression": _call,
}
