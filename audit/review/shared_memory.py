"""Declarations of `__shared__` memory, in every spelling, wherever they stand.

Macros hide many of them from the grammar, so all are read by one token scan: the declaration runs to its semicolon
(or to the end of the macro), and its shape is read from its brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from audit.review.cuda_grammar import without_attributes
from audit.review.launches import one_line
from audit.review.token_scan import (
    LONGEST,
    Macro,
    Masked,
    blank_directives,
    line_of,
    macro_at,
    matching,
    split_commas,
)

_QUALIFIERS = r"static|extern|volatile|inline|thread_local|__device__|__shared__"
_BEFORE = re.compile(r"(?:[\w\s<>,]|::|\\\r?\n)*\Z")
_QUALIFIERS_BEFORE = re.compile(rf"(?:\b(?:{_QUALIFIERS})(?:\s|\\\r?\n)+)*\Z")
_DROPPED = re.compile(rf"\b(?:{_QUALIFIERS})\b")
_DECLARATOR = re.compile(r"(?P<type>.*?)(?P<stars>[*\s]*)(?P<name>(?:\w|##)+)\s*(?P<dims>(?:\[.*\])?)\s*", re.DOTALL)

_REACH = 400  # characters before `__shared__` that may belong to its declaration


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


def find(views: Masked, macros: tuple[Macro, ...]) -> tuple[SharedDeclaration, ...]:
    """Return every declaration in order; text that names `__shared__` and declares nothing is left out."""
    if "__shared__" not in views.masked:
        return ()
    plain = without_attributes(views.masked)
    flat = blank_directives(plain)
    found: list[SharedDeclaration] = []
    words = [match.span() for match in re.finditer(r"\b__shared__\b", plain)]
    for word, (following, _) in pairwise([*words, (len(plain), 0)]):
        macro = macro_at(macros, word[0])
        floor = max(macro.body_start if macro else 0, found[-1].end if found else 0)
        view, limit = (plain, macro.end) if macro else (flat, len(plain))
        limit = min(limit, following)  # no declaration reaches into the next
        if word[0] >= floor and (declaration := _read(view, views.code, word, floor=floor, limit=limit)):
            start = _with_attributes(declaration.start, floor, plain=plain, masked=views.masked)
            found.append(replace(declaration, start=start))
    return tuple(found)


def _with_attributes(start: int, floor: int, *, plain: str, masked: str) -> int:
    """Return the start with an `alignas(...)` that stands before it: blank in the one view, not in the other."""
    blank_from = floor + len(plain[floor:start].rstrip())
    return start - len(masked[blank_from:start].lstrip())


def _read(view: str, code: str, word: tuple[int, int], *, floor: int, limit: int) -> SharedDeclaration | None:
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
    base = one_line(_DROPPED.sub(" ", prefix + " " + after[0][0] if after else ""))
    if not base:
        return None
    words = set(re.findall(r"\w+", prefix + " " + after[0][0]))
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
        spelled = match["type"].strip() if _DROPPED.sub("", match["type"]).strip() else ""
        found.append((spelled, stars, match["name"], match["dims"]))
    return found
