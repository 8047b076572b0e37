"""Where a line of a claimed source stood in the files that were imported: files joined into one, or a text in a row."""

from __future__ import annotations

import re
from collections.abc import Mapping

LINE = re.compile(r"\bline (\d+)\b(?! \()")
_MARK = re.compile(r"// (?P<file>\S.*?)(?:, line (?P<line>\d+))?$")
Place = tuple[str, int]


def of(text: str, originals: Mapping[str, str]) -> dict[int, Place]:
    """Return the file and line of each line of a claimed source, by its number from 1; lines of ours have none.

    `originals` are the texts of the imported files by their names. A file that is the source itself, or its beginning,
    has no other lines.
    """
    if sum(f"// {name}\n" in text for name in originals) > 1:
        return _joined(text, originals)
    for name, original in originals.items():
        start = text.find(original) if original.strip() else -1
        if start >= 0:
            before, count = text.count("\n", 0, start), len(original.splitlines())
            return {before + line: (name, line) for line in range(1, count + 1)} if before else {}
    return {}


def ranges(places: Mapping[int, Place]) -> list[str]:
    """Return the places in words, lines in a row together: `4 to 20 are a.cu 1 to 17`."""
    rows: list[list[int]] = []
    for number, (file, line) in places.items():
        last = places.get(number - 1)
        if last == (file, line - 1):
            rows[-1][1] = number
        else:
            rows.append([number, number])
    return [f"{first} to {end} are {places[first][0]} {places[first][1]} to {places[end][1]}" for first, end in rows]


def _joined(text: str, originals: Mapping[str, str]) -> dict[int, Place]:
    """Return the places that the comments of `audit.claims.importers.joined` tell."""
    found: dict[int, Place] = {}
    file, at = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        mark = _MARK.match(line)
        if mark and mark["file"] in originals and (mark["line"] or mark["file"] != file):
            file, at = mark["file"], int(mark["line"] or 1)
        elif file and at <= len(originals[file].splitlines()):
            found[number] = (file, at)
            at += 1
    return found


def located(text: str, places: Mapping[int, Place]) -> str:
    """Return a sentence about a claimed source with the file and line behind each line that it names."""

    def with_place(named: re.Match[str]) -> str:
        place = places.get(int(named[1]))
        return f"{named[0]} ({place[0]}, line {place[1]})" if place else named[0]

    return LINE.sub(with_place, text)
