"""Replacements in a source that leave every other line on its line number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from audit.review.cuda_source import CudaSource


@dataclass(frozen=True)
class Edit:
    """Replace the characters from `start` up to `end` by `text`."""

    start: int
    end: int
    text: str


def apply(source: CudaSource, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made. Line breaks that an edit removes are put back after its text. An edit that
    overlaps an earlier one is left out."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if edit.start < position:
            continue
        lost = source.text.count("\n", edit.start, edit.end)
        line_break = "\\\n" if lost and source.macro_at(edit.start) else "\n"
        pieces += [source.text[position : edit.start], edit.text, line_break * lost]
        position = edit.end
    return "".join((*pieces, source.text[position:]))


def quoted(text: str) -> str:
    """Return a text as a literal of C++."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def line_marker(line: int, name: str) -> str:
    """Return the directive before the line with that number of a file."""
    return f"#line {line} {quoted(name)}\n"
