"""Numbers of blocks and threads that a launch has along each axis, as far as the source gives them as constants."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TypeAlias

from tree_sitter import Node

from audit.review.cuda_source import CudaSource, Function, Launch
from audit.review.token_scan import split_commas, whole_number

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
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_WRITTEN = re.compile(r"\s*\.\s*([xyz])\s*([-+*/]?=)(?!=)\s*([^;]{0,200})")
_ASSIGNED, _STEPPED = re.compile(r"\s*(?:[-+*/%]|<<|>>)?=(?!=)"), re.compile(r"\s*(?:\+\+|--)")
_FIXED = re.compile(r"\bconst(?:expr)?\s+[\w:\s]{0,120}\b(?P<name>\w+)\s*[={]\s*(?P<value>[^;}]{0,200})")
_DEPTH, _LONGEST, _BLANKS = 6, 1000, 40  # of names that stand for names, and of characters


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
        self._local, self._declaring = _declarations(source, host)
        self._launches = source.launches_in(host)
        self._mentions: dict[str, list[int]] = {}
        for match in _WORD.finditer(source.masked, host.body_start, host.end):
            self._mentions.setdefault(match.group(), []).append(match.start())
        self._known: dict[tuple[str, int], Extents] = {}
        self._counted: dict[str, int] = {}

    def extents(self, expression: str, depth: int = 0) -> Extents:
        if len(expression) > _LONGEST:
            return UNKNOWN
        text = _unwrapped(expression)
        if depth > _DEPTH or "?" in text:
            return UNKNOWN
        if (text, depth) not in self._known:
            self._known[text, depth] = self._extents(text, depth)
        return self._known[text, depth]

    def _extents(self, text: str, depth: int) -> Extents:
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
        for at in self._mentions.get(name, ()):
            past = at + len(name)
            if source.masked[at - 1] == "." or source.masked[at - 2 : at] == "->":
                continue
            if written := _WRITTEN.match(source.masked, past, host.end):
                new = self._number(written[3], depth + 1) if written[2] == "=" else None
                values[written[1]] = new if new == values[written[1]] else None
            elif not self._harmless(at, past):
                return UNKNOWN
        return values["x"], values["y"], values["z"]

    def _harmless(self, at: int, past: int) -> bool:
        """Return whether a mention is a `dim3` declaration, a launch, or the reading of one axis."""
        if re.match(r"\s*\.\s*[xyz]\b", self._source.masked[past : past + 40]):
            return True
        last = bisect_right(self._launches, at, key=lambda each: each.configuration_start) - 1
        if last >= 0 and at < self._launches[last].end:
            return True
        return at in self._declaring

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
        if name not in self._counted:
            masked = self._source.masked
            self._counted[name] = sum(
                (masked[at - 1] != "." and bool(_ASSIGNED.match(masked, at + len(name))))
                or bool(_STEPPED.match(masked, at + len(name)))
                or masked[max(0, at - _BLANKS) : at].rstrip().endswith(("++", "--", "&"))
                for at in self._mentions.get(name, ())
            )
        return self._counted[name]

    def _constant(self, name: str) -> str | None:
        """Return the text of the one macro without parameters or constant at namespace scope; None for none."""
        bodies = _constants(self._source).get(name, [])
        return bodies[0] if len(bodies) == 1 else None


@lru_cache(maxsize=1)
def _constants(source: CudaSource) -> dict[str, list[str]]:
    """Return the texts of macros without parameters and of constants at namespace scope, by name."""
    found: dict[str, list[str]] = {}
    for macro in source.macros:
        found.setdefault(macro.name, []).append(source.code[macro.body_start : macro.end].strip())
    for match in _FIXED.finditer(source.masked):
        if source.function_at(match.start()) is None:
            found.setdefault(match["name"], []).append(match["value"].strip())
    return found


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


def _declarations(source: CudaSource, host: Function) -> tuple[dict[str, list[tuple[str, str]]], set[int]]:
    """For each name declared in the function: its type, and what follows the name ("(1, 2)", "= 256", "").

    Besides the offsets of all names that stand in a declaration and in no call there.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    declaring: set[int] = set()
    stack = [(host.body, False)]
    while stack:
        node, inside = stack.pop()
        if inside and not node.named_child_count:
            declaring.add(node.start_byte)
        inside = node.type == "declaration" or (inside and node.type not in ("call_expression", "compound_statement"))
        stack.extend((child, inside) for child in node.named_children)
        kind = node.child_by_field_name("type") if node.type == "declaration" else None
        for declarator in node.children_by_field_name("declarator") if kind else ():
            name: Node | None = declarator
            while name is not None and name.type != "identifier":
                name = name.child_by_field_name("declarator")
            if kind and name:
                tail = source.code[name.end_byte : declarator.end_byte].strip()
                label = source.masked[name.start_byte : name.end_byte]
                found.setdefault(label, []).append((source.masked[kind.start_byte : kind.end_byte], tail))
    return found, declaring
