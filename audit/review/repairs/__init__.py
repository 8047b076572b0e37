"""Repairs that can be generated: from a source and what was proved of it to single changes, a function a kind.

A change is proposed where the source says by itself what it must be. The audit builds it and asks about it, so a wrong
proposal costs time and says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from audit.model import Finding
from audit.model.finding import MOST_REPAIRS, Change
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import parse
from audit.review.python_reading import PythonReading
from audit.review.repairs import device_code, host_code

KINDS = (host_code.spanned, host_code.rounded, device_code.barrier, device_code.guard, host_code.zeros)
"""In the order in which they are tried."""


def propose(text: str, proved: Sequence[Finding]) -> list[Change]:
    """Return the changes to try of a CUDA source of which that was proved, each once, the likeliest first.

    None where the source does not say what to change.
    """
    reading = CudaReading(parse(text))
    found = [change for repair in KINDS for change in repair(reading, proved)]
    return list(dict.fromkeys(found))[:MOST_REPAIRS]


def propose_python(text: str, proved: Sequence[Finding]) -> list[Change]:
    """Return the changes to the one CUDA source in the strings of a Python file, by the lines of that file.

    None where there are several, and none where escapes make the lines of the string others than those of the file.
    """
    try:
        embedded = PythonReading(text).embedded
    except SyntaxError:
        return []
    if len(embedded) != 1:
        return []
    placed = "\n" * (embedded[0].first_line - 1) + embedded[0].text
    file, string = text.split("\n"), placed.split("\n")
    return [one for one in propose(placed, proved) if _alike(one, file, string)]


def _alike(change: Change, file: list[str], string: list[str]) -> bool:
    """Return whether the changed lines and those beside them are the same in the file and in the string."""
    around = slice(max(0, change.line - 2), change.line + len(change.removed))
    return file[around] == string[around]
