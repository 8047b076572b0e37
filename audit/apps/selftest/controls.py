"""The controls, every claim folder with a variant of role `known_bad` or `known_good`, each through an audit."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from audit import claims, judge
from audit.apps.selftest.record import Check, Row, SelfTest, read, write
from audit.apps.selftest.score import row
from audit.audit import Audit
from audit.build.device import choose
from audit.claims import ClaimFolder
from audit.model import Finding, Record, Variant
from audit.model.errors import BadInput
from audit.model.run_directory import Scratch
from audit.report.progress import Progress
from audit.run.processes import environment
from audit.run.processes.pool import Workers
from audit.scheduler import jobs, places

ROLES = ("known_bad", "known_good")
BLIND = "controls_blind"
"""Holds the controls of writers who had read the documentation alone: neither probes nor rules nor other controls."""
CLAIM = "triangular_mm"
WRONG, RIGHT = "claimed", "fixed_grid2d"
"""The two variants of the first claim whose answers are beyond doubt on any device."""
CORES_A_FOLDER = 4
"""Folders are audited side by side, one for so many cores, and two on few: on two cores each keeps 1.2 of them busy."""
LEAST_VARIANTS = 2
"""Variants of a folder at work at once, or as many as the folder has cores: each holds about 1 GB of a GPU's memory."""
EXPECTED = {WRONG: "failed", RIGHT: "passed"}


class Part(NamedTuple):
    """Every control at a distance of `of` from another, from the place `first` on, which is 1 for the first one."""

    first: int
    of: int


ALL = Part(1, 1)


