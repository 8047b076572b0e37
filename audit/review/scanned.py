"""Kernel launches and `__shared__` memory, by a token scan: the grammar does not see those in macros and beside errors.

A declaration runs to its semicolon, or to the end of its macro, and its shape is read from its brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from audit.review import token_scan
from audit.review.cuda_grammar import without_attributes
from audit.review.token_scan import LONGEST, Macro, Masked, line_of, macro_at, matching, split_commas

_SPACE_BACK = re.compile(r"(?:\s|\\\r?\n)*\Z")
_WORD_BACK = re.compile(r"(?:\w|##)+\Z")
_SPACE = re.compile(r"(?:\s|\\\r?\n)*")
_KEYWORDS = frozenset({"return", "else", "do", "if", "while", "for", "switch", "case", "typename"})
_QUALIFIERS = r"static|extern|volatile|inline|thread_local|__device__|__shared__"
_BEFORE = re.compile(r"(?:[\w\s<>,]|::|\\\r?\n)*\Z")
_QUALIFIERS_BEFORE = re.compile(rf"(?:\b(?:{_QUALIFIERS})(?:\s|\\\r?\n)+)*\Z")
_DROPPED = re.compile(rf"(?P<body>\{{.*\}})|\b(?:{_QUALIFIERS})\b", re.DOTALL)  # those of members stay
_DIMENSION = r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
_DECLARATOR = re.compile(
    rf"(?P<type>.*?)(?P<stars>[*\s]*)(?P<name>(?:\w|##)+)\s*(?P<dims>(?:{_DIMENSION}\s*)*)", re.DOTALL
)

_REACH = 400  # characters before `__shared__` that may belong to its declaration


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


def launches(views: Masked, macros: tuple[Macro, ...]) -> tuple[Launch, ...]:
    """Return every launch in order. A `<<<` that opens no complete launch is left out."""
    found = [_launch(match.start(), views, macros) for match in re.finditer("<<<", views.masked)]
    return tuple(sorted(filter(None, found), key=lambda launch: launch.start))


def one_line(code: str) -> str:
    """Return the text on one line, without line continuations and doubled blanks."""
    return " ".join(re.sub(r"\\\r?\n", " ", code).split())


def _launch(opening: int, views: Masked, macros: tuple[Macro, ...]) -> Launch | None:
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
            opening = token_scan.matching_back(before, position - 1)
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


@dataclass(frozen=True)
class SharedDeclaration:
    """One `__shared__` declaration."""

    start: int  # offset of its first token
    end: int  # offset of its semicolon, or of the end of its macro
    line: int  # of `start`
    base_type: str  # without `volatile`, e.g. "unsigned int"
    names_and_dims: tuple[tuple[str, str], ...]  # of each variable, e.g. ("tile", "[32][N + 1]")
    pointers: tuple[str, ...]  # of each variable the stars before its name, mostly ""
    dynamic: bool  # `extern`, memory whose size the launch gives
    volatile: bool


def shared_memory(views: Masked, macros: tuple[Macro, ...]) -> tuple[SharedDeclaration, ...]:
    """Return every declaration in order; text that names `__shared__` and declares nothing is left out."""
    if "__shared__" not in views.masked:
        return ()
    plain = without_attributes(views.masked)
    flat = token_scan.blank_directives(plain)
    found: list[SharedDeclaration] = []
    words = [match.span() for match in re.finditer(r"\b__shared__\b", plain)]
    for word, (following, _) in pairwise([*words, (len(plain), 0)]):
        macro = macro_at(macros, word[0])
        floor = max(macro.body_start if macro else 0, found[-1].end if found else 0)
        view, limit = (plain, macro.end) if macro else (flat, len(plain))
        limit = min(limit, following)  # no declaration reaches into the next
        if word[0] >= floor and (declaration := _declaration(view, views.code, word, floor=floor, limit=limit)):
            start = _with_attributes(declaration.start, floor, plain=plain, masked=views.masked)
            found.append(replace(declaration, start=start))
    return tuple(found)


def _with_attributes(start: int, floor: int, *, plain: str, masked: str) -> int:
    """Return the start with an `alignas(...)` that stands before it: blank in the one view, not in the other."""
    blank_from = floor + len(plain[floor:start].rstrip())
    return start - len(masked[blank_from:start].lstrip())


def _declaration(view: str, code: str, word: tuple[int, int], *, floor: int, limit: int) -> SharedDeclaration | None:
    end = _end(view, word[1], limit)
    if end < 0:
        return None
    floor = max(floor, word[0] - _REACH)
    before = view[floor : word[0]]
    qualified = _QUALIFIERS_BEFORE.search(before)
    start = floor + (qualified.start() if qualified else len(before))
    after = _declarators(view, word[1], end)
    if after and not after[0][0]:  # the type stands before, as in `float __shared__ tile[32];`
        spelled = _BEFORE.search(before)
        start = floor + (spelled.start() if spelled else len(before))
        start += len(view[start : word[0]]) - len(view[start : word[0]].lstrip())
    prefix = view[start : word[0]]
    spelled_type = f"{prefix} {after[0][0]}" if after else ""
    base = one_line(_DROPPED.sub(lambda word: word["body"] or " ", spelled_type))
    if not base:
        return None
    words = {word.group() for word in _DROPPED.finditer(spelled_type)}
    return SharedDeclaration(
        start=start,
        end=end,
        line=line_of(code, start),
        base_type=base,
        names_and_dims=tuple((name, dims) for _, _, name, dims in after),
        pointers=tuple(stars for _, stars, _, _ in after),
        dynamic="extern" in words,
        volatile="volatile" in words,
    )


def _end(view: str, start: int, limit: int) -> int:
    """Return the offset of the semicolon outside all brackets; the end of a macro without one; -1 where broken."""
    offset = start
    while offset < limit:
        character = view[offset]
        if character in "([{":
            offset = matching(view, offset)
            if offset < 0:
                return -1
        elif character == ";":
            return offset
        elif character in ")]}":
            return -1
        offset += 1
    if view.startswith("__shared__", limit):
        return -1
    return limit if limit < len(view) or view[start:].strip() else -1


def _declarators(view: str, start: int, end: int) -> list[tuple[str, str, str, str]]:
    """Type (of the first only), stars, name and dimensions of each variable; empty where the shape is unknown."""
    found = []
    for index, (first, last) in enumerate(split_commas(view, start, end)):
        text = one_line(view[first:last])
        match = _DECLARATOR.fullmatch(text) if len(text) <= LONGEST else None
        if not match or match["name"][0].isdigit() or (index and match["type"].strip()):
            return []
        stars = match["stars"].replace(" ", "")
        spelled = match["type"].strip() if _DROPPED.sub(r"\g<body>", match["type"]).strip() else ""
        found.append((spelled, stars, match["name"], match["dims"].rstrip()))
    return found
