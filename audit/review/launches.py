"""Kernel launches, by one token scan: the grammar does not see those in macros and beside syntax errors."""

from __future__ import annotations

import re
from dataclasses import dataclass

from audit.review.token_scan import LONGEST, Macro, Masked, line_of, macro_at, matching, matching_back, split_commas

_SPACE_BACK = re.compile(r"(?:\s|\\\r?\n)*\Z")
_WORD_BACK = re.compile(r"(?:\w|##)+\Z")
_SPACE = re.compile(r"(?:\s|\\\r?\n)*")
_KEYWORDS = frozenset({"return", "else", "do", "if", "while", "for", "switch", "case", "typename"})


@dataclass(frozen=True)
class Launch:
    """One `kernel<<<configuration>>>(arguments)`."""

    kernel_text: str  # on one line, e.g. "ns::k<T, 256>"
    kernel_name: str  # plain, e.g. "k"
    configuration: tuple[str, ...]  # two to four: grid, block, bytes of dynamic shared memory, stream
    start: int  # offset of the kernel expression
    configuration_start: int  # offset past `<<<`
    configuration_end: int  # offset of `>>>`
    arguments_start: int  # offset past the opening round bracket
    end: int  # offset past the closing round bracket
    line: int  # of `start`
    in_macro: bool


def find(views: Masked, macros: tuple[Macro, ...]) -> tuple[Launch, ...]:
    """Return every launch in order. A `<<<` that opens no complete launch is left out."""
    found = [_read(match.start(), views, macros) for match in re.finditer("<<<", views.masked)]
    return tuple(sorted(filter(None, found), key=lambda launch: launch.start))


def one_line(code: str) -> str:
    """Return the text on one line, without line continuations and doubled blanks."""
    return " ".join(re.sub(r"\\\r?\n", " ", code).split())


def _read(opening: int, views: Masked, macros: tuple[Macro, ...]) -> Launch | None:
    masked = views.masked
    macro = macro_at(macros, opening)
    limit = macro.end if macro else len(masked)
    closing = _closing(masked, opening + 3, min(limit, opening + LONGEST))
    if closing < 0:
        return None
    start = _kernel_start(masked, opening, max(macro.body_start if macro else 0, opening - LONGEST))
    if start >= opening:
        return None
    bracket = _past_space(masked, closing + 3)
    if bracket >= limit or masked[bracket] != "(":
        return None
    end = matching(masked, bracket)
    if not 0 <= end < limit:
        return None
    configuration = split_commas(masked, opening + 3, closing)
    if not 2 <= len(configuration) <= 4:
        return None
    kernel_text = one_line(views.code[start:opening])
    return Launch(
        kernel_text=kernel_text,
        kernel_name=_plain_name(kernel_text),
        configuration=tuple(one_line(views.code[first:last]) for first, last in configuration),
        start=start,
        configuration_start=opening + 3,
        configuration_end=closing,
        arguments_start=bracket + 1,
        end=end + 1,
        line=line_of(masked, start),
        in_macro=macro is not None,
    )


def _closing(masked: str, start: int, limit: int) -> int:
    """Return the `>>>` outside all brackets that an argument list follows, or -1."""
    offset = start
    while offset < limit:
        character = masked[offset]
        if character in "([{":
            offset = matching(masked, offset)
            if offset < 0:
                return -1
        elif character in ")]};" or masked.startswith("<<<", offset):
            return -1
        elif masked.startswith(">>>", offset) and masked.startswith("(", _past_space(masked, offset + 3)):
            return offset
        offset += 1
    return -1


def _past_space(masked: str, offset: int) -> int:
    match = _SPACE.match(masked, offset, offset + LONGEST)
    return match.end() if match else offset


def _kernel_start(before: str, end: int, floor: int) -> int:
    """Return the offset where the kernel expression before `end` starts; `end` where none does from `floor` on."""
    position = start = end
    while True:
        position = _back(_SPACE_BACK, before, position)
        while position > floor and before[position - 1] in ")]>":
            opening = matching_back(before, position - 1)
            if opening < floor:
                return start
            bracketed, position = before[position - 1] == ")", _back(_SPACE_BACK, before, opening)
            if bracketed:
                start = opening
                break
        word = _back(_WORD_BACK, before, position)
        if word < floor or (word == position and start == end):
            return start
        start = word if word < position and before[word:position] not in _KEYWORDS else start
        position = _back(_SPACE_BACK, before, start)
        joined = next((mark for mark in ("::", "->", ".") if before.endswith(mark, floor, position)), "")
        if not joined or start != word:
            return start
        start = position = position - len(joined)


def _back(pattern: re.Pattern[str], before: str, position: int) -> int:
    match = pattern.search(before, max(0, position - 400), position)
    return match.start() if match else position


def _plain_name(kernel_text: str) -> str:
    text = kernel_text
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    match = re.match(r"(?:::|\s|\w+\s*(?:::|->|\.))*(?:template\s+)?((?:\w|##)+)", text)
    return match[1] if match else text
