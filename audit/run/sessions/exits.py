"""Tell of a call within which native code calls `exit`, as checks of CUDA errors do.

The process ends there, and with it what the device saw of that call and what the code printed. So a handler of the C
library's `exit` tells the call's event first. A process that ends by a signal, by `abort` or by `_exit` tells nothing.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from audit.model import sanitizer

MOST_PRINTED = 300
"""Characters of the last lines printed that are quoted."""
STDERR = 2
_Handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)


class Exits:
    """The handler of this process; created once in it, after the libraries of the kit are loaded."""

    def __init__(self) -> None:
        self._libc, self._handler = ctypes.CDLL(None), _Handler(self._left)
        self._owner = (os.getpid(), threading.get_ident())
        self._tell: Callable[[str], None] | None = None
        self._printed = 0
        self._libc.on_exit(self._handler, None)

    @contextmanager
    def told(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Within it a call of `exit` calls `tell` with a sentence."""
        self._tell, self._printed = tell, _size()
        try:
            yield
        finally:
            self._tell = None

    def _left(self, status: int, _: Any) -> None:
        tell, self._tell = self._tell, None
        if tell is not None and (os.getpid(), threading.get_ident()) == self._owner:
            self._libc.fflush(None)
            printed = _last_lines(self._printed)
            tell(f"the source called exit({status})" + (f"; it had printed: {printed}" if printed else ""))


@cache
def exits() -> Exits:
    """Return the handler of this process; the fork server must not ask for it."""
    return Exits()


def _size() -> int:
    return os.fstat(STDERR).st_size


def _last_lines(start: int) -> str:
    """Return the end of what was printed from that byte on, in one line without hidden characters."""
    start = max(start, _size() - 4 * MOST_PRINTED)
    printed = sanitizer.line(os.pread(STDERR, 4 * MOST_PRINTED, start).decode("utf-8", "replace"))
    return printed[-MOST_PRINTED:]
