"""How a question is put to a device: operands as memory, the launch, and how many bytes of answers."""

from __future__ import annotations

from dataclasses import dataclass

from tests.emulated.conformance.entry import NUMBERS, Entry
from tests.emulated.conformance.values import operands, packed

THREADS = 128


@dataclass(frozen=True)
class Asked:
    """One launch: three buffers (unused ones empty), bytes of the result, elements, blocks and threads."""

    buffers: tuple[bytes, bytes, bytes]
    out_bytes: int
    n: int
    blocks: int
    threads: int


def asked(entry: Entry) -> Asked:
    """The launch for an entry."""
    lists = operands(entry)
    data = [packed(numbers, key) for numbers, key in zip(lists, entry.types, strict=True)]
    a, b, c = (*data, b"", b"", b"")[:3]
    n = len(lists[0])
    size = NUMBERS[entry.result].size
    if entry.kind == "block":
        return Asked((a, b, c), entry.results * size, n, 1, entry.threads)
    each = 2 if "cell" in entry.kind else 1
    threads = entry.threads if entry.kind == "lanes" else THREADS
    return Asked((a, b, c), n * size * each, n, -(-n // threads), threads)
