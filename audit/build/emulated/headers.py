"""Headers of the claim beside a source, rewritten as the source is: they too hold kernels, launches, shared memory."""

from __future__ import annotations

import os
from pathlib import Path

from audit.build.emulated.rewrite import rewrite_header
from audit.model import untrusted
from audit.model.errors import BadInput, Unsupported
from audit.review.cuda_source import CudaSource, parse
from audit.review.unsupported import unsupported

_MOST = 100


def rewritten(source: CudaSource, path: Path, *, prefix: str) -> dict[str, str]:
    """Return the text of every header by its place in the source's folder; nothing where no header changes.

    Args:
        source: the parsed source; its includes are followed as far as they name files in its folder and below.
        path: its file.
        prefix: of the device's names.

    Raises:
        Unsupported: a header uses what the emulated device does not model.
    """
    folder, found, changed = path.parent, dict[str, str](), False
    waiting = [(path, source)]
    while waiting and len(found) < _MOST:
        including, of = waiting.pop()
        for include in of.includes:
            place = os.path.relpath(including.parent / include.header, folder)
            text = None if place.startswith("..") or place in found else _text(folder / place)
            if text is None:
                continue
            header = parse(text)
            for construct in unsupported(header):
                raise Unsupported(construct.construct)
            found[place] = rewrite_header(header, name=str(folder / place), prefix=prefix)
            changed = changed or not found[place].endswith(text)
            waiting.append((folder / place, header))
    return found if changed else {}


def _text(path: Path) -> str | None:
    try:
        return untrusted.text(path) if path.is_file() else None
    except BadInput:
        return None
