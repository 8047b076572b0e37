"""Launch bounds, which a GPU's driver enforces and a host compiler ignores."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.build.emulated.edits import Edit
from audit.review.cuda_source import CudaSource
from audit.review.token_scan import LONGEST, blank_directives, matching

_BOUNDS = re.compile(r"\b__launch_bounds__\s*\(")
_NEXT = re.compile(r"[;({]")
_LONGEST_HEAD = 8 * LONGEST


def edits(source: CudaSource) -> Iterator[Edit]:
    """Yield a check at the start of each kernel with bounds. Kernels are found by brackets alone: a check in the body
    of another kernel would refuse right launches."""
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
