"""Does the candidate read or write files?

Silent on sources handed to the extension builder and on paths alone.
"""

from __future__ import annotations

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset(
    [
        "open",
        "builtins.open",
        "torch.save",
        "torch.load",
        "numpy.save",
        "numpy.load",
        "pickle.dump",
        "pickle.load",
        "joblib.dump",
        "joblib.load",
        "shelve.open",
        "mmap.mmap",
        "sqlite3.connect",
        "multiprocessing.shared_memory.SharedMemory",
        "io.open",
        "os.open",
    ]
)
_METHODS = (".write_bytes", ".write_text", ".read_bytes", ".read_text")


def find(reading: PythonReading) -> list[Spot]:
    """Where a file or shared memory is opened."""
    return [
        Spot(call.lineno, f"{name} opens a file, which can hold a result from call to call")
        for call, name in reading.calls()
        if name in _CALLS or name.endswith(_METHODS)
    ]


RULE = Rule("file_cache", __doc__, "fresh_values", find)
