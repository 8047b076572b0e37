"""What a session needs of a `.py` variant's folder: a copy of the one file, and the arguments of its module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit.build.emulated.cache import cache_folder, fingerprint, made
from audit.build.python.source import PythonSource


def kept_alone(source: Path) -> Path:
    """A copy in a folder of its own: the reference lies beside the original, and claimed code knows its file."""
    data = source.read_bytes()
    folder = cache_folder() / "python" / fingerprint([source.name, data])
    made(folder, lambda unfinished: _write(unfinished / source.name, data))
    return folder / source.name


def init_inputs(source: Path) -> tuple[Any, ...]:
    """What `get_init_inputs` of the claim's reference returns, read and not run; nothing where there is none.

    A source's own `get_init_inputs` does not count: it may ask for a smaller problem.

    Raises:
        Unsupported: it is not one `return` of constants.
    """
    reference = source.with_name("reference.py")
    return tuple(PythonSource(reference.read_text(encoding="utf-8")).constant_result("get_init_inputs"))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
