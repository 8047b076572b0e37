"""Bindings of `load_inline`: torch compiles them together with `cpp_sources` and apart from `cuda_sources`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from audit.review.token_scan import mask


def undeclared(cpp: Sequence[str], functions: Sequence[str]) -> tuple[str, ...]:
    """Return the bound functions whose names no text of `cpp_sources` holds outside its comments.

    A header of the source's own may declare them, so none is returned where one is included in quotes.
    """
    text = mask("\n".join(cpp))
    if re.search(r'#\s*include\s*"', text.code):
        return ()
    words = set(re.findall(r"\w+", text.masked))
    return tuple(name for name in functions if name not in words)


def refusal(names: Sequence[str]) -> str:
    """Say why torch's builder refuses an extension that leaves those names undeclared; empty for no name."""
    told = f"torch cannot build this extension: its cpp_sources declare no {', '.join(names)}, which functions binds"
    return told if names else ""
