"""The order of the work on one device: variants are built and asked in the background, the claimed kernel first."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from audit.build.notes import build_finding
from audit.build.second_compiler import Refusal
from audit.device_run import DeviceRun
from audit.model import BuildNote, Finding, Variant
from audit.probes import PROBES
from audit.probes.runner import unconfirmed
from audit.record_writer import RecordWriter
from audit.report.progress import Progress
from audit.run import gpu_lock

Result = TypeVar("Result")
MOST_JOBS = 16
A_BUILD = 20
"""Pieces of work that a build counts as, in the progress, where an answer of a probe counts as one."""


def jobs() -> int:
    """Variants at work at once on one device."""
    return max(1, min(os.cpu_count() or 1, MOST_JOBS))


def places(devices: int) -> int:
    """Worker processes that audits on so many devices need at once, so that none waits for another for ever."""
    return (jobs() + 3) * devices


def outcome(findings: Sequence[Finding]) -> str:
    """Say what the probes found about a variant, the failures that count first."""
    kinds = {
        "failed": [one for one in findings if one.fails_kernel],
        "undefined behaviour": [one for one in findings if one.grade == "undefined" and one.claimed],
        "no answer": [one for one in findings if one.outcome == "error"],
    }
    named = {one.probe for group in kinds.values() for one in group}
    kinds["only noted"] = [one for one in findings if one.outcome == "fail" and one.probe not in named]
    parts = [f"{kind}: {', '.join(one.probe for one in group)}" for kind, group in kinds.items() if group]
    return "; ".join([*parts] if named else ["passed every probe", *parts])


class Scheduler:
    """Build and ask as soon as something can start; findings go into the record at once.

    Args:
        device_run: the device with its cases and builds.
        order: the variants, in the order they matter.
        writer: takes findings.
        progress: is told what is done.
        jobs: variants at work at once.
    """

    def __init__(
        self, device_run: DeviceRun, order: list[Variant], *, writer: RecordWriter, progress: Progress, jobs: int
    ) -> None:
        self.device_run = device_run
        self._order = order
        self._writer = writer
        self._progress = progress
        self._jobs = jobs
        self._threads = ThreadPoolExecutor(jobs)
        self._long = ThreadPoolExecutor(max(4, jobs))
        self._prepared: Future[None]
        self._cases: Future[dict[str, float]]
        self._notes: dict[str, Future[BuildNote]] = {}
        self._answered: dict[str, Future[None]] = {}
        self._varied: Future[None]
        self._task: Future[None]
        again = sum(one.role == "claimed" for one in order) if device_run.device.levels.published else 0
        progress.expect(len(order) * (A_BUILD + len(PROBES)) + again * len(PROBES))

    def close(self) -> None:
        """Waits for what runs; starts nothing more."""
        self._threads.shutdown(cancel_futures=True)
        self._long.shutdown(cancel_futures=True)
        self.device_run.rest()

    def start(self, *, entropy: int) -> None:
        """Starts everything: cases, what builds share, builds, and answers as soon as there is something to ask."""
        self._prepared = self._long.submit(self.device_run.device.prepare)
        self._cases = self._long.submit(self._make_cases, entropy)
        for variant in self._order:
            if variant.role == "claimed":
                self.device_run.start_published(variant, self._long)
        first, others = self._order[: self._jobs], self._order[self._jobs :]
        self._submit_builds(first)
        self._submit_answers(self._order[:1])  # before the other builds: what the audit is about is known first
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
        """Until every variant has been built at the first level, or could not be."""
        for note in self._notes.values():
            note.result()

    def wait_for_answers(self) -> None:
        """Until every probe has been asked about every variant that was built."""
        for answered in (*self._answered.values(), self._varied, self._task):
            answered.result()
        self.device_run.rest()

    def waiting(self) -> list[Variant]:
        """Variants whose published build has not been taken yet."""
        return [variant for variant in self._order if self.device_run.awaits_published(variant)]

    def confirm(self, variants: list[Variant]) -> None:
        """Waits for the published builds of those, and asks again about them; what was found before is replaced."""
        for confirmed in [self._threads.submit(self._confirm, variant) for variant in variants]:
            confirmed.result()
        self.device_run.rest()

    def _submit_builds(self, variants: list[Variant]) -> None:
        for variant in variants:
            self._notes[variant.name] = self._threads.submit(self._build, variant)

    def _submit_answers(self, variants: list[Variant]) -> None:
        for variant in variants:
            self._answered[variant.name] = self._threads.submit(self._answer, variant)

    def _build(self, variant: Variant) -> BuildNote:
        """The first build; where that is not for this source, the published build is started and decides."""
        self._prepared.result()
        with self._progress.doing(f"{self._label}building {variant.file}"):
            note = self.device_run.build(variant)
        self._progress.advance(A_BUILD)
        if note.outcome == "built" or self.device_run.device.levels.published is None:
            self._built(variant, note)
        else:
            self._progress.say(f"{self._label}{variant.file}: {note.log}")
            self.device_run.start_published(variant, self._long)
        return note

    def _answer(self, variant: Variant) -> None:
        self._notes[variant.name].result()
        self._cases.result()
        if self.device_run.has_published(variant):
            self._take_published(variant)
            self._progress.advance(len(PROBES))
        if variant.name in self.device_run.built:
            self._verify(variant)
        elif not self.device_run.awaits_published(variant):
            self._progress.advance(len(PROBES))

    def _make_cases(self, entropy: int) -> dict[str, float]:
        """Everything that uses a device waits for its cases, and so for the audit's turn on it; builds do not."""
        if self.device_run.kind == "cuda":
            with self._progress.doing("waiting for the GPU that another audit uses"):
                gpu_lock.take()
        return self.device_run.make_cases(entropy=entropy)

    def _vary(self) -> None:
        self._cases.result()
        self.device_run.vary()

    def _ask_the_task(self) -> None:
        """Once for the claim, with the first variant that was built."""
        self._cases.result()
        built = next((one for one in self._order if self._notes[one.name].result().outcome == "built"), None)
        if built is not None:
            self._writer.add([self.device_run.task(built)])

    def _verify(self, variant: Variant) -> None:
        found: list[Finding] = []
        with self._progress.doing(f"{self._label}asking about {variant.file}"):
            for finding in self.device_run.verify(variant):
                self._writer.add([finding])
                self._progress.advance(int(finding.probe in PROBES))
                found.append(finding)
                if variant.role == "claimed" and finding.outcome == "fail":
                    self._progress.say(f"{self._label}{variant.file}: {finding.probe}: {finding.summary}")
        self._progress.say(f"{self._label}{variant.file}: {outcome(found)}")

    def _confirm(self, variant: Variant) -> None:
        with self._progress.doing(f"building {variant.file} as published"):
            note = self._take_published(variant)
        before = self._forget(variant)
        if note.outcome == "built":
            self._verify(variant)
        else:
            self._progress.advance(len(PROBES))
            self._writer.add(map(unconfirmed, before))

    def _take_published(self, variant: Variant) -> BuildNote:
        note = self.device_run.take_published(variant)
        self._built(variant, note)
        return note

    def _built(self, variant: Variant, note: BuildNote) -> None:
        how = "from cache" if note.from_cache else f"{note.seconds:.1f} s"
        self._progress.say(f"{self._label}{variant.file}: {note.outcome}, {note.optimisation} ({how})")
        found = build_finding(note, self._refusal(variant, note))
        self._writer.add([found.model_copy(update={"device": self.device_run.kind})])

    def _refusal(self, variant: Variant, note: BuildNote) -> Refusal | None:
        """What the compiler of the claimed kernel says where it did not build on the device that the audit is for."""
        if note.outcome != "does not compile" or self.device_run.kind != self._writer.record.device.kind:
            return None
        with self._progress.doing(f"asking the compiler that {variant.file} is written for"):
            return self.device_run.refusal(variant, note)

    def _forget(self, variant: Variant) -> list[Finding]:
        """Takes this device's answers about a variant out of the record, and returns them."""
        about = [one for one in self._writer.record.findings if one.target == variant.name]
        old = [one for one in about if one.device == self.device_run.kind and one.probe != "build"]
        self._writer.take_out(old)
        return old

    @property
    def _label(self) -> str:
        return "" if self.device_run.kind == self._writer.record.device.kind else f"{self.device_run.kind}: "
