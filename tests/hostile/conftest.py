"""The stage on which an attack is made: a home with a secret, other people's folders, a cache, and a judge to hit."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import audit
from audit.build.cuda import gpu, toolchain
from audit.build.emulated import prepared
from audit.model import Record, store
from audit.model.gpus import closest
from audit.model.run_directory import remove
from tests.hostile import leftovers
from tests.hostile.header import Attack
from tests.hostile.leftovers import Places

CLAIM = Path(__file__).with_name("claim")
ROOT = Path(__file__).resolve().parents[2]
SECRET = "hostile_secret_1f9c"
AUDIT_LIMIT_S = {"emulated": 100.0, "cuda": 400.0}
PATIENT_S = 20.0
COMPILE_LIMIT_S = {"emulated": 30.0, "cuda": 120.0}
"""A build as published takes more than half a minute to its end."""
AUDITED_AFTER = 4
"""Attacks after which an honest claim is audited; the claim of each attack has an honest kernel of its own too."""
SPEEDUP = 'speedup = [{{ gpu = "{gpu}", ratio = {ratio} }}]\n'
VARIANT = '\n[[variant]]\nfile = "{file}"\nrole = "{role}"\ntechnique = "an attack, or none"\n'


class Stage:
    """A judge that waits for claims, and everything that an attack might want to reach."""

    def __init__(self, root: Path, device: str) -> None:
        self.device = device
        self.root = root
        self._attacks: list[str] = []
        self.folders = {name: root / name for name in ("home", "reports", "others", "scratch", "cache", "claims")}
        for folder in self.folders.values():
            folder.mkdir()
        (self.folders["home"] / "token").write_text(SECRET)
        (self.folders["others"] / "inputs.bin").write_text("somebody else's")
        (self.folders["reports"] / "record.json").write_text("{}")
        kit = Path(audit.__file__).parent
        guarded = (kit, *(self.folders[name] for name in ("home", "reports", "others")))
        self.places = Places(guarded, self.folders["scratch"], self.folders["cache"])
        if device == "emulated":
            share_prepared(self.folders["cache"])
        self._listen()
        self.start()

    def start(self) -> None:
        """A judge in a session of its own: no signal to its group reaches the test."""
        self.judge = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.judge", self.device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.root / "judge.log").open("ab"),
            text=True,
            cwd=ROOT,
            env=self._environment(),
            start_new_session=True,
        )

    def end(self) -> None:
        """Ends the judge."""
        assert self.judge.stdin is not None
        self.judge.stdin.close()
        self.judge.wait(timeout=20)
        for one in self.services:
            one.close()

    def guarded(self) -> Places:
        """What must not change now: the cache's finished entries too."""
        entries = tuple(kind for kind in self.folders["cache"].iterdir() if kind.is_dir())
        return Places((*self.places.guarded, *entries), self.places.scratch, self.places.cache)

    def claim(self, attack: Attack | None, name: str) -> Path:
        """A claim folder of that name: the attack or a right kernel is claimed, with another right one."""
        folder = self.folders["claims"] / name
        shutil.copytree(CLAIM, folder)
        claimed = "twice.cu" if attack is None else attack.path.name
        if attack is not None:
            (folder / claimed).write_text(self._placed(attack.path.read_text(encoding="utf-8")), encoding="utf-8")
        text = (folder / "claim.toml").read_text(encoding="utf-8")
        if attack is not None and attack.claims and self.device == "cuda":
            text = SPEEDUP.format(gpu=closest(gpu.find().name), ratio=attack.claims) + text
        text += VARIANT.format(file=claimed, role="claimed") + VARIANT.format(file="known_good.py", role="repair")
        (folder / "claim.toml").write_text(text, encoding="utf-8")
        return folder

    def audit(
        self,
        claim: Path,
        *,
        limit_s: float = PATIENT_S,
        compile_limit_s: float | None = None,
        published: bool = False,
        timed: bool = False,
    ) -> Record:
        """The record of an audit; fails the test if there is none that went through. See `tests.hostile.judge`."""
        assert self.judge.stdin is not None
        assert self.judge.stdout is not None
        out = claim / "out"
        limits = {"limit_s": limit_s, "compile_limit_s": compile_limit_s or COMPILE_LIMIT_S[self.device]}
        request = {"claim": str(claim), "out": str(out), "published": published, "timed": timed, **limits}
        self.judge.stdin.write(json.dumps(request) + "\n")
        self.judge.stdin.flush()
        ready = select.select([self.judge.stdout], [], [], AUDIT_LIMIT_S[self.device])[0]
        line = self.judge.stdout.readline() if ready else ""
        if not line:
            self._again()
            pytest.fail(f"the judge {'has ended' if ready else 'does not answer'}: {self.log()}")
        failed: str | None = json.loads(line)["failed"]
        if failed is not None:
            pytest.fail(f"the audit ended with {failed}")
        return store.read(out / "record.json")

    def attacked(self, name: str) -> None:
        """Take note of an attack; after every few of them nobody notices them any more."""
        self._attacks.append(name)
        if len(self._attacks) == AUDITED_AFTER:
            self.audit_after()

    def audit_after(self) -> None:
        """An honest claim after the last attacks: it is cleared."""
        if self._attacks:
            states = {
                rung.variant: rung.state for rung in self.audit(self.claim(None, f"after_{self._attacks[-1]}")).ladder
            }
            assert states == {"twice": "passed", "known_good": "passed"}, f"after {', '.join(self._attacks)}"
            self._attacks.clear()

    def log(self) -> str:
        """The end of what the judge has written to its error output."""
        return (self.root / "judge.log").read_text(encoding="utf-8", errors="replace")[-2000:]

    def _again(self) -> None:
        """Another judge, so that one attack's success does not fail the tests behind it."""
        for pid in leftovers.descendants(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.judge.wait()
        self.start()

    def _placed(self, text: str) -> str:
        """The source with `@HOME@` and its like replaced by what the attack could find out for itself."""
        places = {**self.folders, "kit": Path(audit.__file__).parent, "judge": self.judge.pid, "port": self.port}
        for name, place in places.items():
            text = text.replace(f"@{name.upper()}@", str(place))
        return text

    def _environment(self) -> dict[str, str]:
        own = {"HOME": "home", "TMPDIR": "scratch", "AUDIT_CACHE": "cache"}
        set_ = {name: str(self.folders[folder]) for name, folder in own.items()}
        return {**os.environ, **set_, "AUDIT_TEST_TOKEN": SECRET, "PYTHONDONTWRITEBYTECODE": "1"}

    def _listen(self) -> None:
        """Services of the user: on a port, at a socket in a folder, and at one by name alone."""
        port = socket.create_server(("127.0.0.1", 0))
        self.port: int = port.getsockname()[1]
        local, named = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        local.bind(str(self.folders["others"] / "agent.sock"))
        named.bind(f"\0hostile_agent_{self.port}")
        self.services = (port, local, named)
        for one in (local, named):
            one.listen()


def share_prepared(cache: Path) -> None:
    """Copy into a cache what every audit needs of it: neither runtime nor precompiled header is made again."""
    shared = (prepared.sources().folder, prepared.runtime().parent, prepared.header("micro").parent)
    for made in shared:
        kind = cache / made.parent.name
        kind.mkdir(parents=True)
        for path in made.parent.glob(f"{made.name}*"):
            (shutil.copytree if path.is_dir() else shutil.copy2)(path, kind / path.name)


@pytest.fixture(scope="session", params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    if request.param == "cuda" and toolchain.missing() is not None:
        pytest.skip(f"needs a GPU: {toolchain.missing()}")
    leftovers.adopt()
    one = Stage(tmp_path_factory.mktemp("stage"), request.param)
    try:
        assert {rung.state for rung in one.audit(one.claim(None, "first")).ladder} == {"passed"}
        yield one
        one.audit_after()
    finally:
        one.end()
        remove(one.root)  # an attack's folders may be too deep for pytest
