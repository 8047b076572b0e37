"""Inline PTX to C++: every `asm` statement of a preprocessed source becomes calls of functions of the emulated device.

It works on what the preprocessor leaves, so that macros and headers beside the source need no care of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from audit.build.emulated.preprocess import MARKER, own_lines
from audit.build.emulated.ptx_instructions import Block
from audit.build.settings import DEVICE_PREFIX as NAME
from audit.model.errors import Unsupported
from audit.review.token_scan import mask, matching

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")
_START = re.compile(r"\s*(?:(?:volatile|__volatile__|inline)\b\s*)*\(")
_PIECE = re.compile(
    r'(?:u8|[uUL])?R"(?P<fence>[^()\\\s"]*)\((?P<raw>.*?)\)(?P=fence)"|"(?P<plain>(?:[^"\\]|\\.)*)"', re.DOTALL
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_OPERAND = re.compile(r'\s*"(?P<constraint>[^"]*)"\s*\(')
_CONSTRAINT = re.compile(r"(?P<role>[=+]?)&?(?P<kind>[rlfdhn])")
_MARKERS = re.compile(rf"^{MARKER.pattern}[^\n]*$", re.MULTILINE)
_NEAR = 4000  # characters, blank ones among them, between a statement and what ends the one before
_BEFORE = re.compile(r"(?:[;{}):]|\b(?:else|do))\s*\Z")


@dataclass(frozen=True)
class _Operand:
    role: str
    kind: str
    expression: str


@cache
def sources() -> tuple[bytes, ...]:
    """Return the modules that a translation is made by, for keys of what is kept."""
    return tuple(path.read_bytes() for path in sorted(Path(__file__).parent.glob("ptx*.py")))


def has_assembly(text: str) -> bool:
    """Return whether a preprocessed source has an `asm` of its own, not of a system header."""
    return next(_places(text), None) is not None


def translated(text: str, *, prefix: str) -> str:
    """Return a preprocessed source with C++ in the place of its inline PTX. Every line keeps its number. Raises
    Unsupported for an instruction that the emulated device does not take, and for assembly that is none of a GPU."""
    code = _MARKERS.sub(lambda marker: " " * len(marker.group()), text)
    masked = mask(code).masked
    pieces: list[str] = []
    position = 0
    for start, word_end, line in _places(text):
        opening = _START.match(masked, word_end)
        end = matching(masked, opening.end() - 1) if opening else -1
        if opening is None or end < 0 or not _BEFORE.search(masked[max(0, start - _NEAR) : start]):
            raise Unsupported("inline assembly", line=line)
        written = _statement(code, masked, opening.end(), end, line=line).replace(NAME, prefix)
        pieces += [text[position:start], written, _line_breaks(text[start:end])]
        position = end + 1
    return "".join((*pieces, text[position:]))


def _places(text: str) -> Iterator[tuple[int, int, int]]:
    """Start and end of each `asm`, and its line."""
    if not _ASM.search(text):
        return
    for offset, line, each in own_lines(text):
        for match in _ASM.finditer(each):
            yield offset + match.start(), offset + match.end(), line


def _line_breaks(replaced: str) -> str:
    """What keeps the lines behind a statement on their numbers: its line breaks, from its last marker on."""
    markers = list(_MARKERS.finditer(replaced))
    behind = replaced[markers[-1].end() :] if markers else replaced
    return (f"\n{markers[-1].group()}" if markers else "") + "\n" * behind.count("\n")


def _statement(code: str, masked: str, start: int, end: int, *, line: int) -> str:
    """C++ for what stands in the brackets of one `asm`."""
    sections = list(_split(masked, start, end, ":"))
    template = "".join(_text(piece) for piece in _PIECE.finditer(code, *sections[0]))
    operands: list[_Operand] = []
    for section in sections[1:3]:
        for first, last in _split(masked, *section, ","):
            if code[first:last].strip():
                operands.append(_operand(code, masked, first, last, line=line))
    kinds = [each.kind for each in operands]
    block = Block(kinds, line=line, escaped=len(sections) > 1)
    body = block.translated(template)
    return " ".join(("({", *_bound(operands), *block.declarations, *body, *_given(operands), "})"))


def _text(piece: re.Match[str]) -> str:
    if piece["raw"] is not None:
        return piece["raw"]
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), piece["plain"])


def _operand(code: str, masked: str, start: int, end: int, *, line: int) -> _Operand:
    found = _OPERAND.match(code, start, end)
    known = _CONSTRAINT.fullmatch(found["constraint"]) if found else None
    closing = matching(masked, found.end() - 1) if found else -1
    if found is None or known is None or not found.end() <= closing < end:
        raise Unsupported("inline assembly", line=line)
    return _Operand(known["role"], known["kind"], code[found.end() : closing].replace("\n", " "))


def _bound(operands: list[_Operand]) -> Iterator[str]:
    """One register for each operand; an lvalue is looked up once, before anything runs."""
    for number, each in enumerate(operands):
        register = f"{NAME}_{number}"
        if each.role:
            yield f"auto& {NAME}_to_{number} = ({each.expression});"
        source = f"{NAME}_to_{number}" if each.role == "+" else each.expression
        if each.role == "=":
            yield f"::{NAME}::ptx::Register {register} = ::{NAME}::ptx::unwritten;"
        elif each.kind == "n":
            yield f"constexpr ::{NAME}::ptx::Constant<static_cast<unsigned long long>({each.expression})> {register};"
        else:
            yield f"::{NAME}::ptx::Register {register} = ::{NAME}::ptx::taken<'{each.kind}'>({source});"


def _given(operands: list[_Operand]) -> Iterator[str]:
    for number, each in enumerate(operands):
        if each.role:
            yield f"::{NAME}::ptx::give<'{each.kind}'>({NAME}_to_{number}, {NAME}_{number});"


def _split(masked: str, start: int, end: int, mark: str) -> Iterator[tuple[int, int]]:
    """The ranges between marks outside of all brackets."""
    depth, begin = 0, start
    for offset in range(start, end):
        depth += (masked[offset] in "([{") - (masked[offset] in ")]}")
        if masked[offset] == mark and depth == 0:
            yield begin, offset
            begin = offset + 1
    yield begin, end
