"""The verify stage: probes, one question a file, asked of every variant. The table is the list of what is asked."""

from __future__ import annotations

from collections.abc import Callable

from audit.model import Finding
from audit.probes import agreement, contract, coverage, inherited, inputs_intact, kernels_ran, memory_access, order
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
}
