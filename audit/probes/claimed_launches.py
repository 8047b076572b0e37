"""Does a GPU take every launch that the source makes at the claimed shape, where that is too large to run here?

The host code runs at the claimed sizes without its kernels. Grid arithmetic in 32 bits that wraps, an empty grid and a
grid, block or shared memory over a limit show there and at no smaller shape. Where the host code reads values back
from the device, its launches may hang on them: a refusal is a hint then.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.model.errors import Unsupported
from audit.probes import claimed_shape
from audit.probes.answer import answer
from audit.probes.target import Target

NAME = "claimed_launches"
MECHANISMS = ("index or grid arithmetic that overflows", "launch limits", "under-launch")
READS_BACK = re.compile(r"\.\s*(?:item|cpu|tolist)\s*[<(]|\bcudaMemcpyDeviceToHost\b|\bcudaMemcpyFromSymbol\b")
"""What hands values of the device to host code."""
MOST_LISTED = 12


def run(target: Target) -> Finding:
    """One call at the claimed shape on memory that is reserved and not touched."""
    shape = claimed_shape.needed(target)
    (found,) = claimed_shape.launched(target, [shape])
    label = ", ".join(f"{name}={size}" for name, size in shape.items())
    evidence: dict[str, JsonValue] = {
        "shape": dict(shape),
        "launches": [_told(launch) for launch in found.launches[:MOST_LISTED]],
        "launches_in_all": len(found.launches),
    }
    if (refused := found.refused) is not None:
        text = f"{label}, the claimed shape: launch of {refused['kernel']} refused: {refused['refused']}"
        line = refused["line"]
        return answer(NAME, target, "fail", text, grade=_grade(target), evidence=evidence, shape=shape, line=line)
    if found.raised is not None:
        raise Unsupported(f"the claimed shape without its kernels: the host code raised {found.raised}")
    if not found.launches:
        return answer(
            NAME, target, "pass", f"{label}, the claimed shape: the host code launches no kernel", evidence=evidence
        )
    text = f"{label}, the claimed shape: a GPU takes each of {len(found.launches)} launches; no kernel was run"
    return answer(NAME, target, "pass", text, evidence=evidence)


def _grade(target: Target) -> Grade:
    source = (target.reference.parent / target.variant.file).read_text(encoding="utf-8")
    return "hint" if READS_BACK.search(source) else "proved"


def _told(launch: dict[str, Any]) -> JsonValue:
    return {key: launch[key] for key in ("kernel", "line", "grid", "block", "dynamic_shared_bytes")}
