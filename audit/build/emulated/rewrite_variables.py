"""Variables of the device at file scope: the bytes of constants, and where each variable lies.

Behind its declaration each variable tells the runtime its place, and gaps follow it that nothing may touch
(`include/cuemu/variables.h`). Members of classes, templates, variables in functions and those that a macro declares are
left out.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from audit.build.emulated.edits import Edit
from audit.build.emulated.rewrite_shared import at_namespace_scope
from audit.review.cuda_source import CudaSource
from audit.review.token_scan import LONGEST, blank_directives, matching, split_commas

MOST_CONSTANT_BYTES = 64 << 10
_WORD = re.compile(r"\b__(?:constant|device|managed)__\b")
_NAME = re.compile(r"(\w+)\s*(?:\[.*)?\Z", re.DOTALL)
_NEXT = re.compile(r"[;({]")
_HEAD = re.compile(r"(?:\b(?:alignas|__align__|__attribute__)\s*\([^;{}]*?\)(?=\s)|[^;{}()=\[])*")
"""The words before the brackets, the initialiser or the end; before the parameters of a function."""
_TYPE = re.compile(r"\b(?:struct|class|union|enum)\b")
_OTHERS = re.compile(r"\b(?:extern|template|inline|using|typedef|friend)\b")
_SECTION = ".nv.constants"
"""Not a C identifier, for which the linker would make symbols."""


@dataclass(frozen=True)
class _Declaration:
    """Variables in one declaration; `start` is that of its first word of CUDA, `end` that of its semicolon."""

    start: int
    end: int
    names: tuple[str, ...]
    constant: bool


def edits(source: CudaSource) -> Iterator[Edit]:
    """Yield, behind each declaration, a word in a section with the size of its constants, and the places of all."""
    for one in _declarations(source):
        text = ""
        if one.constant:
            sizes = " + ".join(f"sizeof({name})" for name in one.names)
            attribute = f'__attribute__((used, section("{_SECTION}")))'
            text = f" static const unsigned long cuemu_constant_{one.names[0]} {attribute} = {sizes};"
        kind = "kConstant" if one.constant else "kVariable"
        places = "".join(f" CUEMU_VARIABLE({name}, {kind})" for name in one.names)
        yield Edit(one.start, one.start, "CUEMU_KEPT ")
        yield Edit(one.end + 1, one.end + 1, f"{text} CUEMU_GAPS({one.names[0]}){places}")


def constant_bytes(library: Path) -> int:
    """Return the bytes of `__constant__` data that the source of a library declares."""
    data = library.read_bytes()
    table, (size, count, names) = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<3H", data, 58)
    sections = [struct.unpack_from("<IIQQQQ", data, table + index * size) for index in range(count)]
    texts = sections[names][4]
    for name, _, _, _, start, length in sections:
        if data.startswith(_SECTION.encode() + b"\0", texts + name):
            return sum(struct.unpack_from(f"<{length // 8}Q", data, start))
    return 0


def _declarations(source: CudaSource) -> Iterator[_Declaration]:
    flat = blank_directives(source.masked) if _WORD.search(source.masked) else ""
    ends, past = [mark.end() for mark in re.finditer(r"[;{}]", flat)], 0
    for word in _WORD.finditer(flat):
        if (
            word.start() >= past
            and (found := _declaration(flat, word, ends))
            and at_namespace_scope(source, word.start())
        ):
            past = found.end  # another word may stand in the same declaration
            yield found


def _declaration(flat: str, word: re.Match[str], ends: list[int]) -> _Declaration | None:
    head = _HEAD.match(flat, word.end(), word.end() + LONGEST)
    past = head.end() if head else len(flat)
    if flat[past : past + 1] not in (";", "=", "[", "{"):  # a function
        return None
    last = bisect_left(ends, word.start() + 1) - 1
    words = flat[max(ends[last] if last >= 0 else 0, word.start() - LONGEST) : past]
    end = _end(flat, past)
    of_type = flat[past] == "{" and _TYPE.search(words)  # the names come behind the type
    start = matching(flat, past) + 1 if of_type else word.end()
    names = _names(flat, start, end) if 0 < start <= end and not _OTHERS.search(words) else ()
    return _Declaration(word.start(), end, names, "__constant__" in words) if names else None


def _names(masked: str, start: int, end: int) -> tuple[str, ...]:
    parts = split_commas(masked, start, end)
    found = (_NAME.search(re.split(r"[={]", masked[one:past], maxsplit=1)[0].rstrip()) for one, past in parts)
    return tuple(name[1] for name in found if name)


def _end(masked: str, start: int) -> int:
    """Return the offset of the semicolon that ends a declaration, past its initialiser; -1 without one."""
    while (found := _NEXT.search(masked, start)) and found.group() != ";":
        closing = matching(masked, found.start())
        if closing < 0:
            return -1
        start = closing + 1
    return found.start() if found else -1
