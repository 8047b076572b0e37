"""The controls, every claim folder with a variant of role `known_bad` or `known_good`, each through an audit."""

from __future__ import annotations

import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from audit import claims, judge
from audit.apps.selftest.record import Check, SelfTest
from audit.apps.selftest.score import row
from audit.audit import Audit
from audit.build.devices import choose
from audit.claims import ClaimFolder
from audit.model import Record
from audit.model.run_directory import Scratch
from audit.report.progress import Progress
from audit.run import environment
from audit.run.pool import Workers
from audit.scheduler import jobs, places

ROLES = ("known_bad", "known_good")
BLIND = "controls_blind"
"""Holds the controls of writers who had read the documentation alone: neither probes nor rules nor other controls."""
CLAIM = "triangular_mm"
WRONG, RIGHT = "claimed", "fixed_grid2d"
"""The two variants of the first claim whose answers are beyond doubt on any device."""
CORES_A_FOLDER = 4
"""Folders are audited side by side, one for so many cores, and two on few: on two cores each keeps 1.2 of them busy."""
EXPECTED = {WRONG: "failed", RIGHT: "passed"}


def run(
    device: str,
    *,
    root: Path = claims.KERNELS,
    blind: bool = False,
    entropy: int | None = None,
    workers: Workers | None = None,
    progress: Progress,
) -> SelfTest:
    """The controls beyond doubt, and if these come out right all others.

    Args:
        device: "auto", "cuda" or "emulated".
        root: the folder that holds the claim folders.
        blind: ask the blind controls instead of all others.
        entropy: the seed of all inputs; None draws one.
        workers: enough processes for the folders at work at once, which are not ended; None starts them.
        progress: shows the work.

    Raises:
        BadInput: the device cannot be used here, or a folder of controls is broken.
    """
    started = time.monotonic()
    seed = secrets.randbits(62) if entropy is None else entropy
    known = folders(root, blind=blind)
    beyond_doubt = certain(root)
    at_once = max(min(2, jobs()), jobs() // CORES_A_FOLDER)
    with ExitStack() as opened:
        pool = workers or opened.enter_context(Workers(places(at_once)))
        threads = opened.enter_context(ThreadPoolExecutor(at_once))
        ask = partial(_audited, device=device, entropy=seed, workers=pool, progress=progress)
        first = ask(beyond_doubt)
        states = {rung.variant: rung.state for rung in judge.ladder(beyond_doubt.claim, first.findings)}
        checks = tuple(
            Check(control=f"{beyond_doubt.claim.name}/{name}", expected=expected, found=states.get(name, "not asked"))
            for name, expected in EXPECTED.items()
        )
        asked = known if all(check.passed for check in checks) else []
        longest_first = sorted(asked, key=lambda folder: -len(folder.claim.variant))
        records = dict(zip((one.path for one in longest_first), threads.map(ask, longest_first), strict=True))
    rows = [
        row(folder.path.relative_to(root.resolve()).as_posix(), folder, one, findings=records[folder.path].findings)
        for folder in asked
        for one in folder.claim.variant
        if one.role in ROLES
    ]
    return SelfTest(
        device=first.device,
        environment=environment.describe(seeds=(seed,)).model_copy(update={"sandbox": first.environment.sandbox}),
        seconds=round(time.monotonic() - started, 1),
        checks=checks,
        rows=tuple(rows),
    )


def _audited(folder: ClaimFolder, *, device: str, entropy: int, workers: Workers, progress: Progress) -> Record:
    """The record after every stage that gives evidence; nothing is timed for a score."""
    with progress.stage("controls"):
        count = len(folder.claim.variant)
        progress.say(f"{folder.claim.name}: {count} kernel{'s' if count > 1 else ''}")
    with Scratch() as out:
        on = choose(device, folder.claim)
        place = out / "record"
        with Audit(folder, on, place, entropy=entropy, timed=False, workers=workers, progress=progress) as audit:
            for stage in (audit.prepare, audit.review, audit.build, audit.verify, audit.confirm):
                stage()
        return audit.record


def folders(root: Path = claims.KERNELS, *, blind: bool = False) -> list[ClaimFolder]:
    """The claim folders at any depth below `root` that hold controls, sorted by path: all blind ones, or all others."""
    paths = [path.parent for path in sorted(root.rglob("claim.toml")) if (BLIND in path.parts) is blind]
    found = (claims.load(str(path)) for path in paths)
    return [folder for folder in found if any(variant.role in ROLES for variant in folder.claim.variant)]


def certain(root: Path = claims.KERNELS) -> ClaimFolder:
    """The first claim with nothing but its claimed kernel, which is wrong, and one repair, which is right."""
    return only(claims.load(str(root / CLAIM)), (WRONG, RIGHT))


def only(folder: ClaimFolder, names: tuple[str, ...]) -> ClaimFolder:
    """The folder as if it had no other variants than those named."""
    kept = tuple(variant for variant in folder.claim.variant if variant.name in names)
    statement = folder.claim.model_copy(update={"variant": kept})
    return replace(folder, audited=folder.audited.model_copy(update={"statement": statement}))
