"""Rewrite the claim's own headers like the source: they too have kernels, launches and shared memory."""

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
    """Return the text of every header by its path in the source's folder; empty where no header changes.

    Args:
        source: the parsed source; its includes of files in its folder and below are followed.
        path: its file.
        prefix: the prefix of the device's names.

    Raises:
        Unsupported: a header uses what the emulated device does not model.
    """
    folder, found, changed = path.parent, dict[str, str](), False
    waiting = [(path, source)]
    while waiting and len(found) < _MOST:
        including, of = waiting.pop()
        for include in of.includes:
            name = os.path.relpath(including.parent / include.header, folder)
            text = None if name.startswith("..") or name in found else _text(folder / name)
            if text is None:
                continue
            header = parse(text)
            for construct in unsupported(header):
                raise Unsupported(construct.construct)
            found[name] = rewrite_header(header, name=str(folder / name), prefix=prefix)
            changed = changed or not found[name].endswith(text)
            waiting.append((folder / name, header))
    return found if changed else {}


def _text(path: Path) -> str | None:
    try:
        return untrusted.text(path) if path.is_file() else None
    except BadInput:
        return None
