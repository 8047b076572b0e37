"""The whole record of one audit. Its JSON form is the evidence: everything printed is derived from it."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Annotated, Literal

from pydantic import FailFast, Field, model_validator

from audit.model.base import Frozen
from audit.model.claim import Claim, Precision, Shape
from audit.model.finding import MOST_REPAIRS, DeviceKind, Finding, GeneratedRepair

LONGEST_MS = 1e9
"""Eleven days."""
Milliseconds = Annotated[float, Field(ge=0.0, le=LONGEST_MS)]
MOST_BLOCKS = 500
"""Of a timing session, which ends there; the longest published one has 69."""
MOST_SAMPLES = 8 * MOST_BLOCKS
"""Of one timing: a block has seven samples of a callable at most. The longest published one has 420."""
MOST_SAMPLES_IN_ALL, MOST_TIMINGS, MOST_TIMED = 60_000, 1000, 150
"""Of a record, its timings, and callables that were timed; the most in a published one are 4,885, 167 and 30."""
MOST_FINDINGS, MOST_OF_ONE, MOST_TARGETS = 5000, 400, 200
"""Of a record, about one variant, GPU or task, and of these; the most in a published one are 623, 54 and 26."""
MOST_BUILDS, MOST_PACKAGES, MOST_STAGES, MOST_LIMITS = 1000, 100, 50, 50
"""Of a record's environment: notes about builds, packages, stages, limits of the sandbox; the most in a published one
are 42, 8, 8 and 11."""
Block = Annotated[int, Field(ge=0, lt=MOST_BLOCKS)]
SCHEMA = 5
"""History: 1 (2026-11) first form, no longer read; 2 (2026-11) findings name their device, a second device may
stand beside the main one, samples know their block; 3 (2026-11) a verdict keeps the three answers it is made of, five
verdicts more, findings name their shape, whether the claim speaks of it, and all that they follow from; published
numbers who states them; 4 (2026-11) other words, see `old_words`; 5 (2026-11) ratios are medians of those of single
blocks, not of pooled samples, and baselines have the precision that they showed. An older record is read as one that
leaves these open; `audit.judge.as_judged_now` derives its verdict again."""

VerdictName = Literal[
    "incomplete",
    "wrong",
    "cannot be built",
    "undefined",
    "aliased result",
    "vacuous",
    "undecided",
    "reduced precision",
    "mistimed",
    "overstated",
    "weak baseline",
    "confirmed",
    "no defect found",
    "not-applicable",
]
ResultState = Literal["right", "wrong", "cannot be built", "undefined", "aliased result", "reduced precision", "open"]
TaskState = Literal["can tell", "only at other inputs", "cannot tell", "open"]
RungState = Literal["passed", "failed", "undefined", "undecided"]
RatioState = Literal["reached", "not reached", "weak baseline", "not its own", "mistimed", "open", "not measured"]


class SourceFile(Frozen):
    """One file the audit read, as it was."""

    file: str
    sha256: str
    size_bytes: int

    @classmethod
    def of(cls, file: str, data: bytes) -> SourceFile:
        """Return what a record keeps of a file with that content."""
        return cls(file=file, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


class AuditedClaim(Frozen):
    """The claim and the exact files it was audited from; those that a build read are added when it is known."""

    statement: Claim
    sources: tuple[SourceFile, ...]


class Device(Frozen):
    """What ran the kernels. `compute_capability` is 75 for 7.5; the emulated device gives no times."""

    kind: DeviceKind
    name: str
    compute_capability: int
    note: str


class BuildNote(Frozen):
    """How one variant was compiled; `flags` without paths; any outcome but "built" says why there is no library.

    `reads` are the files of the claim that went into it, as the compiler named them.
    """

    variant: str
    optimisation: str
    outcome: Literal["built", "does not compile", "not supported"]
    header_set: str | None
    compiler: str | None
    flags: tuple[str, ...]
    seconds: float
    from_cache: bool
    log: str = ""
    reads: tuple[SourceFile, ...] = ()


class Stage(Frozen):
    """Wall-clock seconds of one stage of the audit."""

    name: str
    seconds: float


class SandboxLimit(Frozen):
    """One limit around claimed code, as a process inside found it; `why` says why it does not hold."""

    name: str
    up: bool
    why: str = ""


class Environment(Frozen):
    """Machine, versions, flags and seeds: what somebody needs to do it again. Carries no absolute path, no host name.

    `command` is the audit's own, to be typed again where its files lie; None in records made before it was kept.
    `sandbox` are the limits around the sessions that ran claimed code; empty in records made before they were checked.
    """

    kit: str
    started_utc: str
    machine: str
    system: str
    python: str
    packages: dict[str, str] = Field(max_length=MOST_PACKAGES)
    compiler: str | None = None
    seeds: tuple[int, ...] = ()
    command: str | None = None
    builds: tuple[BuildNote, ...] = Field(default=(), max_length=MOST_BUILDS)
    stages: tuple[Stage, ...] = Field(default=(), max_length=MOST_STAGES)
    sandbox: tuple[SandboxLimit, ...] = Field(default=(), max_length=MOST_LIMITS)


class Measurement(Frozen):
    """Raw samples of one timing; statistics are derived from them, never stored.

    Of an interleaved session each sample has the number of its block and its callable's place in that block, and
    `session` names the process: only samples of one session make a ratio. Empty where nothing was interleaved.
    `precision` is the class that the results of a baseline showed in that session; None where that was not asked.
    """

    variant: str
    shape: Shape
    protocol: str
    samples_ms: Annotated[tuple[Milliseconds, ...], FailFast()] = Field(min_length=1, max_length=MOST_SAMPLES)
    blocks: Annotated[tuple[Block, ...], FailFast()] = Field(default=(), max_length=MOST_SAMPLES)
    positions: Annotated[tuple[int, ...], FailFast()] = Field(default=(), max_length=MOST_SAMPLES)
    session: str = ""
    precision: Precision | None = None

    @model_validator(mode="after")
    def _one_block_a_sample(self) -> Measurement:
        if any(len(result) not in (0, len(self.samples_ms)) for result in (self.blocks, self.positions)):
            raise ValueError(f"{self.variant}: as many blocks and positions as samples, or none")
        return self


class Rung(Frozen):
    """One variant's place on the ladder. A time is None unless the variant passed and this device can time."""

    variant: str
    role: str
    technique: str
    precision: str
    state: RungState
    reason: str
    median_ms: float | None = None


