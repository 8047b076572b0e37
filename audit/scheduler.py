"""The order of the work on one device: variants are built and asked in the background, the claimed kernel first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TypeVar

from audit.build.cuda import gpu
from audit.build.device import BuiltVariant
from audit.build.notes import build_finding
from audit.build.second_compiler import Refusal
from audit.device_run import Build, DeviceRun, VariantResult, merge
from audit.model import BuildNote, Finding, Variant
from audit.probes import PROBES, inherited
from audit.record_writer import RecordWriter
from audit.report.found import mark, outcome
from audit.report.progress import Progress
from audit.sandbox import limits

Result = TypeVar("Result")
MOST_JOBS = 16
A_BUILD = 20
"""Pieces of work that a build counts as, in the progress, where an answer of a probe counts as one."""
LAST_OF_THE_FIRST = inherited.NAME
"""The last of the questions that are asked of the claimed kernel before anything is asked of another variant."""
OF_THE_CLAIM = 5
"""Pieces of the questions that are asked of the claim once, behind those of its variants."""


def jobs() -> int:
    """Variants at work at once on one device."""
    return min(limits.jobs(), MOST_JOBS)


def places(devices: int) -> int:
    """Worker processes that audits on so many devices need at once, so that none waits for another for ever."""
    return (jobs() + 3) * devices


class Scheduler:
    """Build and ask as soon as something can start, in the order that variants matter; findings go into the record at
    once."""

    def __init__(
        self, device_run: DeviceRun, order: list[Variant], *, writer: RecordWriter, progress: Progress, jobs: int
    ) -> None:
        self.device_run = device_run
        self._order, self._jobs = order, jobs
        self._writer, self._progress = writer, progress
        self._threads = ThreadPoolExecutor(jobs)
        self._long = ThreadPoolExecutor(max(4, jobs))
        self._prepared: Future[None]
        self._cases: Future[dict[str, float]]
        self._fitted: Future[None]
        self._fast: dict[str, Future[Build]] = {}
        self._published: dict[str, Future[Build]] = {}
        self._answered: dict[str, Future[VariantResult]] = {}
        self._confirmed: dict[str, Future[VariantResult]] = {}
        self._first_word = threading.Event()  # on what the audit is about; others are asked from then on
        self._varied: Future[None]
        self._task: Future[None]
        again = sum(one.role == "claimed" for one in order) if device_run.device.levels.published else 0
        progress.expect(len(order) * (A_BUILD + len(PROBES)) + again * len(PROBES) + OF_THE_CLAIM)

    def close(self) -> None:
        """Waits for what runs; starts nothing more."""
        self._threads.shutdown(cancel_futures=True)
        self._long.shutdown(cancel_futures=True)
        self.device_run.rest()

    def cancel(self) -> None:
        """Starts nothing more, and waits for nothing."""
        self._first_word.set()
        for threads in (self._threads, self._long):
            threads.shutdown(wait=False, cancel_futures=True)

    def start(self, *, entropy: int) -> None:
        """Starts everything: cases, what builds share, builds, and answers as soon as there is something to ask."""
        self._prepared = self._long.submit(self.device_run.device.prepare)
        self._cases = self._long.submit(self._make_cases, entropy)
        for variant in self._order:
            if variant.role == "claimed":
                self._publish(variant)
        first, others = self._order[: self._jobs], self._order[self._jobs :]
        self._submit_builds(first)
        self._fitted = self._long.submit(self._fit_cases)
        self._submit_answers(self._order[:1])  # before the other builds
        self._submit_builds(others)
        self._submit_answers(self._order[1:])
        self._varied = self._long.submit(self._vary)
        self._task = self._long.submit(self._ask_the_task)

    def cost(self) -> dict[str, float]:
        """The least work of the claimed shape, once the cases are there."""
        return self._cases.result()

    def beside(self, work: Callable[[], Result]) -> Future[Result]:
        """Has something else done in the background."""
        return self._long.submit(work)

    def wait_for_builds(self) -> None:
        """Until every variant was built at the first level, or could not be, and the claimed kernel answered the first
        questions: what others are asked then takes the processor from it."""
        for build in self._fast.values():
            build.result()
        self._wait_for_the_first_word()

    def wait_for_answers(self) -> None:
        """Until every probe has been asked about every variant that was built."""
        for answered in self._answered.values():
            answered.result()
        self._varied.result()
        self._task.result()
        self.device_run.rest()
        self._progress.advance(OF_THE_CLAIM)

    def waiting(self) -> list[Variant]:
        """Variants whose published build was not there when the fast one was asked."""
        late = [one for one in self._order if one.name in self._published and one.name not in self._confirmed]
        return [one for one in late if not self._answered[one.name].result().merged]

    def confirm(self, variants: list[Variant]) -> None:
        """Wait for the published builds of those, and ask about them; what was found before is replaced."""
        gpu.unlock()  # builds use the processor alone
        with self._progress.doing(f"building {', '.join(map(self._file, variants))} as published"):
            wait([self._published[variant.name] for variant in variants])
        self._lock_gpu()
        for variant in variants:
            fast = self._answered[variant.name].result()
            self._confirmed[variant.name] = self._threads.submit(self._confirm, fast)
        for variant in variants:
            self._confirmed[variant.name].result()
        self.device_run.rest()

    def timeable(self) -> dict[str, BuiltVariant]:
        """The builds whose times can count, once they were asked."""
        known = {**self._answered, **self._confirmed}
        results = {name: one.result() for name, one in known.items()}
        return {name: one.build.built for name, one in results.items() if one.build.built and one.timeable}

    def _submit_builds(self, variants: list[Variant]) -> None:
        for variant in variants:
            self._fast[variant.name] = self._threads.submit(self._build, variant)

    def _submit_answers(self, variants: list[Variant]) -> None:
        for variant in variants:
            self._answered[variant.name] = self._threads.submit(self._answer, variant)

    def _publish(self, variant: Variant) -> None:
        """Have the variant built as published, beside other work; nothing happens where there is no such level."""
        level = self.device_run.device.levels.published
        if level is not None and variant.name not in self._published:
            self._published[variant.name] = self._long.submit(self.device_run.build, variant, level)

    def _build(self, variant: Variant) -> Build:
        """The first build; where that is not for this source, the published build is started and decides."""
        self._prepared.result()
        with self._progress.doing(f"{self._label}building {self._file(variant)}"):
            build = self.device_run.build(variant, self.device_run.device.levels.first)
        if build.note.from_cache:
            self._progress.expect(1 - A_BUILD)
        self._progress.advance(1 if build.note.from_cache else A_BUILD)
        if build.built is not None or self.device_run.device.levels.published is None:
            self._built(variant, build.note)
        else:
            self._progress.say(f"{self._label}{self._file(variant)}: {build.note.log}")
            self._publish(variant)
        return build

    def _answer(self, variant: Variant) -> VariantResult:
        """The result of the first build, or of both where the published one is there already."""
        try:
            return self._first_answer(variant)
        finally:
            if variant is self._order[0]:
                self._first_word.set()

    def _first_answer(self, variant: Variant) -> VariantResult:
        build = self._fast[variant.name].result()
        self._fitted.result()
        if variant is not self._order[0]:
            self._wait_for_the_first_word()
        published = self._published.get(variant.name)
        if published is not None and published.done():
            self._progress.advance(len(PROBES))
            return self._confirm(VariantResult(variant, build))
        if build.built is None:
            self._progress.advance(0 if published else len(PROBES))
            return VariantResult(variant, build)
        return VariantResult(variant, build, self._verify(variant, build.built))

    def _wait_for_the_first_word(self) -> None:
        if self._order[0].role == "claimed":
            self._first_word.wait()

    def _make_cases(self, entropy: int) -> dict[str, float]:
        """Everything that uses a device waits for its cases, and so for the audit's turn on it; builds do not."""
        self._lock_gpu()
        return self.device_run.make_cases(entropy=entropy)

    def _fit_cases(self) -> None:
        """On the emulated device once the first variant is built: its launches say what a call costs."""
        self._cases.result()
        first = self._order[0]
        built = None if self.device_run.kind == "cuda" else self._fast[first.name].result().built
        if built is not None and (smaller := self.device_run.fit_cases(first, built)) is not None:
            self._progress.say(f"{self._label}{smaller}")

    def _lock_gpu(self) -> None:
        if self.device_run.kind == "cuda":
            with self._progress.doing("waiting for the GPU that another audit uses"):
                gpu.lock()

    def _vary(self) -> None:
        self._fitted.result()
        self.device_run.vary()

    def _ask_the_task(self) -> None:
        """Once for the claim, with the first variant that was built."""
        self._fitted.result()
        for variant in self._order:
            if (built := self._fast[variant.name].result().built) is not None:
                self._writer.add([self.device_run.task(variant, built)])
                return

    def _verify(self, variant: Variant, built: BuiltVariant, fast: VariantResult | None = None) -> tuple[Finding, ...]:
        found: list[Finding] = []
        with self._progress.doing(f"{self._label}asking about {self._file(variant)}"):
            for finding in self.device_run.verify(variant, built, fast=fast):
                if fast is None:  # else they replace those of the fast build, all at once
                    self._writer.add([finding])
                self._progress.advance(int(finding.probe in PROBES))
                found.append(finding)
                if finding.probe == LAST_OF_THE_FIRST and variant is self._order[0]:
                    self._first_word.set()
                if variant.role == "claimed" and finding.outcome == "fail":
                    noted = "noted: " if finding.grade == "hint" or not finding.claimed else ""
                    text = self.device_run.located(variant, f"{noted}{finding.probe}: {finding.summary}")
                    self._progress.say(f"{self._label}{self._file(variant)}: {text}")
        self._progress.say(f"{self._label}{self._file(variant)}: {outcome(found)}", mark=mark(found))
        return tuple(found)

    def _confirm(self, fast: VariantResult) -> VariantResult:
        """The result of both builds, which replaces what the record has of the fast one."""
        variant = fast.variant
        build = self._published[variant.name].result()
        self._built(variant, build.note)
        published = VariantResult(variant, build)
        if build.built is not None:
            published = replace(published, findings=self._verify(variant, build.built, fast))
        elif fast.build.built is None or fast.findings:
            self._progress.advance(len(PROBES))
        else:
            fast = replace(fast, findings=self._verify(variant, fast.build.built))
        result = merge(fast, published)
        self._writer.replace(result.findings, of=variant.name, on=self.device_run.kind)
        return result

    def _built(self, variant: Variant, note: BuildNote) -> None:
        how = f"{note.optimisation} ({'from cache' if note.from_cache else f'{note.seconds:.1f} s'})"
        self._progress.say(f"{self._label}{self._file(variant)}: {note.outcome}, {how}")
        found = build_finding(note, self._refusal(variant, note))
        self._writer.add([found.model_copy(update={"device": self.device_run.kind})])

    def _refusal(self, variant: Variant, note: BuildNote) -> Refusal | None:
        """What the compiler of the claimed kernel says where it did not build on the device that the audit is for."""
        if note.outcome != "does not compile" or self.device_run.kind != self._writer.record.device.kind:
            return None
        with self._progress.doing(f"asking the compiler that {self._file(variant)} is written for"):
            return self.device_run.refusal(variant, note)

    def _file(self, variant: Variant) -> str:
        return self._writer.record.claim.statement.known_as(variant)

    @property
    def _label(self) -> str:
        return "" if self.device_run.kind == self._writer.record.device.kind else f"{self.device_run.kind}: "
