"""What a GPU's compiler or driver holds a source to and a host compiler does not: launch bounds, bytes of constants."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from audit.build.emulated.edits import Edit
from audit.build.emulated.rewrite_shared import at_namespace_scope
from audit.review.cuda_source import CudaSource
from audit.review.launches import MOST
from audit.review.token_scan import blank_directives, matching, split_commas

MOST_CONSTANT_BYTES = 64 << 10
_BOUNDS = re.compile(r"\b__launch_bounds__\s*\(")
_CONSTANT = re.compile(r"\b__constant__\b[^;{}()=]*")
_NAME = re.compile(r"(\w+)\s*(?:\[.*)?\Z", re.DOTALL)
_NEXT = re.compile(r"[;({]")
_SECTION = "cuemu_constants"


def edits(source: CudaSource) -> Iterator[Edit]:
    """A check at the start of every kernel with bounds, and a word in a section for the size of every constant."""
    yield from _launch_bounds(source)
    yield from _constants(source)


def constant_bytes(library: Path) -> int:
    """How many bytes of `__constant__` data the source of a library declares."""
    data = library.read_bytes()
    table, (size, count, names) = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<3H", data, 58)
    sections = [struct.unpack_from("<IIQQQQ", data, table + index * size) for index in range(count)]
    texts = sections[names][4]
    for name, _, _, _, start, length in sections:
        if data.startswith(_SECTION.encode() + b"\0", texts + name):
            return sum(struct.unpack_from(f"<{length // 8}Q", data, start))
    return 0


def _launch_bounds(source: CudaSource) -> Iterator[Edit]:
    """Read by brackets alone: a check in the body of another kernel would refuse right launches."""
    flat = blank_directives(source.masked)
    for match in islice(_BOUNDS.finditer(source.masked), MOST):
        closing = matching(source.masked, match.end() - 1)
        bounds = re.sub(r"(?:\\?\s)+", " ", source.code[match.end() : closing]).strip()
        macro = source.macro_at(match.start())
        if closing < 0 or not bounds:
            continue
        if macro and _body(source.masked, closing + 1, macro.end, bounds) < 0:  # an annotation of the source's own
            uses = re.finditer(rf"\b{re.escape(macro.name)}\b", flat)
            places = [_body(flat, use.end(), len(flat), bounds) for use in islice(uses, MOST)]
            free = [place for place in places if place >= 0 and not macro.parameters]
        else:
            free = [_body(source.masked, closing + 1, len(source.masked), bounds)]
        for place in free:
            if place >= 0:
                yield Edit(place, place, f" ::cuemu::launch_bounds({bounds});")


def _body(masked: str, start: int, end: int, bounds: str) -> int:
    """Where the body of the function starts whose head goes on here; -1 if none does or a parameter hides a name."""
    parameters = ""
    while (found := _NEXT.search(masked, start, end)) and found.group() == "(":
        start = matching(masked, found.start()) + 1
        parameters = masked[found.end() : start - 1]
        if start <= 0:
            return -1
    hidden = set(re.findall(r"(\w+)\s*(?:,|\Z)", parameters)) & set(re.findall(r"\w+", bounds))
    return found.end() if found and found.group() == "{" and not hidden else -1


def _constants(source: CudaSource) -> Iterator[Edit]:
    for number, match in enumerate(islice(_CONSTANT.finditer(source.masked), MOST)):
        end = _end(source.masked, match.end())
        before = source.masked[max(source.masked.rfind(mark, 0, match.start()) for mark in ";{}") + 1 : match.start()]
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
    """The offset of the semicolon that ends a declaration, past the brackets of its initialiser; -1 without one."""
    while (found := _NEXT.search(masked, start)) and found.group() != ";":
        closing = matching(masked, found.start())
        if closing < 0:
            return -1
        start = closing + 1
    return found.start() if found else -1
