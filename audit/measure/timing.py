"""Time passing variants and baselines in interleaved blocks, and the claimed kernel alone, unverified."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audit.build.cuda import gpu
from audit.build.device import BuiltVariant
from audit.measure import checks, comparison, independent_clock, prepared
from audit.measure.checks import Reading, clocks, not_timed, readings, skipped
from audit.measure.comparison import EAGER, PREFIX, PROCESSES, RANKS, TIMED_OUTPUTS, precision_of, rivals
from audit.measure.outputs import classed, every_call, tolerance_of, verified
from audit.measure.samples import OURS, OUTSIDE, REPEATED, measurements_of, median_ms, published
from audit.model import Claim, Finding, Measurement
from audit.probes.concluding.answer import not_sent
from audit.probes.observing.cases import Case
from audit.run.messages import timing_requests
from audit.run.processes.pool import Reply, Workers

TIMING_LIMIT_S = 240.0
BUDGET_S, BRIEF_S = 3.0, 1.0
"""The time of one session's blocks, without loading and warming up, and that of a brief one."""
HALF_WIDTH = 0.01
KEPT_CALLS = 2
PROFILED_CALLS = 3
LADDER, LATER, PROCESS = "ladder", "later", "process"
MOST_TRIES = 3


@dataclass(frozen=True)
class Times:
    """Measurements, and findings about the measurement."""

    measurements: tuple[Measurement, ...]
    findings: tuple[Finding, ...]


