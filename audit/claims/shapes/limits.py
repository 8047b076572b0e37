"""The two sides of every `<`, `<=`, `>` and `>=` of a source, and the bytes of the elements that a side counts.

Text alone is read. Some of what is found is compared with no size; more limits only make a smaller shape larger.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

ANY_BYTES = (2, 4, 8)
"""Of an element whose type the text does not name."""
_BYTES = {
    1: ("char", "bool", "int8_t", "uint8_t"),
    2: ("half", "__half", "Half", "short", "bfloat16", "__nv_bfloat16", "nv_bfloat16", "BFloat16", "int16_t"),
    4: ("float", "int", "unsigned", "int32_t", "uint32_t", "half2", "__half2"),
    8: ("double", "int64_t", "uint64_t", "size_t", "float2", "int2"),
    16: ("float4", "int4", "double2"),
}
_BYTES_OF = {name: size for size, names in _BYTES.items() for name in names}
_ELEMENT = re.compile(r"\bsizeof\s*\(\s*([\w.]+)\s*\)|\b(?:element_size|itemsize)\b")
_BOUND = re.compile(rf"\b([A-Za-z_]\w*)\s*=(?!=)([^=;{{}}\n]{{0,200}}?(?:{_ELEMENT.pattern}))")
_CAST = re.compile(r"(?<!sizeof)\(\s*(?:(?:unsigned|signed|long|int|size_t|u?int\d+_t)\s*)+\)")
_ARROW = re.compile(r"<<<|>>>?|->")
_AROUND = re.compile(r"[;{}\[\],&|?:!\n]|\b(?:and|or|not|if|elif|else|in|while|return|assert)\b|(?<![<>])=")


def compared(code: str) -> Iterator[tuple[str, str, bool]]:
    """Yield both sides of each comparison in CUDA C++ or Python without texts and comments, in both orders.

    The third is whether equal sides count with smaller ones: as in `a > b` or `a <= b`, for `a` and then `b`.
    """
    plain = _CAST.sub(" ", _ARROW.sub(";", code.replace("::", "."))).replace("<<", "@")
    for part in _AROUND.split(plain):
        sides = [one.replace("@", "<<") for one in re.split(r"[<>]=?", part)]
        for (one, other), sign in zip(itertools.pairwise(sides), re.findall(r"[<>]=?", part), strict=True):
            left, right = _enclosed(one[::-1], ")", "(")[::-1].strip(), _enclosed(other, "(", ")").strip()
            yield from ((left, right, sign in (">", "<=")), (right, left, sign in ("<", ">=")))


def bytes_by_name(code: str) -> dict[str, tuple[int, ...]]:
    """Return the names that are bound to a number of bytes, with those of an element, see `element_bytes`."""
    return {found[1]: element_bytes(found[2]) for found in _BOUND.finditer(code.replace("::", "."))}


def element_bytes(text: str) -> tuple[int, ...]:
    """Return the bytes that an element may have whose size an expression takes; empty where it takes none."""
    found = _ELEMENT.search(text)
    if found is None:
        return ()
    known = _BYTES_OF.get((found[1] or "").rpartition(".")[2])
    return ANY_BYTES if known is None else (known,)


def _enclosed(side: str, opening: str, closing: str) -> str:
    """Return a side up to the bracket that closes around the comparison: of `1024) f(x)` the `1024`."""
    depth = 0
    for place, character in enumerate(side):
        depth += (character == opening) - (character == closing)
        if depth < 0:
            return side[:place]
    return side
