"""Which functions a compiled library defines, by its symbol table: a kernel among them was compiled from the source.

nvcc, and the fast build, give every kernel a function of the same name on the host. So a kernel that the profiler names
and the library defines is the source's own, whatever macro, template or header made it; one of torch's or of cuBLAS is
defined elsewhere.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from audit.build.cuda.fast_toolchain import listing

_FUNCTION = re.compile(r"[0-9a-fA-F]+ [tTwWu] (?P<name>.+)")
_ANONYMOUS = "(anonymous namespace)::"


def plain_name(demangled: str) -> str:
    """The qualified name of a function without result type, template arguments and parameters.

    `void ns::scale<float, 256>(float*, int)` gives `ns::scale`.
    """
    text = demangled.replace(_ANONYMOUS, "").removeprefix("__device_stub__")
    head = re.split(r"[<(]", text, maxsplit=1)[0]
    return head.split(" ")[-1]


@cache
def defined(library: Path) -> frozenset[str]:
    """Return the plain names of all functions that a library defines; empty where its symbols cannot be read."""
    rows = (_FUNCTION.fullmatch(line.strip()) for line in listing(library).splitlines())
    return frozenset(plain_name(row["name"]) for row in rows if row)
