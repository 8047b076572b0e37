"""One question to a device: an expression, the types and values of its operands, how near two answers must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["each", "cell", "shared_cell", "lanes", "block"]


@dataclass(frozen=True)
class Number:
    """A type of operands or results: its name in CUDA, bytes, and how its bits are read."""

    cuda: str
    size: int
    reading: Literal["integer", "f16", "bf16", "f32", "f64"] = "integer"


NUMBERS = {
    "i8": Number("signed char", 1),
    "u8": Number("unsigned char", 1),
    "i16": Number("short", 2),
    "u16": Number("unsigned short", 2),
    "i32": Number("int", 4),
    "u32": Number("unsigned int", 4),
    "i64": Number("long long", 8),
    "u64": Number("unsigned long long", 8),
    "f16": Number("__half", 2, "f16"),
    "bf16": Number("__nv_bfloat16", 2, "bf16"),
    "f32": Number("float", 4, "f32"),
    "f64": Number("double", 8, "f64"),
    "f16x2": Number("__half2", 4, "f16"),
    "bf16x2": Number("__nv_bfloat162", 4, "bf16"),
    "f32x2": Number("float2", 8, "f32"),
    "u32x2": Number("uint2", 8),
}


@dataclass(frozen=True)
class Bound:
    """How far two answers may lie apart. Either suffices; bits of equal NaNs need not agree.

    Attributes:
        ulps: in units of the last place of the result's type.
        absolute: in the result's own unit.
        relative: to the larger answer.
    """

    ulps: int = 0
    absolute: float = 0.0
    relative: float = 0.0


EXACT = Bound()


@dataclass(frozen=True)
class Entry:
    """An operation asked at many operands.

    Attributes:
        name: unique in its group.
        kind: "each": `code` is an expression (or a body with `return`) of a, b, c. "cell": an expression that changes
            *cell, which holds a before; the answers are the new content and the result. "shared_cell": the same in
            shared memory. "lanes": as "each", but whole warps of 32, `lane` is known, operands run along the lanes.
            "block": a body that reads arrays a, b, c and fills `out`, run by one block of `threads`.
        code: see kind.
        operands: names of value lists (see `values`), the part before "/" being the type.
        result: key of NUMBERS.
        bound: how near the emulated device must come.
        threads: of the block, for "lanes" and "block".
        results: how many a block gives, for "block".
        differs: why the emulated device is known to answer otherwise; empty if it must agree.
    """

    name: str
    kind: Kind
    code: str
    operands: tuple[str, ...]
    result: str
    bound: Bound = EXACT
    threads: int = 128
    results: int = 0
    differs: str = ""

    @property
    def types(self) -> tuple[str, ...]:
        """Keys of NUMBERS, one an operand."""
        return tuple(each.partition("/")[0] for each in self.operands)


def each(name: str, result: str, operands: str, code: str = "", *, bound: Bound = EXACT, differs: str = "") -> Entry:
    """An element-wise question. Without code it is the call of the function `name` with all operands."""
    lists = tuple(operands.split())
    call = code or f"{name}({', '.join('abc'[: len(lists)])})"
    return Entry(name, "each", call, lists, result, bound, differs=differs)