class Place(Frozen):
    """Where something was asked or seen: a shape, a device by its name, and in how many builds of the source."""

    shape: Shape | None = None
    device: str | None = None
    builds: int = 1


class Answer(Frozen):
    """One of the three answers of a verdict: why, and the places it speaks of; of a failure those that show it."""

    reasons: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()


class ResultAnswer(Answer):
    """Is the result right? *undefined* has undefined behaviour in it, whatever the values were.

    `causes` is the number of distinct causes of a failure: findings that show the same elements have one.
    """

    causes: int = 0

    state: ResultState = "open"


class TaskAnswer(Answer):
    """Can the task tell a right kernel from one that computes nothing, at its own inputs or at others?"""

    state: TaskState = "open"


class RatioAnswer(Answer):
    """Was the published ratio reached? *weak baseline*: against the named baseline alone; *not measured*: no time was
    taken where the claim speaks; *open*: one was, and decides nothing, or a hint waits for another device."""

    state: RatioState = "open"


class Verdict(Frozen):
    """One headline of three answers, with its reasons; `confidence` says how sure and `scope` for what it speaks.

    The answers are None in an unfinished record and in one older than schema 3; `first_judged` is the headline that an
    older record was published with.
    """

    name: VerdictName
    result: ResultAnswer | None = None
    task: TaskAnswer | None = None
    ratio: RatioAnswer | None = None
    reasons: tuple[str, ...] = ()
    root_cause: str | None = None
    confidence: Literal["high", "medium", "low"] | None = None
    confidence_reason: str | None = None
    scope: str | None = None
    missing: tuple[str, ...] = ()
    first_judged: VerdictName | None = None


class Record(Frozen):
    """One audit. Written first with the verdict `incomplete`, replaced atomically at the end.

    `device` is the one the audit is for; `secondary_devices` gave evidence too: wrongness found on any of them
    counts, and what they cannot answer blocks nothing. `generated` are the repairs that the audit made of a failed
    kernel by itself: findings about them name a cause, and decide no verdict.
    """

    schema_: Literal[2, 3, 4, 5] = Field(default=5, alias="schema")
    claim: AuditedClaim
    device: Device
    secondary_devices: tuple[Device, ...] = ()
    environment: Environment
    findings: Annotated[tuple[Finding, ...], FailFast()] = Field(default=(), max_length=MOST_FINDINGS)
    measurements: Annotated[tuple[Measurement, ...], FailFast()] = Field(default=(), max_length=MOST_TIMINGS)
    ladder: tuple[Rung, ...] = ()
    generated: tuple[GeneratedRepair, ...] = Field(default=(), max_length=MOST_REPAIRS)
    verdict: Verdict = Verdict(name="incomplete", reasons=("the audit has not finished",))

    def rung(self, variant: str) -> Rung | None:
        """The place of that variant on the ladder."""
        return next((one for one in self.ladder if one.variant == variant), None)

    @property
    def claimed_name(self) -> str | None:
        """The name of the claimed variant, which findings about it have as their target."""
        claimed = self.claim.statement.claimed
        return None if claimed is None else claimed.name

    @model_validator(mode="after")
    def _of_a_size_that_an_audit_has(self) -> Record:
        about = Counter(one.target for one in self.findings)
        if len(about) > MOST_TARGETS:
            raise ValueError(f"findings about {len(about):,} things; at most {MOST_TARGETS} are read")
        for target, count in about.most_common(1):
            if count > MOST_OF_ONE:
                raise ValueError(f"{count} findings about {target[:80]}; at most {MOST_OF_ONE} are read")
        timed = len({one.variant for one in self.measurements})
        if timed > MOST_TIMED:
            raise ValueError(f"times of {timed:,} callables; at most {MOST_TIMED} are read")
        samples = sum(len(one.samples_ms) for one in self.measurements)
        if samples > MOST_SAMPLES_IN_ALL:
            raise ValueError(f"{samples:,} samples; at most {MOST_SAMPLES_IN_ALL:,} are read")
        return self