@dataclass
class Session:
    """The parts of an audit that timing needs; each of its requests gets a fresh process."""

    claim: Claim
    reference: Path
    case: Case  # of the claimed shape
    workers: Workers
    say: Callable[[str], None]  # takes one progress line after each timing
    seed: int = 0  # decides the orders and which outputs are kept
    rounds: int | None = None  # the least number of blocks; None for the default
    ready: prepared.Ready | None = None  # the compiled baselines; None has `prepare` make them
    until: float = math.inf  # ends a process that takes interleaved times, by the monotonic clock
    _others: tuple[Case, ...] = ()  # of the same shape, through which the inputs rotate
    known: tuple[Measurement, ...] = ()  # of earlier calls
    _measurements: list[Measurement] = field(default_factory=list)
    _findings: list[Finding] = field(default_factory=list)
    _readings: list[Reading] = field(default_factory=list)

    def prepare(self) -> None:
        """Make a second set of inputs and fill torch.compile's cache: 10 s, the first time a minute or more. May run in
        parallel to other work; it must end before the first timing."""
        self.rotate()
        if self.ready is None:
            self.ready = prepared.compile_ahead(
                self.workers, reference=self.reference, shape=self.case.shape, inputs=self.case.inputs
            )
            self._findings += self.ready.findings

    def rotate(self) -> None:
        """Make the second set of inputs where there is none."""
        if not self._others:
            folder = Path(tempfile.mkdtemp(dir=self.case.inputs.parent))
            _, made = prepared.cases(self.workers, reference=self.reference, shape=self.case.shape,
                                     seeds=(self.seed + 1,), folder=folder)  # fmt: skip
            self._others = tuple(made)

    def at(self, cases: Sequence[Case], *, until: float) -> Session:
        """Return a session of another shape, which compiles its baselines itself."""
        others = tuple(cases[1:])
        return Session(
            self.claim, self.reference, cases[0], self.workers, self.say, self.seed, until=until, _others=others
        )

    def interleaved(
        self, name: str, built: Mapping[str, BuiltVariant], *, baselines: Collection[str] | None, brief: bool = False
    ) -> None:
        """Run one session of those variants, which all passed, and baselines (None: all there are); a `brief` one gives
        ratios alone. A callable whose first call ends the process is reported, and left out of another session."""
        left = dict(built)
        for _ in range(MOST_TRIES):
            culprit = self._interleaved(name, left, baselines, brief=brief)
            if culprit not in left:
                return
            del left[culprit]

    def repeat(self, name: str, built: BuiltVariant) -> None:
        """Time a variant, eager and its strongest baselines in `PROCESSES` further processes, for `compared` alone."""
        baselines = rivals(self.claim, self.known, [name])
        for number in range(1, PROCESSES + 1):
            timed, found = len(self._measurements), len(self._findings)
            self._interleaved(f"{PROCESS} {number}", {name: built}, baselines, brief=True)
            ours = [one for one in self._measurements[timed:] if one.protocol == OURS]
            self._measurements[timed:] = [one.model_copy(update={"protocol": REPEATED}) for one in ours]
            wrong = [one for one in self._findings[found:] if (one.probe, one.outcome) == (TIMED_OUTPUTS, "fail")]
            self._findings[found:] = wrong
        self._readings = []

    def alone(self, claimed: str, built: BuiltVariant) -> None:
        """Time the claimed kernel, eager and the strongest baselines, each alone in a process, by that of its parent. A
        baseline that this clock has timed before is not timed again."""
        known = (*self.known, *self._measurements)
        against = [f"{PREFIX}{name}" for name in rivals(self.claim, known, [claimed])]
        names = [claimed, *(name for name in against if median_ms(known, name, OUTSIDE) is None)]
        for name in names:
            self._measurements += independent_clock.measured(
                self._alone(name, built, median_ms(known, name)), shape=self.case.shape
            )
        seen = (*known, *self._measurements)
        findings = independent_clock.about(seen, [claimed, *against], target=self.claim.name)
        self._measurements = independent_clock.marked(self._measurements, findings)
        self._findings += findings

    def _alone(self, name: str, built: BuiltVariant, reported_ms: float | None) -> Reply:
        ours = name.startswith(PREFIX)
        with prepared.session_folders(self.case.inputs.parent) as (results, caches):
            request = timing_requests.Alone(
                reference=self.reference,
                variants=() if ours else (self._loadable(name, built, caches),),
                baseline=name.removeprefix(PREFIX) if ours else None,
                calls=independent_clock.calls(reported_ms or 0.0),
                seed=self.seed,
                inputs=tuple(case.inputs for case in (self.case, *self._others)),
                folder=results,
                caches=caches,
                inductor=prepared.load_cache(self.ready.store if self.ready else None, caches),
            )
            return self.workers.call(request, limit_s=TIMING_LIMIT_S)

    def unverified(self, name: str, built: BuiltVariant) -> None:
        """Time a kernel under the published protocols, alone in a process."""
        with prepared.session_folders(self.case.inputs.parent) as (results, caches):
            request = timing_requests.Published(
                reference=self.reference,
                variants=(self._loadable(name, built, caches),),
                protocols=published(timed_mean=self.claim.protocol.timed_mean),
                inputs=(self.case.inputs,),
                folder=results,
                caches=caches,
            )
            before = gpu.state()
            reply = self.workers.call(request, limit_s=TIMING_LIMIT_S)
        self._readings += [Reading(name, None, before), Reading(name, None, gpu.state())]
        self._keep(reply, "", what=f"{name}, as published")

    def taken(self) -> Times:
        """Return and clear the measurements and findings so far."""
        about = [clocks(self._readings, target=self.claim.name)] if self._readings else []
        result = Times(tuple(self._measurements), (*self._findings, *about))
        self.known = (*self.known, *result.measurements)
        self._measurements, self._findings, self._readings = [], [], []
        return result

    def _loadable(
        self, name: str, built: BuiltVariant, caches: Path, *, relative: float | None = None
    ) -> timing_requests.Timed:
        settings = built.settings(memory="plain", order=built.orders[0], check=False)
        variant = next(one for one in self.claim.variant if one.name == name)
        return timing_requests.Timed(
            name=name,
            entry=self.claim.entry_of(variant),
            device=prepared.with_private_caches(name, settings, caches),
            relative=relative,
        )

    def _interleaved(
        self, name: str, built: Mapping[str, BuiltVariant], baselines: Collection[str] | None, *, brief: bool
    ) -> str | None:
        """Run one session, see `interleaved`; return the callable whose first call ended the process, if one did."""
        every = self.ready.names if self.ready else prepared.AHEAD
        ready = [one for one in every if baselines is None or one in baselines]
        with prepared.session_folders(self.case.inputs.parent) as (folder, caches):
            store = self.ready.store if self.ready else None
            cases = [self.case, *self._others]
            request = timing_requests.Interleaved(
                reference=self.reference,
                variants=tuple(
                    self._loadable(variant, build, caches, relative=tolerance_of(self.claim, variant).widest)
                    for variant, build in built.items()
                ),
                relative={one: tolerance_of(self.claim, f"{PREFIX}{EAGER}_{one}").widest for one in RANKS},
                baselines=None if baselines is None else tuple(one for one in baselines if one not in ready),
                compiled=tuple(ready),
                inputs=tuple(case.inputs for case in cases),
                budget_s=BRIEF_S if brief else BUDGET_S,
                half_width=HALF_WIDTH,
                rounds=self.rounds,
                seed=self.seed,
                kept_calls=KEPT_CALLS,
                folder=folder,
                caches=caches,
                inductor=prepared.load_cache(store, caches),
                shape=self.case.shape,
                profile=0 if brief else PROFILED_CALLS,
                published=() if brief else published(timed_mean=baselines is None and self.claim.protocol.timed_mean),
                ceilings=baselines is None,
            )
            reply = self.workers.call(request, limit_s=max(1.0, min(TIMING_LIMIT_S, self.until - time.monotonic())))
            before = len(self._measurements)
            self._keep(reply, name, what=name)
            kept = [event for event in reply.events if "file" in event or "no_tensor" in event]
            found = every_call(reply.events, verified(kept, cases, self.claim, folder))
            self._findings += found
            bits = cases[-1].bits
            self._measurements[before:] = classed(self._measurements[before:], found, bits)
        self._about(reply, name)
        trying = [event["trying"] for event in reply.events if "trying" in event]
        warmed = any("warmed" in event for event in reply.events)
        return trying[-1] if trying and not warmed and not reply.finished else None

    def _keep(self, reply: Reply, session: str, *, what: str) -> None:
        """Keep the samples of a reply and findings about failures; say one line."""
        self._measurements += measurements_of(reply.events, session=session, shape=self.case.shape)
        if reply.ending == "protocol violation":
            claimed = self.claim.claimed  # the only untrusted code
            self._findings.append(not_sent(claimed.name if claimed else what, [reply.detail]))
        self._findings += [not_timed(event["failed"], event["why"]) for event in reply.events if "failed" in event]
        self._findings += [
            not_timed(what, f"others use this GPU {event['shared']} % of the time, and ratios may be far off")
            for event in reply.events
            if "shared" in event
        ]
        absent = [event for event in reply.events if "skipped" in event]
        self._findings += [skipped(one["skipped"], one["why"], target=self.claim.name) for one in absent]
        if not reply.finished:
            self._findings.append(not_timed(what, f"{reply.ending}: {reply.detail}"))
        timed = {event["variant"] for event in reply.events if "samples_ms" in event}
        self.say(f"{what}: {len(timed)} callables timed" + ("" if reply.finished else f", then {reply.ending}"))

    def _about(self, reply: Reply, session: str) -> None:
        target = self.claim.name
        self._readings += [one for event in reply.events for one in readings(session, event.get("states", []))]
        ended = checks.session_summary(reply.events, name=session, target=target, half_width=HALF_WIDTH)
        first = next((event for event in reply.events if "cost" in event), None)
        if first is not None:
            floor = comparison.floor_here(first["gpu"], first["cost"])
            own = [one for one in self._measurements if one.session == session]
            self._findings += [floor] if session == LADDER else []
            self._findings += comparison.under_floor(own, floor, precisions=self._precisions(own))
        self._findings += [ended] if ended else []
        self._findings += checks.about(self._measurements, session, target=target)

    def _precisions(self, measurements: Sequence[Measurement]) -> dict[str, str]:
        """Return the declared precision of each variant, and that of each baseline."""
        declared = {one.name: one.precision for one in self.claim.variant}
        baselines = {one.variant for one in measurements if one.variant.startswith(PREFIX)}
        return declared | {name: precision_of(name, measurements) for name in sorted(baselines)}
