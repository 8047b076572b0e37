"""Rows of a JSON document or of JSON lines.

A document is a list of rows, a dict of rows or of lists of rows, whose keys go into the column `key`, or a page of
the datasets server, `{"rows": [{"row_idx": 0, "row": {...}, "truncated_cells": [...]}]}`. What stands before a break
in it still counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from audit.claims.importers.rows import Rejected, Rows, wanted
from audit.model.errors import BadInput
from audit.model.untrusted import Damaged, opened

KEY = "key"
PAGE, ABOUT_PAGE = "rows", "features"
"""What a page of the datasets server holds its rows under, and what it says about columns."""
DOCUMENT_LIMIT_BYTES = 1 << 29
_SPACE = re.compile(r"[ \t\r\n]*")
Element = tuple[int, str | None, Any]
"""The number of a row, the key it stands under, if any, and its value: `_Broken` where the file stops making sense, a
ValueError for a line that is no JSON."""


class _Broken(Exception):
    """The file stops making sense; the message says where."""


def kind(start: bytes, *, suffix: str) -> str:
    """Return whether a text that begins with a brace is one document or a document a line."""
    if suffix.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    first, more, rest = start.partition(b"\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return "json"
    nested = any(isinstance(one, list | dict) for one in value.values())
    return "jsonl" if rest.strip() or (not nested and bool(more)) else "json"


def read(of: Callable[[Path], Iterator[Element]], path: Path, asked: set[str] | None) -> Rows:
    """Return the rows by column: of `lines`, one a line, or of a `document`, up to a break in it.

    A column that appears late holds nothing in the rows before; what is no JSON object is rejected.
    """
    seen: dict[str, None] = {}
    good: list[tuple[int, dict[str, Any]]] = []
    rejected: list[Rejected] = []
    for number, key, value in of(path):
        row, cut = _unwrapped(value)
        if not isinstance(row, dict):
            why = f"no JSON ({row})" if isinstance(row, ValueError) else f"no JSON object but {type(row).__name__}"
            rejected.append(Rejected(number, "", str(row) if isinstance(row, _Broken) else why))
            continue
        row = row if key is None else {KEY: key, **row}
        seen |= dict.fromkeys(row)
        short = [name for name in cut if asked is None or name in asked]
        if short:
            rejected.append(Rejected(number, short[0], "cut short by the server; download the file itself"))
        else:
            good.append((number, row if asked is None else {name: row[name] for name in asked if name in row}))
    if not good and not seen:
        raise BadInput(f"{path}: {rejected[0] if rejected else 'no rows'}")
    cells = {name: [row.get(name) for _, row in good] for name in wanted(seen, asked, path)}
    return Rows(cells, [number for number, _ in good], rejected)


def names(of: Callable[[Path], Iterator[Element]], path: Path) -> tuple[str, ...]:
    """Return the keys of the first line, or row of a document, that is an object."""
    for _, key, value in of(path):
        row, _cut = _unwrapped(value)
        if isinstance(row, dict):
            return tuple(row) if key is None else (KEY, *row)
        if isinstance(row, _Broken):
            raise BadInput(f"{path}: {row}")
    raise BadInput(f"{path}: no {'line' if of is lines else 'row'} is a JSON object")


def lines(path: Path) -> Iterator[Element]:
    """Yield the value of every line that is not blank."""
    number = 0
    with opened(path) as file:
        try:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, None, _loaded(line)
        except Damaged as error:
            yield number + 1, None, _Broken(error)


def document(path: Path) -> Iterator[Element]:
    """Yield every row of a document as far as it makes sense."""
    number = 0
    text, damage = _text(path)
    try:
        for number, (key, value) in enumerate(_rows(text), start=1):
            yield number, key, value
    except _Broken as error:
        damage = error
    if damage is not None:
        yield number + 1, None, damage


def _unwrapped(value: Any) -> tuple[Any, list[str]]:
    """Return a row, out of the datasets server's envelope where it is in one, and the columns that were cut short."""
    if isinstance(value, dict) and "row_idx" in value and isinstance(value.get("row"), dict):
        return value["row"], [name for name in value.get("truncated_cells") or [] if isinstance(name, str)]
    return value, []


def _loaded(line: bytes) -> Any:
    """Return the value of a line, or the ValueError that says why there is none."""
    try:
        return json.loads(line)
    except ValueError as error:
        return error
    except RecursionError:
        return ValueError("nested too deeply")


def _text(path: Path) -> tuple[str, _Broken | None]:
    """Return the whole document as far as it can be read, and what is damaged behind that.

    It takes several times its size in memory; larger sets come as lines.
    """
    damage = None
    with opened(path, limit_bytes=DOCUMENT_LIMIT_BYTES) as file:
        pieces = []
        try:
            while piece := file.read1(1 << 20):  # `read` would lose what came right before the damage
                pieces.append(piece)
        except Damaged as error:
            damage = _Broken(error)
    return b"".join(pieces).decode("utf-8-sig", errors="surrogateescape"), damage


def _rows(text: str) -> Iterator[tuple[str | None, Any]]:
    """Yield every row of a document and its key. Raises _Broken where the document stops making sense."""
    cursor = _Cursor(text)
    if cursor.takes("["):
        yield from cursor.listed(None)
        return
    if not cursor.takes("{"):
        raise cursor.broken("neither a list nor an object")
    while not cursor.takes("}"):
        key = cursor.value()
        if not isinstance(key, str) or not cursor.takes(":"):
            raise cursor.broken("no key and value")
        if cursor.takes("["):
            rows = cursor.listed(None if key == PAGE else key)
            yield from (each for each in rows if key != ABOUT_PAGE)
        elif isinstance(value := cursor.value(), dict):
            yield key, value
        cursor.separates("}")


class _Cursor:
    """A place in a JSON text, never before white space."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._go(0)

    def takes(self, token: str) -> bool:
        """Move past a bracket, comma or colon; return whether it stands here."""
        there = self._text.startswith(token, self._at)
        if there:
            self._go(self._at + 1)
        return there

    def value(self) -> Any:
        """Return the value that stands here and move past it."""
        try:
            value, end = json.JSONDecoder().raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise self.broken(error.msg, error.pos) from error
        except StopIteration as error:
            raise self.broken("a value is missing") from error
        except (ValueError, RecursionError) as error:
            raise self.broken("nested too deeply or with too long a number") from error
        self._go(end)
        return value

    def listed(self, key: str | None) -> Iterator[tuple[str | None, Any]]:
        """Yield the elements of a list past its opening bracket, each under the key."""
        while not self.takes("]"):
            yield key, self.value()
            self.separates("]")

    def separates(self, closing: str) -> None:
        """Move past a comma; a closing bracket stays."""
        if not self.takes(",") and not self._text.startswith(closing, self._at):
            raise self.broken(f"neither a comma nor {closing}")

    def broken(self, what: str, at: int | None = None) -> _Broken:
        """Return the error that says what is wrong and where."""
        text, at = self._text, self._at if at is None else at
        if at >= len(text) or what.startswith("Unterminated string"):
            return _Broken(f"the JSON text ends at character {len(text):,} in the middle; it was cut short")
        line = text.count("\n", 0, at) + 1
        return _Broken(f"broken JSON at line {line}, character {at - text.rfind(chr(10), 0, at)} of it: {what}")

    def _go(self, at: int) -> None:
        self._at = _SPACE.match(self._text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
