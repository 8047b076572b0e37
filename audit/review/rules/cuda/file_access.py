"""Does the candidate read or write files?

Silent on printing.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset(["fopen", "freopen", "open", "openat", "mmap", "shm_open", "creat", "tmpfile", "mkstemp"])
_TYPES = frozenset(f"{scope}{name}" for scope in ("std::", "") for name in ("ifstream", "ofstream", "fstream"))


def find(reading: CudaReading) -> list[Spot]:
    """Where a file is opened."""
    called = {
        call.line: call.name
        for call in reading.calls
        if (call.name in _CALLS and call.receiver is None and call.scope in ("", "std"))
        or (call.scope in ("torch", "at") and call.name in ("save", "load", "pickle_save", "pickle_load"))
    }
    declared = {each.line: each.type_text for each in reading.variables if each.type_text in _TYPES}
    found = called | declared
    return [
        Spot(line, f"{name} opens a file, which can hold a result from call to call") for line, name in found.items()
    ]


RULE = Rule("file_access", __doc__, "fresh_values", find)
