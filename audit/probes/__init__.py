"""The verify stage: probes, one question a file, asked of every variant. The table is the list of what is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from audit.model import Finding
from audit.probes import (
    agreement,
    alias,
    backend_flags,
    claimed_blocks,
    claimed_launches,
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
    order,
    precision,
    repeat,
    sweep,
    threads,
    untouched_process,
)
from audit.probes.called import Need
from audit.probes.target import Target

Probe = Callable[[Target], Finding]

PROBES: dict[str, Probe] = {
    contract.NAME: contract.run,
    agreement.NAME: agreement.run,
    order.NAME: order.run,
    coverage.NAME: coverage.run,
    inherited.NAME: inherited.run,
    inputs_intact.NAME: inputs_intact.run,
    memory_access.NAME: memory_access.run,
    kernels_ran.NAME: kernels_ran.run,
    fresh_values.NAME: fresh_values.run,
    repeat.NAME: repeat.run,
    dead_inputs.NAME: dead_inputs.run,
    distributions.NAME: distributions.run,
    precision.NAME: precision.run,
    alias.NAME: alias.run,
    late_writes.NAME: late_writes.run,
    current_stream.NAME: current_stream.run,
    layout.NAME: layout.run,
    nonfinite.NAME: nonfinite.run,
    threads.NAME: threads.run,
    backend_flags.NAME: backend_flags.run,
    untouched_process.NAME: untouched_process.run,
    first_call.NAME: first_call.run,
    claimed_launches.NAME: claimed_launches.run,
    claimed_blocks.NAME: claimed_blocks.run,
}

NEEDS: dict[str, Callable[[Target], Iterator[Need]]] = {
    agreement.NAME: agreement.needs,
    coverage.NAME: coverage.needs,
    kernels_ran.NAME: kernels_ran.needs,
    memory_access.NAME: memory_access.needs,
}
"""The plain calls that probes look at, which one session makes for all of them; other calls a probe asks for itself."""

OF_THE_CLAIM: dict[str, Probe] = {sweep.NAME: sweep.run}
"""Asked of the claimed kernel alone, behind all others; what they find never fails a kernel, and no error of theirs
stands in the way of a verdict."""
