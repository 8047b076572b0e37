"""Probes, one question a file, asked of every variant in the order of the list."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from audit.probes import (
    agreement,
    alias,
    backend_flags,
    builds_agree,
    claimed_blocks,
    claimed_launches,
    configurations,
    contract,
    coverage,
    current_stream,
    dead_inputs,
    distributions,
    first_call,
    fresh_values,
    inherited,
    inputs_intact,
    kernels_ran,
    late_writes,
    layout,
    memory_access,
    nonfinite,
    oldest_code,
    order,
    precision,
    repeat,
    sweep,
    threads,
    trivial_candidates,
    untouched_process,
)
from audit.probes.concluding.answer import Answer, Observed, Probe
from audit.probes.observing.cases import Need
from audit.probes.observing.target import Target

_ASKED: list[Probe] = [
    contract,
    agreement,
    order,
    coverage,
    inherited,
    inputs_intact,
    memory_access,
    kernels_ran,
    fresh_values,
    repeat,
    dead_inputs,
    distributions,
    precision,
    alias,
    late_writes,
    current_stream,
    layout,
    nonfinite,
    threads,
    backend_flags,
    untouched_process,
    first_call,
    claimed_launches,
    claimed_blocks,
]
PROBES: dict[str, Probe] = {probe.NAME: probe for probe in _ASKED}

NEEDS: dict[str, Callable[[Target], Iterator[Need]]] = {
    agreement.NAME: agreement.needs,
    coverage.NAME: coverage.needs,
    kernels_ran.NAME: kernels_ran.needs,
    memory_access.NAME: memory_access.needs,
}
"""The plain calls that probes need, which one session makes for all of them; a probe makes its other calls itself."""

OF_THE_CLAIM: dict[str, Probe] = {configurations.NAME: configurations, sweep.NAME: sweep}
"""Probes of the claimed kernel alone, asked last: no finding fails a kernel, and no error blocks a verdict."""

CONCLUSIONS: dict[str, Callable[[Observed], Answer]] = {
    **{name: probe.conclude for name, probe in {**PROBES, **OF_THE_CLAIM}.items()},
    builds_agree.NAME: builds_agree.conclude,
    oldest_code.NAME: oldest_code.conclude,
    trivial_candidates.PROBE: trivial_candidates.conclude,
}
"""The pure function from a finding's evidence to its answer, by the name of the probe."""
