"""The audit itself: one method a stage, called in order; the record says `incomplete` until the verdict is in."""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from audit import environment, judge, lint, measure, report
from audit.build.device import AuditDevice, BuiltVariant
from audit.build.notes import build_finding, failed_note
from audit.claims import ClaimFolder
from audit.errors import BadInput, CompileError, Unsupported
from audit.model import BuildNote, Finding, Record, Stage, Variant, store
from audit.probes.runner import ask_all
from audit.probes.target import Case, Target
from audit.progress import Progress
from audit.review import review_source
from audit.worker.pool import Workers

ORACLE_LIMIT_S = 300.0


class Audit:
    """One audit in progress. Use as a context manager; call the stages in the order of this file.

    Attributes:
        record: what is known so far; the same as in `<out>/record.json` after every stage, while building and verifying
            after every variant.
    """

    def __init__(
        self, folder: ClaimFolder, device: AuditDevice, out: Path, *, entropy: int | None = None, progress: Progress
    ) -> None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{out}: cannot be written ({error.strerror}); choose another folder") from error
        self.folder = folder
        self.out = out
        self._device = device
        self._progress = progress
        self._entropy = secrets.randbits(62) if entropy is None else entropy
        self._scratch = tempfile.TemporaryDirectory(prefix="audit-")
        jobs = max(1, min(os.cpu_count() or 1, 16))
        self._threads = ThreadPoolExecutor(jobs)
        self._workers = Workers(jobs)
        self._lock = threading.Lock()
        self._built: dict[str, BuiltVariant] = {}
        self._cases: list[Case] = []
        self._cost: dict[str, float] = {}
        self.record = Record(
            claim=folder.audited,
            device=device.describe(),
            environment=environment.describe(seeds=(self._entropy,)),
        )
        self._save()

    def __enter__(self) -> Audit:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the workers and removes what they left; the record stays."""
        self._threads.shutdown(cancel_futures=True)
        self._workers.close()
        self._scratch.cleanup()

    def prepare(self) -> None:
        """Inputs and float64 results of every case, in a process of their own; what all builds share, beside it."""
        with self._progress.stage("prepare"):
            shared = self._threads.submit(self._device.prepare)
            self._make_cases()
            self._progress.say(f"float64 results for {', '.join(case.label for case in self._cases)}")
            shared.result()
            self._progress.say("compiler and headers ready")

    def lint(self) -> None:
        """The published numbers against the hardware they name."""
        with self._progress.stage("lint"):
            findings = lint.floors(self.folder.claim, self._cost)
            self._add(findings)
            under = ", ".join(finding.target for finding in findings if finding.outcome == "fail")
            self._progress.say(f"{len(findings)} GPUs named; reported time under the hardware floor: {under or 'none'}")
        self._save()

    def review(self) -> None:
        """Hints from every variant's source."""
        with self._progress.stage("review"):
            for variant in self.folder.claim.variant:
                text = self.folder.source_of(variant).read_text(encoding="utf-8")
                findings = review_source(text, target=variant.name)
                self._add(findings)
                for hint in (finding for finding in findings if finding.outcome == "fail"):
                    self._progress.say(f"{variant.file}, line {hint.line}: hint: {hint.probe}")
        self._save()

    def build(self) -> None:
        """Compiles every variant; one that does not compile is a finding and the others go on."""
        with self._progress.stage("build"):
            first = self._device.optimisations[0]
            for note in self._threads.map(lambda variant: self._build(variant, first), self.folder.claim.variant):
                self._keep(note)
                self._add([build_finding(note)])
                self._save()

    def verify(self) -> None:
        """Asks every probe about every variant that was built."""
        with self._progress.stage("verify"):
            built = [variant for variant in self.folder.claim.variant if variant.name in self._built]
            for findings in self._threads.map(self._verify, built):
                self._add(findings)
                self._save()

    def measure(self) -> None:
        """Times on a GPU: cleared variants and baselines soundly, the others as the published protocol would."""
        if self._device.describe().kind != "cuda":
            return
        with self._progress.stage("measure"):
            rungs = judge.ladder(self.folder.claim, self.record.findings)
            session = measure.Session(
                claim=self.folder.claim,
                reference=self.folder.reference,
                case=next(case for case in self._cases if case.shape == self.folder.claim.shapes.claimed),
                workers=self._workers,
                say=self._progress.say,
            )
            cleared = {rung.variant for rung in rungs if rung.state == "cleared"}
            times = measure.times(session, self._built, cleared=cleared)
            self._add(times.findings)
            self.record = self.record.model_copy(update={"measurements": times.measurements})
        self._save()

    def judge(self) -> None:
        """The ladder and the verdict, from the record alone."""
        with self._progress.stage("judge"):
            rungs = judge.ladder(self.folder.claim, self.record.findings, self.record.measurements)
            self.record = self.record.model_copy(update={"ladder": rungs})
            verdict = judge.judge(self.record)
            self._progress.say(f"verdict: {verdict.name}")
        stages = tuple(Stage(name=name, seconds=seconds) for name, seconds in self._progress.stages)
        told = self.record.environment.model_copy(update={"stages": stages})
        self.record = self.record.model_copy(update={"environment": told, "verdict": verdict})
        self._save()

    def report(self) -> list[Path]:
        """Renders the record; returns the files written."""
        with self._progress.stage("report"):
            files = report.render(self.record, self.out)
            self._progress.say(f"wrote {', '.join(file.name for file in files)}")
        return files

    def run(self) -> Record:
        """All stages."""
        for stage in (self.prepare, self.lint, self.review, self.build, self.verify, self.measure, self.judge):
            stage()
        self.report()
        return self.record

    def _make_cases(self) -> None:
        shapes = self._device.shapes(self.folder.claim)
        folder = Path(self._scratch.name)
        request: dict[str, Any] = {
            "reference": str(self.folder.reference),
            "baselines": list(self.folder.claim.baselines),
            "shapes": [dict(shape) for shape in shapes],
            "seeds": [(self._entropy + case) % 2**63 for case in range(len(shapes))],
            "cost_shape": dict(self.folder.claim.shapes.claimed),
            "folder": str(folder),
            "device": "cuda" if self._device.describe().kind == "cuda" else "cpu",
        }
        reply = self._workers.call("oracle", request, limit_s=ORACLE_LIMIT_S)
        if not reply.finished:
            raise BadInput(f"{self.folder.path.name}/reference.py: {reply.ending}: {reply.detail}")
        self._cost = reply.events[0]["cost"]
        for event in reply.events[1:]:
            expected = np.fromfile(folder / f"{event['case']}.expected.f64").reshape(event["expected_shape"])
            inputs = folder / f"{event['case']}.inputs.pt"
            self._cases.append(Case(event["shape"], inputs, expected, event["expected_dtype"]))

    def _build(self, variant: Variant, optimisation: str) -> BuildNote:
        try:
            built = self._device.build(self.folder.source_of(variant), variant, optimisation=optimisation)
        except (CompileError, Unsupported) as error:
            note = failed_note(variant, optimisation, error)
        else:
            self._built[variant.name] = built
            note = built.note
        how = "from cache" if note.from_cache else f"{note.seconds:.1f} s"
        self._progress.say(f"{variant.file}: {note.outcome} ({how})")
        return note

    def _verify(self, variant: Variant) -> list[Finding]:
        target = self._target(variant, self._built[variant.name])
        findings = ask_all(target, second=self._second_build(variant))
        failed = ", ".join(finding.probe for finding in findings if finding.outcome != "pass")
        self._progress.say(f"{variant.file}: {f'not passed: {failed}' if failed else 'passed every probe'}")
        return findings

    def _second_build(self, variant: Variant) -> Callable[[], Target] | None:
        """Builds the variant once more, when first asked, at the level that must confirm a conviction."""
        level = self._device.optimisations[1]
        if level is None:
            return None

        @cache
        def second() -> Target:
            again = self._device.build(self.folder.source_of(variant), variant, optimisation=level)
            self._keep(again.note)
            return self._target(variant, again)

        return second

    def _target(self, variant: Variant, built: BuiltVariant) -> Target:
        return Target(
            claim=self.folder.claim,
            variant=variant,
            built=built,
            cases=tuple(self._cases),
            workers=self._workers,
            reference=self.folder.reference,
            folder=Path(self._scratch.name),
        )

    def _add(self, findings: Iterable[Finding]) -> None:
        command = f"audit run {self.folder.claim.name} --device {self._device.describe().kind} --seed {self._entropy}"
        told = [finding.model_copy(update={"see_again": finding.see_again or command}) for finding in findings]
        self.record = self.record.model_copy(update={"findings": (*self.record.findings, *told)})

    def _keep(self, note: BuildNote) -> None:
        with self._lock:
            environment = self.record.environment
            told = environment.model_copy(update={"builds": (*environment.builds, note), "compiler": note.compiler})
            self.record = self.record.model_copy(update={"environment": told})

    def _save(self) -> None:
        store.write(self.record, self.out / "record.json")
