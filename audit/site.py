"""One device of an audit: the cases that fit it, what was built for it, and the probes asked there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any

from audit import task
from audit.build.device import AuditDevice, BuiltVariant
from audit.build.notes import failed_note
from audit.claims import ClaimFolder
from audit.errors import AuditError, BadInput, CompileError, Unsupported
from audit.model import BuildNote, Finding, Shape, Variant
from audit.probes import builds_agree, channel, oldest_code, variations
from audit.probes.called import Case
from audit.probes.runner import ask_all, seen_again
from audit.probes.target import Target
from audit.worker.pool import SharedProcess, Workers


class Site:
    """A device at work for one audit; its methods may be called from several threads, each variant from one.

    Args:
        folder: the claim.
        device: where it runs.
        workers: the processes sessions run in.
        scratch: a folder for inputs and outputs, empty and nobody else's.
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
        self._found: dict[str, list[Finding]] = {}
        self._forged: dict[str, list[str]] = {}

    def make_cases(self, *, entropy: int) -> dict[str, float]:
        """Inputs and float64 results, made in a process of their own; returns the least work of the claimed shape.

        Raises:
            BadInput: `reference.py` does not do what it must; says what happened.
        """
        claim, shapes = self._folder.claim, self.device.shapes(self._folder.claim)
        request: dict[str, Any] = {
            "reference": str(self._folder.reference),
            "baselines": list(claim.baselines),
            "shapes": [dict(shape) for shape in shapes],
            "seeds": [(entropy + case) % 2**63 for case in range(len(shapes))],
            "cost_shape": dict(claim.shapes.claimed),
            "folder": str(self._scratch),
            "device": "cuda" if self.kind == "cuda" else "cpu",
        }
        reply = self._workers.call("oracle", request, limit_s=variations.LIMIT_S)
        if not reply.finished:
            raise BadInput(f"{self._folder.path.name}/reference.py: {reply.ending}: {reply.detail}")
        for event in reply.events[1:]:
            inputs = self._scratch / f"{event['case']}.inputs.pt"
            self.cases.append(Case(event["shape"], inputs, reply.expected(event), event["expected_dtype"]))
        cost: dict[str, float] = reply.events[0]["cost"]
        return cost

    def vary(self) -> None:
        """Makes the other inputs that probes ask with, so that no variant has to wait for them."""
        with suppress(AuditError):  # whoever asks with them says what went wrong
            where = "cuda" if self.kind == "cuda" else "cpu"
            variations.ahead(self.cases, workers=self._workers, reference=self._folder.reference, device=where)

    def task(self, variant: Variant) -> Finding:
        """Whether the task can tell a right kernel from one that does no work; the built variant is not run."""
        found = task.finding(self._target(variant, self.built[variant.name]))
        return found.model_copy(update={"device": self.kind})

    def case_of(self, shape: Shape) -> Case:
        """The case of that shape."""
        return next(case for case in self.cases if case.shape == shape)

    def build(self, variant: Variant) -> BuildNote:
        """Builds a variant at the first level; the note tells what came of it."""
        return self._taken(variant, self.device.levels.first, lambda: self._built(variant, self.device.levels.first))

    def start_published(self, variant: Variant, threads: Executor) -> None:
        """Has the variant built as published, beside whatever goes on; nothing happens where there is no such level."""
        level = self.device.levels.published
        if level is not None and variant.name not in self._published:
            self._published[variant.name] = threads.submit(self._built, variant, level)

    def has_published(self, variant: Variant) -> bool:
        """Whether a published build has ended that nobody has taken yet."""
        return self.awaits_published(variant) and self._published[variant.name].done()

    def awaits_published(self, variant: Variant) -> bool:
        """Whether a published build was started that nobody has taken yet."""
        return variant.name in self._published and variant.name not in self._before

    def take_published(self, variant: Variant) -> BuildNote:
        """Waits for the published build and takes it in place of the first; the note tells what came of it."""
        self._before[variant.name] = self.built.pop(variant.name, None)
        return self._taken(variant, self.device.levels.published or "", self._published[variant.name].result)

    def verify(self, variant: Variant) -> Iterator[Finding]:
        """Every probe about the variant as it is built now, and how that build differs from others."""
        before, earlier = self._before.get(variant.name), self._found.get(variant.name, [])
        found = self._found[variant.name] = []
        with self._shared() as process:
            target = self._target(variant, self.built[variant.name], shared=process)
            for finding in ask_all(target, second=self._second(variant)):
                found.append(seen_again(finding, by=earlier) if earlier else finding)
                yield found[-1].model_copy(update={"device": self.kind})
            if before is not None:
                agree = builds_agree.run(self._target(variant, before), target, found=earlier, again=found)
                yield agree.model_copy(update={"device": self.kind})
            older = self._older_code(variant, target, found) if found[0].outcome != "error" else None
            if older is not None:
                yield older.model_copy(update={"device": self.kind})
        if seen := self._forged.get(variant.name):
            yield channel.finding(variant.name, seen).model_copy(update={"device": self.kind})

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
        if self.kind != "cuda":
            return nullcontext()
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
        )
