"""The audit itself: one method a stage, called in order; the record says `incomplete` until the verdict is in."""

from __future__ import annotations

import secrets
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from audit import claims, judge, repair, report
from audit.build.device import AuditDevice
from audit.claims import ClaimFolder
from audit.device_run import DeviceRun
from audit.lint import floors
from audit.measure import Session
from audit.model import Record, Stage, Variant, store
from audit.model.errors import AuditError, BadInput
from audit.model.run_directory import Scratch, room
from audit.record_writer import RecordWriter, taken
from audit.report.formats import USUAL, Form
from audit.report.outcome import tone
from audit.report.progress import Progress
from audit.review import hints as reviews
from audit.review.hints import Source
from audit.run.processes import environment
from audit.run.processes.pool import Workers
from audit.sandbox import command as sandboxed
from audit.scheduler import Scheduler, jobs, places
from audit.times import AuditTimes

STAGES = ("prepare", "lint", "review", "build", "verify", "measure", "confirm", "repair", "judge", "report")
A_TIMING = 20
"""Pieces of work that the timing session counts as, in the progress."""


class Audit(AbstractContextManager["Audit"]):
    """One audit in progress. Use as a context manager; call the stages in the order of this file.

    Args:
        folder: the claim.
        device: the device the audit is for.
        out: folder for the record and the report.
        beside: devices that give evidence too; what they cannot build or answer blocks nothing.
        entropy: the seed of the inputs; None draws one.
        timed: False measures no times, and compiles nothing for them; a device that gives none is never timed.
        rounds: the least number of blocks of a timing session; None leaves it to the session.
        workers: processes that several audits share, and that are not ended with this one.
        at_once: variants at work at once on each device; None leaves it to the cores.
        command: words that start this audit, without device and seed; None: `audit run` and the claim.
        progress: where it tells what it does.
    """

    def __init__(  # noqa: PLR0913  # what an audit is made of
        self,
        folder: ClaimFolder,
        device: AuditDevice,
        out: Path,
        *,
        beside: Sequence[AuditDevice] = (),
        entropy: int | None = None,
        timed: bool = True,
        rounds: int | None = None,
        workers: Workers | None = None,
        at_once: int | None = None,
        command: Sequence[str] | None = None,
        progress: Progress,
    ) -> None:
        self.folder = folder
        self.out = out
        self._progress, self._rounds, self._jobs = progress, rounds, at_once or jobs()
        self.seed = secrets.randbits(62) if entropy is None else entropy
        with ExitStack() as opened:  # what was opened is given back where something behind it cannot be
            opened.callback(taken(out).close)
            self._scratch = opened.enter_context(Scratch())
            first = Record(
                claim=folder.audited,
                device=device.describe(),
                secondary_devices=tuple(other.describe() for other in beside),
                environment=environment.describe(seeds=(self.seed,)),
            )
            words = command or ("audit", "run", claims.shown(folder.path))
            typed = shlex.join([*words, "--device", first.device.kind, "--seed", str(self.seed)])
            first = first.model_copy(update={"environment": first.environment.model_copy(update={"command": typed})})
            self._writer = RecordWriter(first, out / store.RECORD, command=typed)
            self._workers = workers or opened.enter_context(Workers(places(1 + len(beside))))
            self._main = self._open(device)
            self._beside = [self._open(other) for other in beside]
            self._opened = opened.pop_all()
        self._gives_times = timed and first.device.kind == "cuda"
        self._times: AuditTimes | None = None
        progress.expect(A_TIMING if self._gives_times else 0)

    @property
    def record(self) -> Record:
        """What is known so far; the same is in `<out>/record.json`."""
        return self._writer.record

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the workers and removes what they left; the record stays."""
        for scheduler in (self._main, *self._beside):
            scheduler.close()
        self._opened.close()

    def interrupt(self) -> None:
        """Ends every session and compiler at once; nothing that waits is begun."""
        self._writer.close()
        self._workers.interrupt()
        for scheduler in (self._main, *self._beside):
            scheduler.cancel()
        sandboxed.end_all()

    def prepare(self) -> None:
        """Starts all that can start, and returns when inputs and float64 results are there."""
        with self._stage("prepare"):
            self._main.start(entropy=self.seed)
            self._main.cost()
            if self._gives_times:
                self._times = AuditTimes(self._main, self._writer, self._prepare_timing)
            self._writer.put_sandbox(environment.sandbox(self._workers))
            self._progress.say(f"float64 results for {', '.join(case.label for case in self._main.device_run.cases)}")

    def lint(self) -> None:
        """The published numbers against the hardware they name."""
        with self._stage("lint"):
            findings = floors.floors(self.folder.claim, self._main.cost())
            self._writer.add(findings)
            under = ", ".join(finding.target for finding in findings if finding.outcome == "fail")
            self._progress.say(
                f"GPUs named: {len(findings)}; reported time under the hardware floor: {under or 'none'}"
            )

    def review(self) -> None:
        """Hints from every variant's source."""
        with self._stage("review"):
            claim = self.folder.claim
            sources = [source_of(self.folder, one, advice=one.role == "claimed") for one in claim.variant]
            for variant, findings in zip(claim.variant, reviews.findings(sources), strict=True):
                self._writer.add(findings)
                for hint in (finding for finding in findings if finding.outcome == "fail"):
                    line = self.folder.located(variant, f"line {hint.line}")
                    self._progress.say(f"{claim.known_as(variant)}, {line}: hint: {hint.probe}")

    def build(self) -> None:
        """Waits until every variant is compiled; one that is not is a finding and the others go on. Then the devices
        beside start, which need the processor too."""
        with self._stage("build"):
            self._main.wait_for_builds()
            for scheduler in self._beside:
                scheduler.start(entropy=self.seed)

    def verify(self) -> None:
        """Waits until every probe has been asked about every variant that was built, on every device: times are taken
        when no other work of the audit but a published build is left."""
        with self._stage("verify"):
            self._main.wait_for_answers()
            for scheduler in self._beside:
                try:
                    scheduler.wait_for_answers()
                except BadInput as error:  # a shape of this device's own, say, which the reference refuses
                    self._progress.say(f"{scheduler.device_run.kind}: no answers: {error}")

    def measure(self) -> None:
        """Times on a GPU: baselines and passing variants soundly; the claimed kernel if its published build is in."""
        if self._times is not None:
            with self._stage("measure"):
                waiting = self._main.waiting()
                self._times.take([one for one in self.folder.claim.variant if one not in waiting], baselines=True)
                failed = {one.target for one in self.record.findings if one.fails_kernel}
                if any(one.name in failed for one in waiting):
                    self._times.repeat()  # another variant's, while the published build goes on
                self._progress.advance(A_TIMING)

    def confirm(self) -> None:
        """Waits for published builds, asks and times again what now counts."""
        waiting = self._main.waiting()
        if not waiting and self._times is None:
            return
        with self._stage("confirm"):
            if waiting:
                self._main.confirm(waiting)
            if self._times is not None:
                if waiting:
                    self._times.take(waiting, baselines=False)
                self._times.repeat()

    def repair(self) -> None:
        """Changes of ours to a claimed kernel that failed, where the claim has no ablation; see `repair`. They name a
        cause alone, so an error there ends no audit."""
        if not (failures := repair.proved(self.record)):
            repair.write({}, self.out)
            return
        with self._stage("repair"), suppress(AuditError):
            repairs = repair.generated(self.folder, failures)
            repair.write(repairs, self.out)
            repair.ask(
                repairs,
                [one.device_run for one in (self._main, *self._beside)],
                folder=self.folder,
                scratch=Path(tempfile.mkdtemp(dir=self._scratch)),
                writer=self._writer,
                progress=self._progress,
            )

    def judge(self) -> None:
        """The ladder and the verdict, from the record alone."""
        self._progress.complete()
        with self._stage("judge"):
            generated = [one.variant for one in self.record.generated]
            self._writer.sort([variant.name for variant in (*self.folder.claim.variant, *generated)])
            self._writer.put(ladder=judge.ladder(self.folder.claim, self.record.findings, self.record.measurements))
            verdict = judge.judge(self.record)
            self._progress.say(f"verdict: {verdict.name}", mark=(verdict.name, tone(verdict.name)))
        stages = tuple(Stage(name=name, seconds=seconds) for name, seconds in self._progress.stages)
        self._writer.put(environment=self.record.environment.model_copy(update={"stages": stages}), verdict=verdict)
        self._writer.flush()

    def report(self, form: Form = USUAL) -> list[Path]:
        """Renders the record; returns the files written."""
        with self._stage("report"):
            files = report.render(self.record, self.out, form, claim=self.folder.path)
            self._progress.say(f"wrote {', '.join(file.name for file in files)}")
        return files

    def run(self, form: Form = USUAL) -> Record:
        """All stages; the report in that form."""
        self._progress.plan(STAGES)
        for stage in (self.prepare, self.lint, self.review, self.build, self.verify, self.measure, self.confirm,
                      self.repair, self.judge):  # fmt: skip
            stage()
        self.report(form)
        return self.record

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        """A stage of the progress; what it found is on disk when it ends. One that breaks off leaves a report too.
        Raises BadInput: the disk is full, or was made read-only."""
        with room(self.out):
            try:
                with self._progress.stage(name):
                    yield
                self._writer.flush()
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    self.interrupt()
                if name != "report":
                    self._report_what_is_known()
                raise

    def _report_what_is_known(self) -> None:
        """The record and its report as far as they go; why the audit broke off matters more than why they do not."""
        with suppress(OSError, AuditError):
            self._writer.flush()
            report.render(self.record, self.out, claim=self.folder.path)

    def _open(self, device: AuditDevice) -> Scheduler:
        with room(self._scratch):
            scratch = Path(tempfile.mkdtemp(dir=self._scratch))
        device_run = DeviceRun(self.folder, device, workers=self._workers, scratch=scratch, keep=self._writer.add_build)
        order = sorted(self.folder.claim.variant, key=lambda variant: variant.role != "claimed")
        return Scheduler(device_run, order, writer=self._writer, progress=self._progress, jobs=self._jobs)

    def _prepare_timing(self) -> Session:
        """The one timing session: its other inputs, and compiled baselines in the process that is timed later."""
        session = Session(
            claim=self.folder.claim,
            reference=self.folder.reference,
            case=self._main.device_run.case_of(self.folder.claim.shapes.claimed),
            workers=self._workers,
            say=self._progress.say,
            seed=self.seed,
            rounds=self._rounds,
        )
        session.prepare()
        return session


def source_of(folder: ClaimFolder, variant: Variant, *, advice: bool) -> Source:
    """Return what is reviewed of a variant; see `Source`."""
    return Source(
        folder.source_of(variant).read_text(encoding="utf-8"),
        variant.name,
        python=variant.file.endswith(".py"),
        precision=variant.precision,
        advice=advice,
        entry=folder.claim.entry_of(variant),
        lines=folder.published_lines(variant),
    )
