"""One device of an audit: the cases that fit it, what was built for it, and the probes asked there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from audit.build import second_compiler
from audit.build.device import AuditDevice, BuiltVariant
from audit.build.notes import failed_note
from audit.claims import ClaimFolder
from audit.claims.shapes.counting import MOST_WORK, first_that_fits, scope_of
from audit.claims.shapes.numbers import named
from audit.model import BuildNote, Finding, Shape, Variant
from audit.model.errors import AuditError, BadInput, CompileError, Unsupported
from audit.probes import agreement, builds_agree, channel, oldest_code, trivial_candidates, variations
from audit.probes.called import Case
from audit.probes.references import References
from audit.probes.runner import against_reference, ask_all, seen_again, unconfirmed
from audit.probes.target import Target
from audit.run import requests
from audit.run.pool import SharedProcess, Workers


class DeviceRun:
    """A device at work for one audit; its methods may be called from several threads, each variant from one.

    Args:
        folder: the claim.
        device: where it runs.
        workers: the processes sessions run in.
        scratch: a folder for inputs and outputs, empty and used by this run alone.
        keep: takes the note of every build.
    """

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
        self.built: dict[str, BuiltVariant] = {}
        self._folder = folder
        self._workers = workers
        self._scratch = scratch
        self._keep = keep
        self._published: dict[str, Future[BuiltVariant]] = {}
        self._before: dict[str, BuiltVariant | None] = {}
        self._taken_up: set[str] = set()
        self._unpublished: set[str] = set()
        self._found: dict[str, list[Finding]] = {}
        self._forged: dict[str, list[str]] = {}
        self._references = References(self._process if self.kind == "cuda" else None)

    def rest(self) -> None:
        """Ends the process that the reference answers in; nothing is asked meanwhile."""
        self._references.rest()

    def make_cases(self, *, entropy: int) -> dict[str, float]:
        """Inputs and float64 results, made in a process of their own; returns the least work of the claimed shape.

        Raises:
            BadInput: `reference.py` does not do what it must; says what happened.
        """
        claim, shapes = self._folder.claim, self._shapes()
        request = requests.Cases(
            reference=self._folder.reference,
            baselines=claim.baselines,
            shapes=shapes,
            seeds=tuple((entropy + case) % 2**63 for case in range(len(shapes))),
            cost_shape=claim.shapes.claimed,
            folder=self._scratch,
            device="cuda" if self.kind == "cuda" else "cpu",
        )
        reply = self._workers.call(request, limit_s=variations.LIMIT_S)
        if not reply.finished:
            raise BadInput(f"{self._folder.path.name}/reference.py: {reply.ending}: {reply.detail}")
        for event in reply.events[1:]:
            inputs = self._scratch / f"{event['case']}.inputs.pt"
            scope = scope_of(event["shape"], claim.shapes, self._numbers)
            case = Case.made(reply, event, shape=event["shape"], inputs=inputs, scope=scope)
            self.cases.append(self._comparable(case))
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

    def _shapes(self) -> tuple[Shape, ...]:
        """The shapes to ask at; of an importer's candidates the first whose work fits this device."""
        shapes = self.device.shapes(self._folder.claim)
        if self.kind == "cuda" or self._folder.claim.shapes.emulated_by == "claim" or len(shapes) == 1:
            return shapes
        request = requests.Work(reference=self._folder.reference, shapes=shapes, most=MOST_WORK)
        reply = self._workers.call(request, limit_s=variations.LIMIT_S)
        if not reply.finished:
            raise BadInput(f"{self._folder.path.name}/reference.py: {reply.ending}: {reply.detail}")
        scopes = [scope_of(shape, self._folder.claim.shapes, self._numbers) for shape in shapes]
        return (shapes[first_that_fits(scopes, [event["work"] for event in reversed(reply.events)])],)

    @cached_property
    def _numbers(self) -> frozenset[int]:
        """The numbers that the sources of the claim name."""
        files = [self._folder.source_of(variant) for variant in self._folder.claim.variant]
        return named(file.read_text(encoding="utf-8") for file in files)

    def vary(self) -> None:
        """Makes the other inputs that probes ask with, so that no variant has to wait for them."""
        with suppress(AuditError):  # each probe that asks with them reports what went wrong
            variations.ahead(
                self.cases,
                workers=self._workers,
                reference=self._folder.reference,
                device="cuda" if self.kind == "cuda" else "cpu",
                tolerance=self._folder.claim.tolerance,
            )

    def task(self, variant: Variant) -> Finding:
        """Whether the task can tell a right kernel from one that does no work; the built variant is not run."""
        found = trivial_candidates.finding(self._target(variant, self.built[variant.name]))
        return found.model_copy(update={"device": self.kind})

    def case_of(self, shape: Shape) -> Case:
        """The case of that shape."""
        return next(case for case in self.cases if case.shape == shape)

    def build(self, variant: Variant) -> BuildNote:
        """Builds a variant at the first level; the note tells what came of it."""
        return self._taken(variant, self.device.levels.first, lambda: self._built(variant, self.device.levels.first))

    def refusal(self, variant: Variant, note: BuildNote) -> second_compiler.Refusal | None:
        """What the compiler that the claimed kernel is written for says against it, where that note's build failed."""
        return second_compiler.asked(note, variant, self._folder.source_of(variant), kind=self.kind)

    def start_published(self, variant: Variant, threads: Executor) -> None:
        """Has the variant built as published, beside whatever goes on; nothing happens where there is no such level."""
        level = self.device.levels.published
        if level is not None and variant.name not in self._published:
            self._published[variant.name] = threads.submit(self._built, variant, level)

    def has_published(self, variant: Variant) -> bool:
        """Whether a published build has ended and was not taken yet."""
        return self.awaits_published(variant) and self._published[variant.name].done()

    def awaits_published(self, variant: Variant) -> bool:
        """Whether a published build was started and was not taken yet."""
        return variant.name in self._published and variant.name not in self._taken_up

    def take_published(self, variant: Variant) -> BuildNote:
        """Waits for the published build and takes it in place of the first, which stays where there is none."""
        first = self.built.get(variant.name)
        note = self._taken(variant, self.device.levels.published or "", self._published[variant.name].result)
        if note.outcome == "built":
            self._before[variant.name] = first
        else:
            self._unpublished.add(variant.name)
        self._taken_up.add(variant.name)
        return note

    def timeable(self) -> dict[str, BuiltVariant]:
        """The builds whose times can count: not the first build of a variant whose published build failed."""
        return {name: built for name, built in self.built.items() if name not in self._unpublished}

    def verify(self, variant: Variant) -> Iterator[Finding]:
        """Every probe about the variant as it is built now, and how that build differs from others."""
        before, earlier = self._before.get(variant.name), self._found.get(variant.name, [])
        found = self._found[variant.name] = []
        with self._shared() as process:
            target = self._target(variant, self.built[variant.name], shared=process)
            for finding in ask_all(target, second=self._second(variant)):
                one = unconfirmed(finding) if variant.name in self._unpublished else finding
                found.append(seen_again(one, by=earlier) if earlier else one)
                yield found[-1].model_copy(update={"device": self.kind})
            if before is not None:
                agree = builds_agree.run(self._target(variant, before), target, found=earlier, again=found)
                yield agree.model_copy(update={"device": self.kind})
            older = self._older_code(variant, target, found) if found[0].outcome != "error" else None
            if older is not None:
                yield older.model_copy(update={"device": self.kind})
        if seen := self._forged.get(variant.name):
            yield channel.finding(variant.name, seen).model_copy(update={"device": self.kind})

    def timed(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Findings about timed calls: wrong outputs of a variant count where the reference agrees with the oracle."""
        variants = {variant.name: variant for variant in self._folder.claim.variant}
        for found in findings:
            if found.fails_kernel and found.target in variants and found.target in self.built:
                target = self._target(variants[found.target], self.built[found.target])
                found = against_reference(found, target, probe=agreement.NAME)  # noqa: PLW2901
            yield found.model_copy(update={"device": self.kind})

    def _older_code(self, variant: Variant, own: Target, found: list[Finding]) -> Finding | None:
        """What code for the oldest GPU does here; None where the device has no such level."""
        if self.device.levels.oldest is None:
            return None
        try:
            built = self._built(variant, self.device.levels.oldest)
        except (CompileError, Unsupported) as error:
            return oldest_code.without(own, str(error))
        return oldest_code.run(own, self._target(variant, built, shared=own.shared), found=found)

    def _taken(self, variant: Variant, level: str, build: Callable[[], BuiltVariant]) -> BuildNote:
        try:
            built = build()
        except (CompileError, Unsupported) as error:
            note = failed_note(variant, level, error)
            self._keep(note)
            return note
        self.built[variant.name] = built
        return built.note

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
        """Builds the variant once more, when first asked, at the level that must confirm a conviction."""
        level = self.device.levels.confirming
        return None if level is None else cache(lambda: self._target(variant, self._built(variant, level)))

    def _target(self, variant: Variant, built: BuiltVariant, shared: SharedProcess | None = None) -> Target:
        return Target(
            claim=self._folder.claim,
            variant=variant,
            built=built,
            cases=tuple(self.cases),
            workers=self._workers,
            reference=self._folder.reference,
            folder=self._scratch,
            shared=shared,
            forged=self._forged.setdefault(variant.name, []),
            references=self._references,
        )
