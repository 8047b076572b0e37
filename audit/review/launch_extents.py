"""Numbers of blocks and threads that a launch has along each axis, as far as the source gives them as constants."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TypeAlias

from tree_sitter import Node

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import CudaSource, Function, Launch
from audit.review.rule import grouped
from audit.review.token_scan import matching, split_commas, whole_number

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
_WRITTEN = re.compile(r"\s*\.\s*([xyz])\s*([-+*/]?=)(?!=)\s*([^;]{0,200})")
_ASSIGNED, _STEPPED = re.compile(r"\s*(?:[-+*/%]|<<|>>)?=(?!=)"), re.compile(r"\s*(?:\+\+|--)")
_FIXED = re.compile(r"\bconst(?:expr)?\s+[\w:\s]{0,120}\b(?P<name>\w+)\s*[={]\s*(?P<value>[^;}]{0,200})")
_ENDS = frozenset({"declaration", "call_expression", "compound_statement"})
"""Of what stands around a name, the innermost of these says whether a declaration only names it."""
_DEPTH, _LONGEST, _BLANKS = 6, 1000, 40  # of names that stand for names, and of characters


def grid_and_block(reading: CudaReading, launch: Launch) -> tuple[Extents, Extents]:
    """Extents of the grid and of the block of a launch outside macros."""
    host = reading.source.function_at(launch.start)
    if host is None or launch.in_macro:
        return UNKNOWN, UNKNOWN
    scope = _scope(reading, host)
    return scope.extents(launch.configuration[0]), scope.extents(launch.configuration[1])


@lru_cache(maxsize=8)
def _scope(reading: CudaReading, host: Function) -> _Scope:
    """Read once a function: one with thousands of launches would be read thousands of times."""
    return _Scope(reading, host)


class _Scope:
    """The names that a host function sees."""

    def __init__(self, reading: CudaReading, host: Function) -> None:
        self._reading = reading
        self._source = reading.source
        self._host = host
        self._local = grouped((variable.name, variable) for variable in reading.variables_in(host))
        self._launches = reading.source.launches_in(host)
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
            kind, tail = declared[0].type_text, declared[0].tail
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
        for node in self._reading.mentioned(name, host):
            past = node.end_byte
            if written := _WRITTEN.match(source.masked, past, host.end):
                new = self._number(written[3], depth + 1) if written[2] == "=" else None
                values[written[1]] = new if new == values[written[1]] else None
            elif not self._harmless(node):
                return UNKNOWN
        return values["x"], values["y"], values["z"]

    def _harmless(self, node: Node) -> bool:
        """Return whether a mention is a `dim3` declaration, a launch, or the reading of one axis."""
        if re.match(r"\s*\.\s*[xyz]\b", self._source.masked[node.end_byte : node.end_byte + 40]):
            return True
        last = bisect_right(self._launches, node.start_byte, key=lambda each: each.configuration_start) - 1
        if last >= 0 and node.start_byte < self._launches[last].end:
            return True
        around = (each.type for each in self._reading.ancestors(node))
        return next((kind for kind in around if kind in _ENDS), "") == "declaration"

    def _number(self, expression: str, depth: int) -> int | None:
        text = _unwrapped(_CAST.sub("", _unwrapped(expression)))
        if literal := _LITERAL.fullmatch(text):
            return whole_number(literal[1])
        if depth > _DEPTH or not _NAME.fullmatch(text):
            return None
        declared = self._local.get(text, [])
        if declared:
            tail = declared[0].tail
            stable = len(declared) == 1 and self._changes(text) <= ("=" in tail)
            return self._number(tail.lstrip("= "), depth + 1) if stable else None
        if any(parameter.name == text for parameter in self._host.parameters):
            return None
        constant = self._constant(text)
        return self._number(constant, depth + 1) if constant else None

    def _changes(self, name: str) -> int:
        """Count assignments to a name, steps of it and uses of its address, its declaration included."""
        if name not in self._counted:
            masked, mentions = self._source.masked, self._reading.mentioned(name, self._host)
            self._counted[name] = sum(
                bool(_ASSIGNED.match(masked, node.end_byte))
                or bool(_STEPPED.match(masked, node.end_byte))
                or masked[max(0, node.start_byte - _BLANKS) : node.start_byte].rstrip().endswith(("++", "--", "&"))
                for node in mentions
            )
        return self._counted[name]

    def _constant(self, name: str) -> str | None:
        """Return the text of the one macro without parameters or constant at namespace scope; None for none."""
        bodies = _constants(self._source).get(name, [])
        return bodies[0] if len(bodies) == 1 else None


@lru_cache(maxsize=1)
def _constants(source: CudaSource) -> dict[str, list[str]]:
    """Return the texts of macros without parameters and of constants at namespace scope, by name."""
    macros = [(macro.name, source.code[macro.body_start : macro.end].strip()) for macro in source.macros]
    fixed = (match for match in _FIXED.finditer(source.masked) if source.function_at(match.start()) is None)
    return grouped([*macros, *((match["name"], match["value"].strip()) for match in fixed)])


def _unwrapped(expression: str) -> str:
    """Without round brackets around the whole."""
    text = expression.strip()
    while text.startswith("(") and matching(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    return text
