"""One device of an audit: the cases that fit it, what was built for it, and the probes asked there."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from audit.build.device import AuditDevice, BuiltVariant
from audit.build.notes import failed_note
from audit.build.second_compiler import Refusal, refusal_of
from audit.claims import ClaimFolder
from audit.claims.shapes import numbers
from audit.claims.shapes.counting import scope_of
from audit.model import BuildNote, Finding, Shape, Variant
from audit.model.errors import AuditError, BadInput, CompileError, Unsupported
from audit.probes import agreement, builds_agree, oldest_code, trivial_candidates
from audit.probes.concluding import answer
from audit.probes.observing import shapes_asked, triton_compiles, variations
from audit.probes.observing.cases import Case
from audit.probes.observing.references import References
from audit.probes.observing.runner import against_reference, ask_all, seen_again, unconfirmed
from audit.probes.observing.target import Target
from audit.run.messages import requests
from audit.run.processes.pool import SharedProcess, Workers


@dataclass(frozen=True)
class Build:
    """One build of a variant: its note, and what was built, if anything was."""

    note: BuildNote
    built: BuiltVariant | None


@dataclass(frozen=True)
class VariantResult:
    """What is known of a variant on one device: the build that counts, and what the probes found of it.

    `merged` tells that its published build was waited for. `timeable` is False for a fast build whose published build,
    which must confirm it, does not exist.
    """

    variant: Variant
    build: Build
    findings: tuple[Finding, ...] = ()
    merged: bool = False
    timeable: bool = True


def merge(fast: VariantResult, published: VariantResult) -> VariantResult:
    """What counts where both builds were asked: the published one; of the fast one what needs no confirmation."""
    if published.build.built is None:
        return replace(fast, findings=tuple(map(unconfirmed, fast.findings)), merged=True, timeable=False)
    marked = (seen_again(one, by=fast.findings) if fast.findings else one for one in published.findings)
    return replace(published, findings=tuple(marked), merged=True)


class DeviceRun:
    """A device at work for one audit; its methods may be called from several threads, each variant from one. `scratch`
    is a folder for inputs and outputs, empty and used by this run alone; `keep` takes the note of every build."""

    def __init__(
        self,
        folder: ClaimFolder,
        device: AuditDevice,
        *,
        workers: Workers,
        scratch: Path,
        keep: Callable[[BuildNote], None],
    ) -> None:
        self.device = device
        self.kind = device.describe().kind
        self.cases: list[Case] = []
        self._seed = 0
        self._folder = folder
        self._workers = workers
        self._scratch = scratch
        self._keep = keep
        self._violations: dict[str, list[str]] = {}
        self._references = References(self._process if self.kind == "cuda" else None)

    def of_another(self, folder: ClaimFolder, *, keep: Callable[[BuildNote], None]) -> DeviceRun:
        """Return the same device with the same cases, whose variants lie in another folder of the same claim."""
        other = copy(self)
        other._folder, other._keep = folder, keep
        other._references = References(other._process if self.kind == "cuda" else None)
        return other

    def rest(self) -> None:
        """Ends the process that the reference answers in; nothing is asked meanwhile."""
        self._references.close()

    def make_cases(self, *, entropy: int) -> dict[str, float]:
        """Inputs and float64 results, made in a process of their own; returns the least work of the claimed shape.
        Raises BadInput: `reference.py` does not do what it must; says what happened."""
        self._seed = entropy
        return self._make_cases(shapes_asked.of(self._folder, self.device, self._workers, self._numbers))

    def fit_cases(self, variant: Variant, built: BuiltVariant) -> str | None:
        """Make smaller cases in the place of those at which a call is too much work for the device; return which."""
        before = self.cases[0].label
        with suppress(BadInput):  # the reference refuses that shape
            if shape := shapes_asked.lighter(self.target(variant, built), self._numbers):
                self._make_cases((shape,))
            if shape := shapes_asked.quicker(self.target(variant, built)):
                self._make_cases((shape,))
        after = self.cases[0].label
        return None if after == before else f"{after} in place of {before}, where a call takes too long on this device"

    def _make_cases(self, shapes: tuple[Shape, ...]) -> dict[str, float]:
        claim, entropy = self._folder.claim, self._seed
        folder = Path(tempfile.mkdtemp(prefix="cases-", dir=self._scratch))
        request = requests.Cases(
            reference=self._folder.reference,
            baselines=claim.baselines,
            shapes=shapes,
            seeds=tuple((entropy + case) % 2**63 for case in range(len(shapes))),
            cost_shape=claim.shapes.claimed,
            folder=folder,
            device="cuda" if self.kind == "cuda" else "cpu",
        )
        reply = self._workers.call(request, limit_s=variations.LIMIT_S)
        if not reply.finished:
            raise shapes_asked.unusable(self._folder, reply, on_gpu=self.kind == "cuda")
        made = []
        for event in reply.events[1:]:
            inputs = folder / f"{event['case']}.inputs.pt"
            scope = scope_of(event["shape"], claim.shapes, self._numbers)
            case = Case.made(reply, event, shape=event["shape"], inputs=inputs, scope=scope)
            made.append(self._comparable(case))
        self.cases[:] = made
        cost: dict[str, float] = reply.events[0]["cost"]
        return cost

    def _comparable(self, case: Case) -> Case:
        """The case. Raises BadInput where nothing can be compared with its right result."""
        if not np.isfinite(case.expected).any():
            raise BadInput(
                f"{self._folder.path.name}/reference.py: {case.label}: no element of the float64 result is finite, so "
                "nothing can be compared with it; correct `oracle` or `inputs`, or the shape in claim.toml"
            )
        return case

    @cached_property
    def _numbers(self) -> frozenset[int]:
        return numbers.of_claim(self._folder.claim, self._folder.path)

    def vary(self) -> None:
        """Makes the other inputs that probes ask with, so that no variant has to wait for them."""
        with suppress(AuditError):  # each probe that asks with them reports what went wrong
            variations.made_for(
                self.cases,
                workers=self._workers,
                reference=self._folder.reference,
                device="cuda" if self.kind == "cuda" else "cpu",
                tolerance=self._folder.claim.tolerance,
            )

    def task(self, variant: Variant, built: BuiltVariant) -> Finding:
        """Whether the task can tell a right kernel from one that does no work; the built variant is not run."""
        return self._marked(trivial_candidates.finding(self.target(variant, built)))

    def case_of(self, shape: Shape) -> Case:
        """The case of that shape."""
        return next(case for case in self.cases if case.shape == shape)

    def build(self, variant: Variant, level: str) -> Build:
        """Build a variant at a level of the device; the note says what came of it."""
        try:
            built = self._built(variant, level)
        except (CompileError, Unsupported) as error:
            note = failed_note(variant, level, error, self._folder.source_of(variant))
            self._keep(note)
            return Build(note, None)
        return Build(built.note, built)

    def refusal(self, variant: Variant, note: BuildNote) -> Refusal | None:
        """What the compiler that the claimed kernel is written for says against it, where that note's build failed."""
        source, flags = self._folder.source_of(variant), self._folder.claim.protocol.of_the_text
        return refusal_of(note, variant, source, kind=self.kind, flags=flags)

    def located(self, variant: Variant, text: str) -> str:
        """Return a sentence about a variant with the places of the lines that it names, see `ClaimFolder.located`."""
        return self._folder.located(variant, text)

    def verify(
        self,
        variant: Variant,
        built: BuiltVariant,
        *,
        fast: VariantResult | None = None,
        only: Collection[str] | None = None,
    ) -> Iterator[Finding]:
        """Every probe about a build, or `only` those and no other code of the source, and how it differs from others:
        from the `fast` result of an earlier build of the same source, which this one replaces."""
        found: list[Finding] = []
        with self._shared() as process:
            target = self.target(variant, built, shared=process)
            if only is None and (refused := triton_compiles.finding(target)) is not None:
                yield self._marked(refused)
            for finding in ask_all(target, second=self._second(variant), only=only):
                found.append(finding)
                yield self._marked(finding)
            if fast is not None and fast.build.built is not None:
                first = self.target(variant, fast.build.built)
                yield self._marked(builds_agree.run(first, target, found=fast.findings, again=found))
            older = self._older_code(variant, target, found) if found[0].outcome != "error" and only is None else None
            if older is not None:
                yield self._marked(older)
        if seen := self._violations.get(variant.name):
            yield self._marked(answer.not_sent(variant.name, seen))

    def timed(self, findings: Iterable[Finding], built: Mapping[str, BuiltVariant]) -> Iterator[Finding]:
        """Findings about timed calls: wrong outputs of a variant count where the reference agrees with the oracle."""
        variants = {variant.name: variant for variant in self._folder.claim.variant}
        for found in findings:
            if found.fails_kernel and found.target in variants and found.target in built:
                target = self.target(variants[found.target], built[found.target])
                found = against_reference(found, target, probe=agreement.NAME)  # noqa: PLW2901
            yield self._marked(found)

    def target(self, variant: Variant, built: BuiltVariant, shared: SharedProcess | None = None) -> Target:
        """A build as probes ask it."""
        return Target(
            claim=self._folder.claim,
            variant=variant,
            built=built,
            cases=tuple(self.cases),
            workers=self._workers,
            reference=self._folder.reference,
            folder=self._scratch,
            shared=shared,
            violations=self._violations.setdefault(variant.name, []),
            references=self._references,
            seed=self._seed,
        )

    def _marked(self, finding: Finding) -> Finding:
        return finding.model_copy(update={"device": self.kind})

    def _older_code(self, variant: Variant, own: Target, found: list[Finding]) -> Finding | None:
        """What code for the oldest GPU does here; None where the device has no such level."""
        if self.device.levels.oldest is None:
            return None
        try:
            built = self._built(variant, self.device.levels.oldest)
        except (CompileError, Unsupported) as error:
            return oldest_code.without(own, str(error))
        return oldest_code.run(own, self.target(variant, built, shared=own.shared), found=found)

    def _shared(self) -> AbstractContextManager[SharedProcess | None]:
        """One process for most sessions where starting one is dear: a CUDA context takes half a second."""
        return self._process() if self.kind == "cuda" else nullcontext()

    def _process(self) -> AbstractContextManager[SharedProcess]:
        return self._workers.shared(self._scratch, reads=[self._folder.reference.parent])

    def _built(self, variant: Variant, level: str) -> BuiltVariant:
        built = self.device.build(self._folder.source_of(variant), variant, optimisation=level)
        self._keep(built.note)
        return built

    def _second(self, variant: Variant) -> Callable[[], Target] | None:
        """Builds the variant once more, when first asked, at the level that must confirm a failure."""
        level = self.device.levels.confirming
        return None if level is None else cache(lambda: self.target(variant, self._built(variant, level)))
