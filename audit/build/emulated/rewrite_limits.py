"""Limits that a GPU's compiler or driver enforces and a host compiler does not: launch bounds, bytes of constants."""

from __future__ import annotations

import re
import struct
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

from audit.build.emulated.edits import Edit
from audit.build.emulated.rewrite_shared import at_namespace_scope
from audit.review.cuda_source import CudaSource
from audit.review.token_scan import LONGEST, blank_directives, matching, split_commas

MOST_CONSTANT_BYTES = 64 << 10
_BOUNDS = re.compile(r"\b__launch_bounds__\s*\(")
_CONSTANT = re.compile(r"\b__constant__\b[^;{}()=]*")
_NAME = re.compile(r"(\w+)\s*(?:\[.*)?\Z", re.DOTALL)
_NEXT = re.compile(r"[;({]")
_LONGEST_HEAD = 8 * LONGEST
_SECTION = ".nv.constants"
"""Not a C identifier, for which the linker would make symbols."""


def edits(source: CudaSource) -> Iterator[Edit]:
    """Yield a check at the start of each kernel with bounds, and a word in a section with each constant's size."""
    yield from _launch_bounds(source)
    yield from _constants(source)


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


def _launch_bounds(source: CudaSource) -> Iterator[Edit]:
    """Find kernels by brackets alone: a check in the body of another kernel would refuse right launches."""
    if not _BOUNDS.search(source.masked):
        return
    flat = blank_directives(source.masked)
    uses: dict[str, list[int]] = {}
    for word in re.finditer(r"\w+", flat) if source.macros else ():
        uses.setdefault(word.group(), []).append(word.end())
    for match in _BOUNDS.finditer(source.masked):
        closing = matching(source.masked, match.end() - 1)
        if not match.end() < closing < match.end() + LONGEST:
            continue
        bounds = re.sub(r"(?:\\?\s)+", " ", source.code[match.end() : closing]).strip()
        macro = source.macro_at(match.start())
        if not bounds:
            continue
        if macro and _body(source.masked, closing + 1, macro.end, bounds) < 0:  # a macro that is an annotation
            ends = () if macro.parameters else uses.pop(macro.name, ())
            starts = [_body(flat, use, len(flat), bounds) for use in ends]
        else:
            starts = [_body(source.masked, closing + 1, len(source.masked), bounds)]
        for start in starts:
            if start >= 0:
                yield Edit(start, start, f" ::cuemu::launch_bounds({bounds});")


def _body(masked: str, start: int, end: int, bounds: str) -> int:
    """Return the start of the body of the function with this head; -1 if there is none or a parameter hides a name."""
    parameters, first, end = "", start, min(end, start + _LONGEST_HEAD)
    while (found := _NEXT.search(masked, start, min(end, start + LONGEST))) and found.group() == "(":
        start = matching(masked, found.start()) + 1
        parameters = masked[found.end() : start - 1]
        if not 0 < start < first + _LONGEST_HEAD:
            return -1
    hidden = set(re.findall(r"\b(\w+)\b\s*(?:,|\Z)", parameters)) & set(re.findall(r"\w+", bounds))
    return found.end() if found and found.group() == "{" and not hidden else -1


def _constants(source: CudaSource) -> Iterator[Edit]:
    ends = [mark.end() for mark in re.finditer(r"[;{}]", source.masked)] if "__constant__" in source.masked else []
    for number, match in enumerate(_CONSTANT.finditer(source.masked)):
        end = _end(source.masked, match.end())
        last = bisect_left(ends, match.start() + 1) - 1
        before = source.masked[max(ends[last] if last >= 0 else 0, match.start() - LONGEST) : match.start()]
        plain = not re.search(r"\b(?:extern|template)\b", before + match.group())
        if end < 0 or not plain or not at_namespace_scope(source, match.start()):
            continue
        parts = split_commas(source.masked, match.start() + len("__constant__"), end)
        names = (
            _NAME.search(re.split(r"[={]", source.masked[start:stop], maxsplit=1)[0].rstrip()) for start, stop in parts
        )
        sizes = " + ".join(f"sizeof({name[1]})" for name in names if name)
        attribute = f'__attribute__((used, section("{_SECTION}")))'
        yield Edit(end + 1, end + 1, f" static const unsigned long cuemu_constant_{number} {attribute} = {sizes};")


def _end(masked: str, start: int) -> int:
    """Return the offset of the semicolon that ends a declaration, past its initialiser; -1 without one."""
    while (found := _NEXT.search(masked, start)) and found.group() != ";":
        closing = matching(masked, found.start())
        if closing < 0:
            return -1
        start = closing + 1
    return found.start() if found else -1
