"""The stages that screen a collection, the cheapest first: each settles what it can and passes the rest on."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from audit import claims
from audit.apps.batch.items import Item
from audit.apps.batch.run import guarded
from audit.apps.batch.state import ENDED, Attempt, ItemState, StageName
from audit.audit import Audit, source_of
from audit.build.emulated.device import device_for
from audit.claims import ClaimFolder
from audit.lint import floors
from audit.model import Finding, Verdict
from audit.model.errors import AuditError, BadInput
from audit.model.gpus import table
from audit.probes import PROBES
from audit.probes.observing.own_reference import FAILS as OWN_REFERENCE
from audit.report.progress import Progress
from audit.review import hints
from audit.run.messages.requests import Cases
from audit.run.processes.oracle_cache import OracleCache
from audit.run.processes.pool import Workers
from audit.sandbox import limits

RECORDS = "records"
AT_A_TIME = 64
"""Items asked with the same worker processes: what these keep for an audit goes with them."""
WORKERS_AN_ITEM = 4
"""Sessions that one item keeps at work at most times: it has one variant, and holds no process between two calls."""
MOST_REASONS = 4
ORACLE_LIMIT_S, SESSION_LIMIT_S, KERNEL_LIMIT_S = 60.0, 30.0, 10.0
IMPOSSIBLE, NO_CLAIM = "impossible time", "cannot be audited"
SETTLE = (
    "wrong", "cannot be built", "undefined", "aliased result", "vacuous", "reduced precision", "overstated", "mistimed",
)  # fmt: skip
"""Verdicts that hold whatever a GPU would say: each rests on proof."""


@dataclass(frozen=True)
class Asked:
    """One item before one stage: the folder for records, the seed of all inputs, and worker processes."""

    item: Item
    records: Path
    seed: int
    workers: Callable[[], Workers]


@dataclass(frozen=True)
class Screen:
    """One stage; see `Stage` of `run.py`. `ask` takes an item that no stage before settled.

    `jobs` are asked at once; None is as many as the cores and the memory of this process hold.
    """

    name: StageName
    ask: Callable[[Asked], Attempt]
    jobs: int | None = None
    at_a_time: int = AT_A_TIME

    def needs(self, _: Item, known: ItemState) -> bool:
        """Every item that no stage settled or left out, once; again on resuming where this stage ended in an error."""
        if known.last is not None and known.state == "error":
            return known.last.stage == self.name
        return known.state not in ENDED and not known.asked(self.name)

    @property
    def slots(self) -> int:
        """See `Stage`."""
        return self.jobs or limits.jobs()

    def stop(self) -> None:
        """See `Stage`: the sessions of an item have limits of their own."""

    @contextmanager
    def asking(self, out: Path, seed: int) -> Iterator[Callable[[Item], Attempt]]:
        """See `Stage`; worker processes for claimed code are started when an item first needs them."""
        lock, started = threading.Lock(), list[Workers]()
        (out / RECORDS).mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:

            def workers() -> Workers:
                with lock:
                    if not started:
                        cache = opened.enter_context(OracleCache())
                        started.append(opened.enter_context(Workers(WORKERS_AN_ITEM * self.slots, cache=cache)))
                    return started[0]

            yield lambda item: self._timed(Asked(item, out / RECORDS, seed, workers))

    def _timed(self, asked: Asked) -> Attempt:
        """The attempt with its seconds; a stage that cannot answer says why, and the other items go on."""
        began = time.monotonic()
        attempt = guarded(self.name, lambda: self._answer(asked))
        return attempt.model_copy(update={"seconds": round(time.monotonic() - began, 3)})

    def _answer(self, asked: Asked) -> Attempt:
        try:
            return self.ask(asked)
        except AuditError as error:
            return Attempt(stage=self.name, outcome="no answer", reasons=(str(error),))


def claimed_of(item: Item) -> ClaimFolder:
    """The item's claim with nothing but its claimed kernel: ablations and repairs explain, they settle nothing. Raises
    BadInput: the folder is broken, cannot be made, or has no claimed kernel."""
    folder = claims.load(str(item.made().resolve()))
    if folder.claim.claimed is None:
        raise BadInput(f"{item.name}: no variant of role claimed")
    return folder.only(folder.claim.claimed.name)


def lint(asked: Asked) -> Attempt:
    """Settled where a published time is under the floor of the fastest unit; left out where there is no claim."""
    try:
        folder = claimed_of(asked.item)
    except BadInput as error:
        return Attempt(stage="lint", outcome="left out", verdict=NO_CLAIM, reasons=(str(error),))
    passed_on = partial(Attempt, stage="lint", outcome="passed on")
    if asked.item.make is not None:
        return passed_on(reasons=("the lint over the dataset proves no time impossible",))
    if not any(one.gpu in table() for one in folder.claim.observation):
        return passed_on(reasons=("no time is published for a GPU with known rates",))
    reference, shape = folder.reference, folder.claim.shapes.claimed
    request = Cases(reference=reference, shapes=(), seeds=(), cost_shape=shape, folder=asked.records, device="cpu")
    reply = asked.workers().call(request, limit_s=ORACLE_LIMIT_S)
    if not reply.finished:
        text = f"reference.py gave no least work: {reply.ending}: {reply.detail}"
        return Attempt(stage="lint", outcome="no answer", verdict="needs the least work of the task", reasons=(text,))
    proved = [one for one in floors.floors(folder.claim, reply.events[0]["cost"]) if one.fails_kernel]
    if not proved:
        return passed_on(reasons=("no published time is under a proved floor",))
    return Attempt(stage="lint", outcome="settled", verdict=IMPOSSIBLE, reasons=tuple(one.summary for one in proved))


def review(asked: Asked) -> Attempt:
    """Passed on with its hints, or with the reason why its source could not be reviewed."""
    folder = claimed_of(asked.item)
    (variant,) = folder.claim.variant
    (findings,) = hints.findings([source_of(folder, variant, advice=False)])
    found = [one for one in findings if one.outcome == "fail"]
    reasons = tuple(f"line {one.line}: {one.probe}: {one.summary}" for one in found[:MOST_REASONS])
    unread = tuple(dict.fromkeys(one.summary for one in findings if one.outcome == "error"))
    return Attempt(stage="review", outcome="passed on", reasons=reasons + unread, hints=len(found))


def emulated(asked: Asked) -> Attempt:
    """Builds the claimed kernel, asks every probe, and judges the record, which stays for `audit report`."""
    folder = claimed_of(asked.item)
    device = device_for(folder.claim, session_limit_s=SESSION_LIMIT_S, kernel_limit_s=KERNEL_LIMIT_S)
    out, silent = asked.records / asked.item.name / "emulated", Progress(io.StringIO())
    with Audit(folder, device, out, entropy=asked.seed, workers=asked.workers(), progress=silent) as audit:
        for stage in (audit.prepare, audit.review, audit.build, audit.verify, audit.judge):
            stage()
        return of_verdict(audit.record.verdict, audit.record.findings)


def of_verdict(verdict: Verdict, findings: Sequence[Finding]) -> Attempt:
    """Settled by a verdict that rests on proof; passed on if right without a time; else it says what is needed."""
    of = partial(Attempt, stage="emulated")
    if verdict.name == "undecided":
        return of(outcome="no answer", verdict=needed(verdict.missing), reasons=verdict.missing)
    if verdict.name in SETTLE:
        return of(outcome="settled", verdict=verdict.name, reasons=verdict.reasons)
    return of(outcome="passed on", verdict=verdict.name, reasons=(counted(findings),))


def needed(missing: Sequence[str]) -> str:
    """What the first missing piece of evidence needs, as a state in a table: `needs a build`, `needs a GPU`."""
    first = missing[0] if missing else "more evidence"
    subject = first.partition(":")[0]
    if OWN_REFERENCE in first:
        return "needs a task that its own reference passes"
    if subject == "a time" or ", skipped here" in first:
        return "needs a GPU"
    return f"needs an answer of {subject}" if subject in PROBES else f"needs {subject}"


def counted(findings: Sequence[Finding]) -> str:
    """The counts behind `no defect found`: failures that decide nothing stand beside the questions that passed."""
    failed = [one for one in findings if one.outcome == "fail"]
    counts = {
        "passed": sum(one.outcome == "pass" for one in findings),
        "graded undefined": sum(one.grade == "undefined" for one in failed),
        "graded hint": sum(one.grade == "hint" for one in failed),
        "failed outside the claim": sum(one.grade == "proved" for one in failed),
        "skipped": sum(one.outcome == "skip" for one in findings),
        "ended in an error": sum(one.outcome == "error" for one in findings),
    }
    text = ", ".join(f"{number} {what}" for what, number in counts.items() if number or what == "passed")
    return f"a GPU must time it; findings on the emulated device: {text}"


STAGES = (Screen("lint", lint), Screen("review", review), Screen("emulated", emulated))
