"""The figures of a bundle against those that its record gives, by their pixels."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from PIL import Image

from audit.apps.bundle.archive import Unsound
from audit.report.figures import canvas
from audit.report.formats import FIGURES
from audit.report.view import Figure

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHUNKS = frozenset({b"IHDR", b"pHYs", b"IDAT", b"IEND"})
"""The kinds of chunk that a figure of a report has: no text, no time, nothing behind the end."""
LARGER = 4
"""Times the bytes of the figure drawn here: libraries deflate the same pixels otherwise."""
CLOSE = 2
"""Levels of 255: a processor's arithmetic may round a pixel's colour otherwise."""


def name_of(figure: Figure) -> str:
    """Return the name of a figure's file."""
    return f"{FIGURES}/{figure.name}.png"


def compared(drawn: Iterable[Figure], files: Mapping[str, bytes], made_with: str) -> Iterator[tuple[Figure, str]]:
    """Give each figure with the bytes that the bundle has for it, and why its pixels were not compared, if so.

    `drawn` are the figures that the record gives here, `made_with` is the library that drew those of the bundle.

    Raises:
        Unsound: a figure is missing, is no plain PNG of that size, or shows something else.
    """
    here = canvas.drawn_with()
    for one in drawn:
        name, theirs = name_of(one), files.get(name_of(one))
        if theirs is None:
            raise Unsound(f"it has no {name}")
        if theirs == one.png:
            yield one, ""
            continue
        pixels, ours = _pixels(theirs, name, one.png), _pixels(one.png, name, one.png)
        if made_with == here and np.abs(pixels - ours).max() > CLOSE:
            raise Unsound(f"{name} does not show what the record gives: other pixels, drawn by the same {here}")
        yield replace(one, png=theirs), "" if made_with == here else f"drawn by {made_with}; here is {here}"


def _pixels(png: bytes, name: str, like: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    """Return the pixels of a PNG whose first chunk, with the size, is that of `like`."""
    if png[:33] != like[:33] or len(png) > LARGER * len(like) or not set(_kinds(png)) <= CHUNKS:
        raise Unsound(f"{name} is no PNG as the figures of a report are")
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            return np.asarray(image.convert("RGBA"), dtype=np.int16)
    except (OSError, ValueError, SyntaxError) as error:
        raise Unsound(f"{name} is a broken PNG: {error}") from error


def _kinds(png: bytes) -> Iterator[bytes]:
    """Give the kind of every chunk; an empty one for bytes that are none."""
    place = len(SIGNATURE)
    while place < len(png):
        if place + 12 > len(png):
            yield b""
            return
        length, kind = struct.unpack_from(">L4s", png, place)
        place += 12 + length
        yield kind if place <= len(png) else b""
