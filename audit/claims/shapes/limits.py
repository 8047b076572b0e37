"""The two sides of every `<`, `<=`, `>` and `>=` of a source.

Text alone is read. Some of what is found is compared with no size; more limits only make a smaller shape larger.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

_CAST = re.compile(r"\(\s*(?:(?:unsigned|signed|long|int|size_t|u?int\d+_t)\s*)+\)")
_ARROW = re.compile(r"<<<|>>>?|->")
_AROUND = re.compile(r"[;{}\[\],&|?:!\n]|\b(?:and|or|not|if|elif|else|in|while|return|assert)\b|(?<![<>])=")


def compared(code: str) -> Iterator[tuple[str, str]]:
    """Yield both sides of each comparison in CUDA C++ or Python without texts and comments, in both orders."""
    plain = _CAST.sub(" ", _ARROW.sub(";", code.replace("::", "."))).replace("<<", "@")
    for part in _AROUND.split(plain):
        sides = [one.replace("@", "<<") for one in re.split(r"[<>]=?", part)]
        for one, other in itertools.pairwise(sides):
            left, right = _enclosed(one[::-1], ")", "(")[::-1].strip(), _enclosed(other, "(", ")").strip()
            yield from ((left, right), (right, left))


def _enclosed(side: str, opening: str, closing: str) -> str:
    """Return a side up to the bracket that closes around the comparison: of `1024) f(x)` the `1024`."""
    depth = 0
    for place, character in enumerate(side):
        depth += (character == opening) - (character == closing)
        if depth < 0:
            return side[:place]
    return side
