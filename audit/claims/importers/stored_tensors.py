"""Inputs of a workload that stand in a safetensors file: one tensor of it, as text in base64.

A file begins with the length of a JSON header, which names each tensor's type, shape and place behind it. Facts: format
of huggingface/safetensors (README, 2025).
"""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass
from typing import Any

from audit.claims.importers.imported import Original
from audit.claims.importers.material import Material
from audit.model import untrusted
from audit.model.errors import BadInput

MOST_BYTES = 3 << 20
"""Of a file: a claim folder keeps its tensor as text, a third longer."""
LENGTH_BYTES, MOST_HEADER = 8, 1 << 20
DTYPES = {"F64": ("float64", 8), "F32": ("float32", 4), "F16": ("float16", 2), "BF16": ("bfloat16", 2),
          "I64": ("int64", 8), "I32": ("int32", 4), "I16": ("int16", 2), "I8": ("int8", 1), "U8": ("uint8", 1),
          "BOOL": ("bool", 1)}  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """One tensor of a file: its torch dtype, its shape, and its bytes as an original."""

    dtype: str
    shape: tuple[int, ...]
    original: Original


def found(material: Material, path: object, key: object, *, name: str) -> Stored | None:
    """Return the tensor of that key in the one file whose name ends that path; None where it was not given.

    Raises:
        BadInput: the file is no safetensors file, is larger than `MOST_BYTES`, or holds no such tensor.
    """
    text = str(path).lstrip("./")
    files = [one for one in material.named(".safetensors") if f"/{text}".endswith(f"/{one}") or one.endswith(text)]
    if len(files) != 1 or not isinstance(key, str):
        return None
    data = untrusted.data(material.files[files[0]], limit_bytes=MOST_BYTES)
    header, start = _header(data, files[0])
    about = header.get(key)
    if not isinstance(about, dict):
        raise BadInput(f"{files[0]}: holds no tensor {key[:60]}; it has: {', '.join(map(str, header))[:200]}")
    return _tensor(data[start:], about, name=name, where=f"{files[0]}: {key[:60]}")


def _header(data: bytes, where: str) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(data[:LENGTH_BYTES], "little")
    try:
        if not 0 < length <= min(MOST_HEADER, len(data) - LENGTH_BYTES):
            raise ValueError
        header = json.loads(data[LENGTH_BYTES : LENGTH_BYTES + length])
        if not isinstance(header, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise BadInput(f"{where}: no safetensors file: its header cannot be read") from None
    return header, LENGTH_BYTES + length


def _tensor(data: bytes, about: dict[str, Any], *, name: str, where: str) -> Stored:
    shape, place = about.get("shape"), about.get("data_offsets")
    dtype, width = DTYPES.get(str(about.get("dtype")), ("", 0))
    sound = all(
        isinstance(one, list) and all(type(each) is int and each >= 0 for each in one) for one in (shape, place)
    )
    if not dtype or not sound or not isinstance(shape, list) or not isinstance(place, list) or len(place) != 2:
        raise BadInput(f"{where}: no shape and place of a known type ({str(about.get('dtype'))[:20]})")
    first, last = place
    if last > len(data) or last - first != width * math.prod(shape):
        raise BadInput(f"{where}: {last - first:,} bytes are stated, which are not those of its shape, or not there")
    lines = base64.encodebytes(data[first:last])
    said = f"{where}, its {last - first:,} bytes in base64"
    return Stored(dtype, tuple(shape), Original(f"input_{name}.b64", lines, published_as=said))