def run(  # noqa: PLR0913  # one argument an option of the command
    device: str,
    *,
    root: Path = claims.KERNELS,
    blind: bool = False,
    part: Part = ALL,
    entropy: int | None = None,
    out: Path | None = None,
    workers: Workers | None = None,
    progress: Progress,
) -> SelfTest:
    """The controls beyond doubt, and if these come out right all others below `root`, or its blind ones alone.

    `entropy` is the seed of all inputs; None draws one. The record in `out` grows folder by folder, and one that was
    cut there goes on. `workers` are enough processes for the folders at work at once, and are not ended; None starts
    them.

    Raises:
        BadInput: the device cannot be used here, a folder of controls is broken, or `out` cannot be read or written.
    """
    earlier = _cut(out, entropy)
    seed = earlier.environment.seeds[0] if earlier else secrets.randbits(62) if entropy is None else entropy
    known, grown = parted(folders(root, blind=blind), part), _Grown(root, out, earlier)
    at_once = max(min(2, jobs()), jobs() // CORES_A_FOLDER)
    with ExitStack() as opened:
        pool = workers or opened.enter_context(Workers(places(at_once)))
        threads = opened.enter_context(ThreadPoolExecutor(at_once))
        each, audits = max(LEAST_VARIANTS, jobs() // at_once), list[Audit]()
        ask = partial(_audited, audits, device=device, entropy=seed, workers=pool, at_once=each, progress=progress)
        first, checks = _beyond_doubt(root, ask)
        if earlier and earlier.device != first.device:
            raise BadInput(f"{out}: a self-test of {earlier.device.name} that was cut; choose another file")
        grown.begin(first, checks, known if all(check.passed for check in checks) else [], seed=seed)
        longest_first = sorted(grown.unasked(), key=lambda folder: -len(folder.claim.variant))
        at_work = {threads.submit(ask, folder): folder for folder in longest_first}
        try:
            for answer in as_completed(at_work):
                grown.add(at_work[answer], answer.result().findings)
        except BaseException:  # an interrupt, or a device that broke: nothing that waits is begun
            threads.shutdown(wait=False, cancel_futures=True)
            for audit in audits:
                audit.interrupt()
            raise
    return grown.record


class _Grown:
    """The record of a self-test while it grows, kept in `out` where it is to be; begins with `earlier`'s rows."""

    record: SelfTest

    def __init__(self, root: Path, out: Path | None, earlier: SelfTest | None) -> None:
        self._root, self._out, self._earlier = root, out, earlier
        self._started = time.monotonic() - (earlier.seconds if earlier else 0.0)
        self._rows: dict[Path, list[Row]] = {}

    def begin(self, first: Record, checks: tuple[Check, ...], asked: Sequence[ClaimFolder], *, seed: int) -> None:
        """Start with what the controls beyond doubt gave and the folders that are to be asked."""
        self._asked = asked
        self._rows = {folder.path: _answered(self._earlier, folder, self._root) for folder in asked}
        about = self._earlier.environment if self._earlier else environment.describe(seeds=(seed,))
        about = about.model_copy(update={"sandbox": first.environment.sandbox})
        self.record = SelfTest(device=first.device, environment=about, seconds=0.0, checks=checks)
        self._keep()

    def unasked(self) -> list[ClaimFolder]:
        """Return the folders without an answer."""
        return [folder for folder in self._asked if not self._rows[folder.path]]

    def add(self, folder: ClaimFolder, findings: Sequence[Finding]) -> None:
        """Take the answers about a folder."""
        place = _place(folder, self._root)
        self._rows[folder.path] = [row(place, folder, one, findings=findings) for one in _controls(folder)]
        self._keep()

    def _keep(self) -> None:
        known = {
            "seconds": round(time.monotonic() - self._started, 1),
            "rows": tuple(one for folder in self._asked for one in self._rows[folder.path]),
            "unasked": tuple(_place(folder, self._root) for folder in self.unasked()),
        }
        self.record = self.record.model_copy(update=known)
        if self._out is not None:
            write(self.record, self._out)


def _cut(out: Path | None, entropy: int | None) -> SelfTest | None:
    """Return the record in `out` of a self-test with that seed (None: any) which was cut, if there is one."""
    earlier = read(out) if out is not None and out.exists() else None
    return earlier if earlier and earlier.unasked and entropy in (None, *earlier.environment.seeds) else None


def _beyond_doubt(root: Path, ask: Callable[[ClaimFolder], Record]) -> tuple[Record, tuple[Check, ...]]:
    """Ask about the first claim with nothing but its claimed kernel, which is wrong, and one repair, which is right."""
    folder = claims.load(str(root / CLAIM)).only(WRONG, RIGHT)
    first = ask(folder)
    states = {rung.variant: rung.state for rung in judge.ladder(folder.claim, first.findings)}
    checks = (
        Check(control=f"{folder.claim.name}/{name}", expected=expected, found=states.get(name, "not asked"))
        for name, expected in EXPECTED.items()
    )
    return first, tuple(checks)


def _answered(earlier: SelfTest | None, folder: ClaimFolder, root: Path) -> list[Row]:
    """Return the rows of an earlier self-test about this folder; none where one of its controls is another file now."""
    rows = [one for one in earlier.rows if one.folder == _place(folder, root)] if earlier else []
    now = {one.name: folder.digest_of(one) for one in _controls(folder)}
    return rows if {one.control: one.sha256 for one in rows} == now else []


def _controls(folder: ClaimFolder) -> list[Variant]:
    return [one for one in folder.claim.variant if one.role in ROLES]


def _place(folder: ClaimFolder, root: Path) -> str:
    return folder.path.relative_to(root.resolve()).as_posix()


def _audited(  # noqa: PLR0913  # what an audit is made of
    audits: list[Audit],
    folder: ClaimFolder,
    *,
    device: str,
    entropy: int,
    workers: Workers,
    at_once: int,
    progress: Progress,
) -> Record:
    """The record after every stage that gives evidence; nothing is timed for a score. The audit joins `audits`."""
    with progress.stage("controls"):
        count = len(folder.claim.variant)
        progress.say(f"{folder.claim.name}: {count} kernel{'s' if count > 1 else ''}")
    with Scratch() as out:
        on = choose(device, folder.claim)
        place = out / "record"
        with Audit(
            folder, on, place, entropy=entropy, timed=False, workers=workers, at_once=at_once, progress=progress
        ) as audit:
            audits.append(audit)
            for stage in (audit.prepare, audit.review, audit.build, audit.verify, audit.confirm):
                stage()
        return audit.record


def folders(root: Path = claims.KERNELS, *, blind: bool = False) -> list[ClaimFolder]:
    """The claim folders at any depth below `root` that hold controls, sorted by path: all blind ones, or all others."""
    paths = [path.parent for path in sorted(root.rglob("claim.toml")) if (BLIND in path.parts) is blind]
    found = (claims.load(str(path)) for path in paths)
    return [folder for folder in found if _controls(folder)]


def parted(found: Sequence[ClaimFolder], part: Part) -> list[ClaimFolder]:
    """The folders with that part of all their controls, and without those that keep none."""
    kept = [(folder, one.name) for folder in found for one in _controls(folder)][part.first - 1 :: part.of]
    named = ((folder, tuple(name for of, name in kept if of is folder)) for folder in found)
    return [folder.only(*names) for folder, names in named if names]
