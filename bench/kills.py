"""What a kill -9 leaves: a judge is killed at random moments of small audits, and record and machine are looked at.

Run it with `python bench/kills.py [NUMBER [RESULTS]]`; it writes `bench/results/kills.json`. Every audit has a kernel
nobody compiled before, so that compilers are hit too. Of each kill is kept: when it came, whether the record was there
and readable and what its verdict was, how long processes of the audit lived on, and what lay in the temporary folder
and unfinished in the cache. At the end one audit is left alone, and what is there after it is counted.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from measured import keep

from audit.build.emulated import prepared
from audit.model import store
from audit.model.errors import BadInput
from audit.sandbox import native, processes

SMALL = Path(__file__).parents[1] / "tests/hostile/claim"
LATER = 1.1
"""The moments are drawn from an audit's time and a tenth more, so that some audits are through."""
PATIENCE_S = 10.0
SEED = 8


@dataclass(frozen=True)
class Kill:
    """One audit: seconds after its start at which it was killed, and what was found; no record: no `verdict`."""

    after_s: float
    verdict: str | None
    readable: bool
    outlived_s: float
    processes_left: int
    folders_left: int
    unfinished_left: int


class Ground:
    """A temporary folder, a cache and a claim of their own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.temporary, self.cache, self.claim = root / "tmp", root / "cache", root / "claim"
        self.temporary.mkdir()
        self._copied = self._claim()
        shared = (prepared.sources().folder, prepared.runtime().parent, prepared.header("micro").parent)
        for made in shared:
            shutil.copytree(made, self.cache / made.parent.name / made.name)

    def audit(self, name: str) -> subprocess.Popen[bytes]:
        """An audit of a claimed kernel of its own, which writes to a folder of that name."""
        (self.claim / "twice.cu").write_text(f"{self._copied}// {name}\n", encoding="utf-8")
        place = {"TMPDIR": str(self.temporary), "AUDIT_CACHE": str(self.cache)}
        command = [sys.executable, "-m", "audit", "run", str(self.claim), "--device", "emulated"]
        command += ["--out", str(self.root / name), "--formats", "md"]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            command, env={**os.environ, **place}, stdout=quiet, stderr=quiet, start_new_session=True
        )

    def left(self) -> tuple[int, int]:
        """Entries of the temporary folder, and unfinished ones of the cache."""
        kinds = [kind for kind in self.cache.iterdir() if kind.is_dir()]
        unfinished = [path for kind in kinds for path in kind.iterdir() if path.is_dir() and "." in path.name]
        return len(list(self.temporary.iterdir())), len(unfinished)

    def _claim(self) -> str:
        shutil.copytree(SMALL, self.claim)
        with (self.claim / "claim.toml").open("a", encoding="utf-8") as file:
            file.write('[[variant]]\nfile = "twice.cu"\nrole = "claimed"\ntechnique = "none"\n')
            file.write('[[variant]]\nfile = "known_good.py"\nrole = "repair"\ntechnique = "none"\n')
        return (self.claim / "twice.cu").read_text(encoding="utf-8")


def kill(ground: Ground, name: str, *, after_s: float) -> Kill:
    """One audit killed at that moment, and what was found."""
    judge = ground.audit(name)
    with suppress(subprocess.TimeoutExpired):  # some are through before
        judge.wait(timeout=after_s)
    judge.kill()
    judge.wait()
    killed = time.monotonic()
    while (alive := living()) and time.monotonic() - killed < PATIENCE_S:
        time.sleep(0.02)
    outlived = time.monotonic() - killed
    verdict, readable = state(ground.root / name / "record.json")
    folders, unfinished = ground.left()
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    return Kill(round(after_s, 3), verdict, readable, round(outlived, 2), len(alive), folders, unfinished)


def living() -> list[int]:
    """What the killed audit started and that still runs; what has ended is reaped: this process adopts it."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return processes.descendants()


def state(record: Path) -> tuple[str | None, bool]:
    """The verdict of the record, None where there is none yet, and whether it could be read if it is there."""
    if not record.exists():
        return None, True
    try:
        return store.read(record).verdict.name, True
    except BadInput:
        return None, False


def whole(ground: Ground, name: str) -> float:
    """Seconds of an audit that is left alone."""
    started = time.monotonic()
    if ground.audit(name).wait():
        raise SystemExit(f"{name}: the audit failed")
    return time.monotonic() - started


def main() -> None:
    """Kills, prints and stores."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    native.adopt_orphans()
    choice = random.Random(SEED)
    with tempfile.TemporaryDirectory() as scratch:
        ground = Ground(Path(scratch))
        whole(ground, "first")  # it fills the cache
        lasts_s = whole(ground, "second")
        moments = [choice.uniform(0, LATER * lasts_s) for _ in range(number)]
        kills = [kill(ground, f"killed{index}", after_s=moment) for index, moment in enumerate(moments)]
        whole(ground, "last")
        folders, unfinished = ground.left()
        verdict, _ = state(ground.root / "last/record.json")
    result = {
        "audit_s": round(lasts_s, 1),
        "summary": {
            **summary(kills),
            "verdict of a whole audit": verdict,
            "after the next audit": {"folders": folders, "unfinished entries": unfinished},
        },
        "kills": [asdict(one) for one in kills],
    }
    keep("kills", result, seeds=(SEED,), file=Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    print(json.dumps(result["summary"], indent=1))


def summary(kills: list[Kill]) -> dict[str, object]:
    """Counts over all kills."""
    verdicts = [one.verdict or "no record yet" for one in kills]
    return {
        "kills": len(kills),
        "records": {name: verdicts.count(name) for name in sorted(set(verdicts))},
        "unreadable": sum(not one.readable for one in kills),
        "audits with a process left": sum(bool(one.processes_left) for one in kills),
        "longest life after the kill, s": max(one.outlived_s for one in kills),
        "most folders left at once": max(one.folders_left for one in kills),
        "most unfinished entries at once": max(one.unfinished_left for one in kills),
    }


if __name__ == "__main__":
    main()
