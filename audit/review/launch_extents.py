"""Numbers of blocks and threads that a launch has along each axis, as far as the source gives them as constants."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

from tree_sitter import Node

from audit.review.arithmetic import whole_number
from audit.review.cuda_source import CudaSource, Function, Launch
from audit.review.token_scan import split_commas

# Along x, y and z: the number where the source gives it, None where it does not.
Extents: TypeAlias = tuple[int | None, int | None, int | None]

UNKNOWN: Extents = (None, None, None)
_LITERAL = re.compile(r"(\d+|0[xX][0-9a-fA-F]+)[uUlL]*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_TRIPLE = re.compile(r"(?:dim3|uint3)?\s*(?:\((?P<round>.*)\)|\{(?P<braced>.*)\})", re.DOTALL)
_ARITHMETIC = re.compile(r"[\w)\]]\s*(?:[-+*/%]|<<|>>)\s*[\w(]")
_NUMBER_CALL = re.compile(
    r"(?:[\w.:]|->)*\b(?:size|numel|dim|min|max|ceil|ceil_div|static_cast<[\w:\s]+>)\s*\(.*\)", re.DOTALL
)
_CAST = re.compile(r"^(?:static_cast\s*<[\w:\s]+>|\(\s*(?:unsigned\s+)?\w+\s*\))\s*(?=[(\w])")
_NUMBER_TYPE = re.compile(r"\b(?:int|unsigned|long|short|char|size_t|u?int(?:8|16|32|64)_t)\b")
_DEPTH = 6


def grid_and_block(source: CudaSource, launch: Launch) -> tuple[Extents, Extents]:
    """Extents of the grid and of the block of a launch outside macros."""
    host = source.function_at(launch.start)
    if host is None or launch.in_macro:
        return UNKNOWN, UNKNOWN
    scope = _scope(source, host)
    return scope.extents(launch.configuration[0]), scope.extents(launch.configuration[1])


@lru_cache(maxsize=8)
def _scope(source: CudaSource, host: Function) -> _Scope:
    """Read once a function: one with thousands of launches would be read thousands of times."""
    return _Scope(source, host)


class _Scope:
    """The names that a host function sees."""

    def __init__(self, source: CudaSource, host: Function) -> None:
        self._source = source
        self._host = host
        self._local = _declarations(source, host)

    def extents(self, expression: str, depth: int = 0) -> Extents:
        text = _unwrapped(expression)
        if depth > _DEPTH or "?" in text:
            return UNKNOWN
        if triple := _TRIPLE.fullmatch(text):
            return self._triple(triple["round"] if triple["round"] is not None else triple["braced"], depth)
        if _NAME.fullmatch(text):
            return self._named(text, depth)
        if _LITERAL.fullmatch(text) or _ARITHMETIC.search(text) or _NUMBER_CALL.fullmatch(text):
            return (self._number(text, depth), 1, 1)
        return UNKNOWN

    def _triple(self, inside: str, depth: int) -> Extents:
        parts = [inside[start:end] for start, end in split_commas(inside, 0, len(inside)) if inside.strip()]
        if len(parts) == 1 and not _LITERAL.fullmatch(parts[0].strip()):  # may copy another triple
            return self.extents(parts[0], depth + 1)
        numbers = [self._number(part, depth + 1) for part in parts]
        x, y, z = (*numbers, 1, 1, 1)[:3]
        return (x, y, z) if len(parts) <= 3 else UNKNOWN

    def _named(self, name: str, depth: int) -> Extents:
        declared = self._local.get(name, [])
        if len(declared) == 1:
            kind, tail = declared[0]
            if _NUMBER_TYPE.search(kind):
                return (self._number(name, depth), 1, 1)
            if "dim3" not in kind and "auto" not in kind:
                return UNKNOWN
            value = tail[1:] if tail.startswith("=") else f"dim3{tail or '()'}"
            initial = self.extents(value, depth + 1)
            return self._as_changed(name, initial, depth)
        parameter = next((each for each in self._host.parameters if each.name == name), None)
        if declared or parameter:
            number = parameter is not None and not declared and _NUMBER_TYPE.search(parameter.text)
            return (None, 1, 1) if number else UNKNOWN
        constant = self._constant(name)
        return self.extents(constant, depth + 1) if constant else UNKNOWN

    def _as_changed(self, name: str, initial: Extents, depth: int) -> Extents:
        """Return the extents after `name.y = ...`; unknown where the function hands the name to anything else."""
        source, host = self._source, self._host
        values: dict[str, int | None] = dict(zip("xyz", initial, strict=True))
        for match in re.finditer(rf"(?<![\w.])(?<!->){name}\b", source.masked[host.body_start : host.end]):
            at, past = host.body_start + match.start(), host.body_start + match.end()
            written = re.match(r"\s*\.\s*([xyz])\s*([-+*/]?=)(?!=)\s*([^;]*)", source.masked[past : host.end])
            if written:
                new = self._number(written[3], depth + 1) if written[2] == "=" else None
                values[written[1]] = new if new == values[written[1]] else None
            elif not self._harmless(at, past):
                return UNKNOWN
        return values["x"], values["y"], values["z"]

    def _harmless(self, at: int, past: int) -> bool:
        """Return whether a mention is a `dim3` declaration, a launch, or the reading of one axis."""
        source = self._source
        if re.match(r"\s*\.\s*[xyz]\b", source.masked[past : past + 40]):
            return True
        if any(each.configuration_start <= at < each.end for each in source.launches):
            return True
        node = source.tree.root_node.descendant_for_byte_range(at, past - 1)
        while node is not None and node.type not in ("declaration", "call_expression", "compound_statement"):
            node = node.parent
        return node is not None and node.type == "declaration"

    def _number(self, expression: str, depth: int) -> int | None:
        text = _unwrapped(_CAST.sub("", _unwrapped(expression)))
        if literal := _LITERAL.fullmatch(text):
            return whole_number(literal[1])
        if depth > _DEPTH or not _NAME.fullmatch(text):
            return None
        declared = self._local.get(text, [])
        if declared:
            stable = len(declared) == 1 and self._changes(text) <= ("=" in declared[0][1])
            return self._number(declared[0][1].lstrip("= "), depth + 1) if stable else None
        if any(parameter.name == text for parameter in self._host.parameters):
            return None
        constant = self._constant(text)
        return self._number(constant, depth + 1) if constant else None

    def _changes(self, name: str) -> int:
        """Count assignments to a name, steps of it and uses of its address, its declaration included."""
        changed = rf"(?<![\w.]){name}\s*(?:[-+*/%]|<<|>>)?=(?!=)|(?:\+\+|--|&)\s*{name}\b|\b{name}\s*(?:\+\+|--)"
        return len(re.findall(changed, self._source.masked[self._host.body_start : self._host.end]))

    def _constant(self, name: str) -> str | None:
        """Return the text of the one macro without parameters or constant at namespace scope; None for none."""
        source = self._source
        bodies = [source.code[each.body_start : each.end].strip() for each in source.macros if each.name == name]
        pattern = re.compile(rf"\bconst(?:expr)?\s+[\w:\s]*\b{name}\s*(?:=|\{{)\s*([^;}}]*)")
        for match in pattern.finditer(source.masked):
            if source.function_at(match.start()) is None:
                bodies.append(match[1].strip())
        return bodies[0] if len(bodies) == 1 else None


def _unwrapped(expression: str) -> str:
    """Without round brackets around the whole."""
    text = expression.strip()
    while text.startswith("(") and text.endswith(")"):
        depth = [0]
        for character in text:
            depth.append(depth[-1] + (character == "(") - (character == ")"))
        if 0 in depth[1:-1]:
            break
        text = text[1:-1].strip()
    return text


def _declarations(source: CudaSource, host: Function) -> dict[str, list[tuple[str, str]]]:
    """For each name declared in the function: its type, and what follows the name ("(1, 2)", "= 256", "")."""
    found: dict[str, list[tuple[str, str]]] = {}
    stack: list[Node] = []
    if body := source.tree.root_node.descendant_for_byte_range(host.body_start, host.end - 1):
        stack.append(body)
    while stack:
        node = stack.pop()
        stack.extend(node.named_children)
        kind = node.child_by_field_name("type") if node.type == "declaration" else None
        for declarator in node.children_by_field_name("declarator") if kind else ():
            name: Node | None = declarator
            while name is not None and name.type != "identifier":
                name = name.child_by_field_name("declarator")
            if kind and name:
                tail = source.code[name.end_byte : declarator.end_byte].strip()
                label = source.masked[name.start_byte : name.end_byte]
                found.setdefault(label, []).append((source.masked[kind.start_byte : kind.end_byte], tail))
    return found
