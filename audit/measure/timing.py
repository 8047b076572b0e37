"""Times what the audit may speak of: cleared variants and baselines soundly, others as exhibits only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.build import gpu
from audit.build.device import BuiltVariant
from audit.measure import protocols
from audit.measure.state import Watched, agreement_of_clocks, clocks, not_timed
from audit.model import Claim, Finding, Measurement, Variant
from audit.probes.target import Case
from audit.worker.pool import Reply, Workers

TIMING_LIMIT_S = 180.0
BASELINES = "baselines"
BASELINE_PUBLISHED = ("baseline:eager",)
"""The baseline of the claim is timed under the published protocol too, since the published ratio is of the two."""


@dataclass(frozen=True)
class Times:
    """What was measured and what there is to say about the measuring; `findings` is never empty."""

    measurements: tuple[Measurement, ...]
    findings: tuple[Finding, ...]


@dataclass
class Session:
    """What timing needs of an audit: the claim, its `reference.py`, the case of the claimed shape and the workers.

    `say` takes one line for people after each timing.
    """

    claim: Claim
    reference: Path
    case: Case
    workers: Workers
    say: Callable[[str], None]
    _measurements: list[Measurement] = field(default_factory=list)
    _findings: list[Finding] = field(default_factory=list)
    _watched: list[Watched] = field(default_factory=list)

    def baselines(self) -> None:
        """Eager torch, the claim folder's other baselines and torch.compile, in one process."""
        request = {"protocols": [*protocols.published(BASELINE_PUBLISHED), *protocols.ours()]}
        self._time(BASELINES, request)

    def variant(self, variant: Variant, built: BuiltVariant, *, cleared: bool) -> None:
        """One variant in a process of its own; one that is not cleared is timed as published and not otherwise."""
        loaded = built.session_request(memory="plain", order=built.orders[0], check=False)["device"]
        request = {
            "variant": variant.name,
            "library": loaded["library"],
            "module": loaded["module"],
            "entry": self.claim.entry,
            "protocols": wanted(variant, cleared=cleared),
        }
        self._time(variant.name, request)

    def times(self) -> Times:
        """Everything measured so far, and the findings about it."""
        known = list(self._measurements)
        doubts = [doubt for name in {one.variant for one in known} for doubt in agreement_of_clocks(known, name)]
        about = [clocks(self._watched, target=self.claim.name)] if self._watched else []
        return Times(tuple(known), (*self._findings, *sorted(doubts, key=lambda one: one.target), *about))

    def _time(self, what: str, request: dict[str, Any]) -> None:
        before = gpu.state()
        asked = {**request, "reference": str(self.reference), "inputs": str(self.case.inputs)}
        reply = self.workers.call("timing", asked, limit_s=TIMING_LIMIT_S)
        self._watched.append(Watched(what, before, gpu.state()))
        self._measurements += measured(reply, self.case)
        if not reply.finished:
            self._findings.append(not_timed(what, f"{reply.ending}: {reply.detail}"))
        self.say(f"{what}: {len(reply.events)} timings" + ("" if reply.finished else f", then {reply.ending}"))


def times(session: Session, built: Mapping[str, BuiltVariant], *, cleared: Collection[str]) -> Times:
    """Times the baselines and every built variant, one process after the other, nothing else on the GPU.

    Args:
        session: what to time and with what.
        built: the builds by variant name, for a GPU.
        cleared: names of the variants that passed every probe.
    """
    session.baselines()
    for variant in session.claim.variant:
        if variant.name in built:
            session.variant(variant, built[variant.name], cleared=variant.name in cleared)
    return session.times()


def wanted(variant: Variant, *, cleared: bool) -> list[dict[str, Any]]:
    """The published protocol for the claim and for what is not cleared, ours for what is."""
    exhibit = variant.role == "claimed" or not cleared
    return [*(protocols.published() if exhibit else []), *(protocols.ours() if cleared else [])]


def measured(reply: Reply, case: Case) -> list[Measurement]:
    """The samples a timing process told."""
    return [
        Measurement(
            variant=event["variant"],
            shape=case.shape,
            protocol=event["protocol"],
            samples_ms=tuple(float(sample) for sample in event["samples_ms"]),
        )
        for event in reply.events
    ]
