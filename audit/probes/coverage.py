"""Is every element of the output written?

Two calls with two different patterns in fresh memory, a NaN and a number: an element that still holds the pattern in
both was never written.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import JsonValue

from audit.probes import agreement
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.concluding.compare import share_map
from audit.probes.observing.called import Mode, value_calls
from audit.probes.observing.cases import Need
from audit.probes.observing.target import Target

NAME = "coverage"
OF_THE_OUTPUT = "the output is never written"


def modes(target: Target) -> dict[Mode, bytes]:
    """Return a mode and its pattern for each pattern of fresh memory, if possible those of `agreement`."""
    asked = agreement.modes(target)
    found = {}
    for memory, pattern in target.built.poisons.items():
        found[next((mode for mode in asked if mode.memory == memory), Mode(memory))] = pattern
    return found


def needs(target: Target) -> Iterator[Need]:
    """Yield the largest case with each pattern."""
    yield from ((mode, target.largest) for mode in modes(target))


def observe(target: Target) -> Observed:
    """Count written elements and rows at the largest case, with a map of at most 64 x 64 cells; of several outputs,
    that with the least share written."""
    case = target.largest
    untouched = np.ones(case.expected.size, dtype=bool)
    launches: list[JsonValue] = []
    for mode, pattern in modes(target).items():
        call = target.call(case, mode)
        value_calls([call], [case.expected])
        untouched &= call.holding(pattern)
        launches = [{key: launch[key] for key in ("kernel", "line", "grid", "block")} for launch in call.launches]
    written = ~untouched
    every = case.right.split(written) if case.outputs else [written]
    shapes = [one.shape for one in case.outputs] or [case.expected.shape]
    outputs = [one.reshape(-1, shape[-1] if shape else 1) for one, shape in zip(every, shapes, strict=True) if one.size]
    least = min(range(len(outputs)), key=lambda index: float(outputs[index].mean()))
    return {
        "shape": dict(case.shape),
        "elements": int(written.size),
        "elements_written": int(np.count_nonzero(written)),
        "rows": sum(len(rows) for rows in outputs),
        "rows_written": sum(int(np.count_nonzero(rows.any(axis=1))) for rows in outputs),
        "map": [[1.0]] if written.all() else share_map(outputs[least]),
        **({"output": least} if case.outputs and not written.all() else {}),
        "launches": launches,
    }


def conclude(seen: Observed) -> Answer:
    """Fail where an element was never written; count rows where one output has several and misses whole ones."""
    shape, elements, unwritten = label(seen["shape"]), seen["elements"], seen["elements"] - seen["elements_written"]
    if not unwritten:
        return passed(f"{shape}: all {elements:,} elements written")
    if elements == 1:
        return failed(f"{shape}: the only element of the output is never written")
    written = f"{seen['rows_written']:,} of {seen['rows']:,} rows"
    if "output" in seen or seen["rows"] in (1, seen["rows_written"]):
        written = f"{seen['elements_written']:,} of {elements:,} elements"
    of = f"the outputs is never written, most of it in output {seen['output']}" if "output" in seen else OF_THE_OUTPUT
    return failed(f"{shape}: {written} written, {100 * unwritten / elements:.3f} % of {of}")
