"""Where no sandbox stands, claimed code can write the cache; a neighbour's files that it rewrote are not loaded."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from pathlib import Path

import pytest

from audit import claims
from audit.audit import Audit
from audit.build import cache
from audit.build.emulated.device import EmulatedDevice
from audit.report.progress import Progress
from audit.run.processes.pool import Workers
from audit.sandbox import native
from audit.scheduler import places
from tests.hostile.conftest import CLAIM, VARIANT, share_prepared

ATTACK = """
import hashlib, json, os
from pathlib import Path

WRONG = b"def forward(x):\\n    return x * 3\\n"
for path in Path(os.environ["AUDIT_CACHE"]).glob("python/*/known_good.py"):
    path.write_bytes(WRONG)
    (path.parent / ".seal.json").write_text(json.dumps({path.name: hashlib.sha256(WRONG).hexdigest()}))


def forward(x):
    return x * 2
"""


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with all in it that is not a claim's."""
    share_prepared(tmp_path / "cache")
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_neighbours_source_that_was_rewritten_fails_no_kernel(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(native.WITHOUT, "everything")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    folder = Path(shutil.copytree(CLAIM, tmp_path / "claim"))
    (folder / "attack.py").write_text(ATTACK)
    with (folder / "claim.toml").open("a", encoding="utf-8") as file:
        file.write(VARIANT.format(file="attack.py", role="claimed"))
        file.write(VARIANT.format(file="known_good.py", role="repair"))
    progress = Progress(io.StringIO())
    with Workers(places(1)) as workers:
        loaded = claims.load(str(folder))
        with Audit(loaded, EmulatedDevice(), tmp_path / "out", entropy=3, workers=workers, progress=progress) as one:
            record = one.run()
    rewritten = [path.read_bytes() for path in own_cache.glob("python/*/known_good.py")]
    assert b"x * 3" in b"".join(rewritten), "the attack did not reach the cache, so nothing was tried"
    about = [one.summary for one in record.findings if one.target == "known_good" and one.outcome in ("fail", "error")]
    assert [one for one in about if "known_good.py is not the file that was built" in one]
    assert not [one for one in about if "wrong" in one], "a file that was rewritten was loaded"
    assert {rung.variant: rung.state for rung in record.ladder}["known_good"] != "failed"


@pytest.mark.parametrize("touched", [True, False])
def test_an_entry_is_held_to_what_this_process_saw_first(tmp_path: Path, touched: bool) -> None:
    entry = tmp_path / "kernels/twice-0"
    cache.made(entry, lambda unfinished: unfinished.joinpath("kernel.so").write_text("first") and None)
    if touched:
        (entry / "kernel.so").touch()
        assert cache.is_whole(entry)
    first = cache.digests(entry / "kernel.so")
    (entry / "kernel.so").write_text("other")
    (entry / cache.SEAL).write_text(json.dumps({"kernel.so": hashlib.sha256(b"other").hexdigest()}))
    assert not cache.is_whole(entry)
    assert cache.digests(entry / "kernel.so") == first
    with pytest.raises(cache.Changed, match=r"kernel\.so is not the file that was built"):
        cache.checked(entry / "kernel.so", first)


def test_a_sealed_copy_stays_what_it_was(tmp_path: Path) -> None:
    library = tmp_path / "kernel.so"
    library.write_text("first")
    held = cache.sealed(library, {library: hashlib.sha256(b"first").hexdigest()})
    library.write_text("other")
    assert held.read_text() == "first"
    for flags in ("r+b", "wb"):
        with pytest.raises(PermissionError), held.open(flags) as file:
            file.write(b"other")
    assert cache.sealed(library, None) == library
    with pytest.raises(cache.Changed):
        cache.sealed(library, {})
