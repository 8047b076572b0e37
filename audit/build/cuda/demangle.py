"""Names of kernels that are too long for the tools that demangle."""

from __future__ import annotations

import re


def demangled(name: str) -> str:
    """Return the qualified name of a mangled one, `ns::k<...>`: the profiler and `nm` leave one of over 1,024
    characters as it is. Other names stay."""
    parts, rest = list[str](), name.removeprefix("_ZN" if name.startswith("_ZN") else "_Z")
    while name.startswith("_Z") and (length := re.match(r"L?(\d+)", rest)):
        end = length.end() + int(length[1])
        parts.append(rest[length.end() : end].replace("_GLOBAL__N_1", "(anonymous namespace)"))
        rest = rest[end:]
    return "::".join(parts) + ("<...>" if rest.startswith("I") else "(...)") if parts else name
