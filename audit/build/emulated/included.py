"""The headers that a source includes in quotes: a compiled file depends on them as on the source itself."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from audit.model.errors import Unsupported

MOST_BYTES = 64 << 20
"""Of all headers of a source together."""
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def headers(source: Path, text: str) -> list[tuple[str, bytes]]:
    """Name and contents of every header that lies beside the file that includes it, through any depth.

    What is no plain file or cannot be read is left out: the compiler, inside its walls, says what it makes of it.

    Args:
        source: where the text stands.
        text: of the source.

    Raises:
        Unsupported: they have more than `MOST_BYTES`: no disk is read through for the key of a build.
    """
    found: dict[Path, bytes] = {}
    waiting = [source.parent / name for name in _INCLUDE.findall(text)]
    while waiting:
        path = _resolved(waiting.pop())
        if path is None or path in found:
            continue
        data = _data(path, left_bytes=MOST_BYTES - sum(map(len, found.values())))
        if data is not None:
            found[path] = data
            waiting += [path.parent / name for name in _INCLUDE.findall(data.decode(errors="replace"))]
    return [(path.name, found[path]) for path in sorted(found)]


def _resolved(path: Path) -> Path | None:
    """One name for each file, whatever way leads to it; None where no path can be so."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _data(path: Path, *, left_bytes: int) -> bytes | None:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > left_bytes:
            raise Unsupported(f"a source that includes more than {MOST_BYTES:,} bytes of headers")
        return path.read_bytes() if status.st_size else b""  # files of /proc say 0, and may never end
    except (OSError, ValueError):
        return None
