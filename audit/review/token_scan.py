"""A scan of C++ text below the level of a grammar: comments, literals, brackets, macros.

A grammar does not look into `#define` bodies, and a comment or a string may say anything; this module answers
for both. Every text it returns is as long as its input and has its line breaks in the same places.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache

# It first asks for a character that one of its four kinds begins with: most of a text is refused by that alone.
_HIDDEN = re.compile(
    r"""(?=[/"'\duULR])(?:(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
      | (?P<raw>(?<!\w)(?:u8|[uUL])?R"(?P<fence>[^()\\\s"]{0,16})\(.*?(?:\)(?P=fence)"|\Z))
      | (?P<number>\b\d(?:'?[\w.])*)
      | (?P<literal>"(?:\\(?:\r\n|.|\Z)|[^"\\\n])*+(?:"|$)|'(?:\\(?:\r\n|.|\Z)|[^'\\\n])*+(?:'|$)))""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# A backslash that continues a line stays, so that a macro remains one logical line.
_BLANKED = re.compile(r"[^\n\r\\]+|\\(?!\r?\n)")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<word>\w+)(?P<rest>(?:\\\r?\n|[^\n])*)", re.MULTILINE)
_DEFINED = re.compile(r"[ \t]+(?P<name>\w+)(?P<parameters>\([^()]*\))?")
_CLOSED = re.compile(r"""(["'])(?:\\(?:\r\n|.)|[^\\\n])*\1""", re.DOTALL)
_LONGEST_TEMPLATE = 500  # characters of template arguments
LONGEST = 1000  # characters of a kernel expression, and of a launch configuration
_MOST_DIGITS = 64
_BRACKET = re.compile(r"[()\[\]{}]")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Masked:
    """Two views of one text."""

    code: str  # with comments blanked
    masked: str  # with comments and what stands inside string and character literals blanked


@dataclass(frozen=True)
class Macro:
    """A `#define`; start and end are offsets of the whole logical line, body_start of its replacement list."""

    name: str
    parameters: tuple[str, ...]
    start: int
    body_start: int
    end: int


def blank(text: str) -> str:
    """Spaces for everything except line breaks and the backslashes that continue a line."""
    return _BLANKED.sub(lambda match: " " * len(match[0]), text)


def mask(text: str) -> Masked:
    """Blank comments, literals and what an `#if 0` disables. Unterminated literals end with their line."""
    code: list[str] = []
    masked: list[str] = []
    position = 0
    for match in _HIDDEN.finditer(text):
        start, end = match.span()
        if match["number"]:
            continue
        plain, hidden = text[position:start], match.group()
        code += [plain, blank(hidden) if match["comment"] else hidden]
        masked += [plain, _hide(hidden, comment=match["comment"] is not None, raw=match["raw"] is not None)]
        position = end
    rest = text[position:]
    return _without_disabled(Masked("".join((*code, rest)), "".join((*masked, rest))))


def unclosed(code: str) -> int | None:
    """Return the offset of the first literal that ends with its line, which no C++ compiler takes; None where there is
    none. Directives and what stands within `#if` are left out: a compiler may not read them. `code` has no comments."""
    depth, at = 0, 0
    text = blank_directives(code)
    for match in _HIDDEN.finditer(text):
        if not match["literal"] or _CLOSED.fullmatch(match[0]):
            continue
        if match[0].rstrip().endswith("\\"):  # a compiler may take it for a continued line
            return None
        for directive in _DIRECTIVE.finditer(code, at, match.start()):
            depth += directive["word"].startswith("if") - (directive["word"] == "endif")
        at = match.start()
        if not depth:
            return at
    return None


def _hide(hidden: str, *, comment: bool, raw: bool) -> str:
    if comment:
        return blank(hidden)
    if raw:  # an ordinary empty literal, because a raw one may span lines
        opening = hidden.index('"')
        return " " * opening + '""' + blank(hidden[opening + 2 :])
    closed = len(hidden) > 1 and hidden[-1] == hidden[0]
    inner = hidden[1:-1] if closed else hidden[1:]
    return hidden[0] + blank(inner) + (hidden[-1] if closed else "")


def _without_disabled(views: Masked) -> Masked:
    """Blank the branches of `#if 0`, which no compiler sees."""
    if not re.search(r"#[ \t]*if[ \t]+0\b", views.masked):
        return views
    spans: list[tuple[int, int]] = []
    depth, disabled_at, start = 0, 0, 0
    for match in _DIRECTIVE.finditer(views.masked):
        word = match["word"]
        if word in ("if", "ifdef", "ifndef"):
            depth += 1
            if not disabled_at and word == "if" and match["rest"].strip() == "0":
                disabled_at, start = depth, match.end()
        elif word in ("else", "elif", "endif"):
            if disabled_at == depth and disabled_at:
                spans.append((start, match.start()))
                disabled_at = 0
            depth -= word == "endif"
    return Masked(blanked(views.code, spans), blanked(views.masked, spans))


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text with everything between these offsets blank; spans are in order and may hold each other."""
    pieces, position = [], 0
    for start, end in spans:
        if end > position:
            pieces += [text[position : max(position, start)], blank(text[max(position, start) : end])]
            position = end
    return "".join((*pieces, text[position:]))


def line_of(text: str, offset: int) -> int:
    """Return the line that holds an offset of a text, from 1."""
    return bisect_left(_breaks(text), offset) + 1


@lru_cache(maxsize=8)
def _breaks(text: str) -> array[int]:
    return array("q", (match.start() for match in re.finditer("\n", text)))


def blank_directives(masked: str) -> str:
    """Return the masked text without its preprocessor lines."""
    return _DIRECTIVE.sub(lambda match: re.sub(r"[^\n\r]", " ", match.group()), masked)


def macros(masked: str) -> tuple[Macro, ...]:
    """Return every `#define` in order."""
    found = []
    for match in _DIRECTIVE.finditer(masked):
        head = _DEFINED.match(match["rest"]) if match["word"] == "define" else None
        if head:
            inside = (head["parameters"] or "").strip("()")
            names = tuple(name.strip() for name in inside.replace("\\", " ").split(",") if name.strip())
            body_start = match.start("rest") + head.end()
            found.append(Macro(head["name"], names, match.start(), body_start, match.end()))
    return tuple(found)


def macro_at(found: tuple[Macro, ...], offset: int) -> Macro | None:
    """Return the macro definition that holds the offset, or None."""
    index = bisect_right(found, offset, key=lambda macro: macro.start) - 1
    return found[index] if index >= 0 and offset < found[index].end else None


def matching(masked: str, opening: int) -> int:
    """Return the offset of the bracket that closes the one at `opening`, or -1 where none does."""
    return _pairs(masked)[opening]


@lru_cache(maxsize=8)
def _pairs(masked: str) -> array[int]:
    """For each offset of an opening bracket that of the bracket that closes it, else -1: one scan for all of a text."""
    found = array("q", [-1]) * len(masked)
    opened: list[tuple[int, str]] = []
    for match in _BRACKET.finditer(masked):
        bracket = match.group()
        if bracket in _CLOSERS:
            opened.append((match.start(), _CLOSERS[bracket]))
        elif opened and opened[-1][1] == bracket:
            found[opened.pop()[0]] = match.start()
        else:
            opened.clear()  # no bracket that is open here closes in order
    return found


def matching_back(masked: str, closing: int) -> int:
    """Return the offset of the bracket that opens the one at `closing` (`)`, `]` or `>`), or -1 (none within reach)."""
    pairs = {")": "(", "]": "[", "}": "{", ">": "<"}
    stack, offset = [pairs[masked[closing]]], closing
    floor = max(0, closing - LONGEST)
    while offset > floor:
        offset -= 1
        character = masked[offset]
        if character == ";":
            return -1
        if masked.startswith("<<", offset - 1):  # a shift: no template opens twice in one place
            offset -= 1
            continue
        if character == stack[-1]:
            stack.pop()
            if not stack:
                return offset
        elif character in ")]}" or (character == ">" and stack[-1] == "<" and masked[offset - 1] != "-"):
            stack.append(pairs[character])
    return -1


def split_commas(masked: str, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges between the commas of the outermost level; commas in brackets and in template arguments do not count."""
    ranges, depth, begin, offset = [], 0, start, start
    while offset < end:
        character = masked[offset]
        if character == "<" and depth == 0:
            offset = _past_template(masked, offset, end)
            continue
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            ranges.append((begin, offset))
            begin = offset + 1
        offset += 1
    ranges.append((begin, end))
    return ranges


def _past_template(masked: str, opening: int, end: int) -> int:
    """Past the `>` of template arguments that open here, or past the `<` where this is a comparison or a shift."""
    depth = round_depth = 0
    for offset in range(opening, min(end, opening + _LONGEST_TEMPLATE)):
        character = masked[offset]
        round_depth += (character in "([{") - (character in ")]}")
        if round_depth < 0 or character == ";":
            break
        if round_depth == 0:
            depth += (character == "<") - (character == ">")
            if depth == 0:
                follows = masked[offset + 1 : min(end, offset + _LONGEST_TEMPLATE)].lstrip()[:1]
                return offset + 1 if follows and (follows in "({:*&," or follows.isidentifier()) else opening + 1
    return opening + 1


def whole_number(literal: str) -> int | None:
    """Return the value of a C++ literal without its suffix: 0x is hexadecimal, a leading 0 octal.

    None for `089`, and for more digits than any type of C++ holds.
    """
    if len(literal) > _MOST_DIGITS:
        return None
    if literal[:2] in ("0x", "0X"):
        return int(literal, 16)
    if not literal.startswith("0"):
        return int(literal)
    return int(literal, 8) if not set(literal) & {"8", "9"} else None
