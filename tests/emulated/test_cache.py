"""An entry of the cache is used only as its maker left it; what a killed maker left is no entry and does not stay."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.build import cache
from audit.build.cache import SEAL, is_whole, made
from audit.model.errors import BadInput, CompileError

TEXT = "what was compiled"


def make(unfinished: Path) -> None:
    (unfinished / "inner").mkdir()
    (unfinished / "inner/kernel.so").write_text(TEXT)
    (unfinished / "build.json").write_text("{}")


def relabel(path: Path, text: str) -> None:
    """Other bytes of the same size, with the file's times as they were."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": lambda entry: (entry / "inner/kernel.so").write_text(TEXT[:5]),
    "one byte": lambda entry: relabel(entry / "inner/kernel.so", TEXT.replace("w", "W")),
    "a file gone": lambda entry: (entry / "build.json").unlink(),
    "a file more": lambda entry: (entry / "inner/sitecustomize.py").write_text("import os"),
    "a link": lambda entry: (entry / "inner/libc.so").symlink_to("/etc/passwd"),
    "no seal": lambda entry: (entry / SEAL).unlink(),
    "half a seal": lambda entry: (entry / SEAL).write_text('{"build.json"'),
    "another seal": lambda entry: (entry / SEAL).write_text("[]"),
}


@pytest.mark.parametrize("known", [True, False], ids=["looked over before", "not looked over yet"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_made_again(tmp_path: Path, damage: str, known: bool) -> None:
    entry = tmp_path / "kernels/twice-0"
    assert not made(entry, make)
    assert made(entry, make) is True
    if not known:
        cache._whole.clear()
    DAMAGES[damage](entry)
    assert not is_whole(entry)
    assert not made(entry, make)
    assert sorted(path.name for path in entry.rglob("*")) == [SEAL, "build.json", "inner", "kernel.so"]
    assert (entry / "inner/kernel.so").read_text() == TEXT
    assert made(entry, make) is True


def test_a_file_in_an_entrys_place_gives_way(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels/twice-0").write_text("no folder")
    assert not made(tmp_path / "kernels/twice-0", make)
    assert is_whole(tmp_path / "kernels/twice-0")


def test_what_killed_makers_left_goes_with_the_next_one_and_what_the_living_make_stays(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    for left in ("twice-0.x1y2", "other-1.x3y4", "busy-2.x5y6", "a.dotted-3"):
        (kernels / left).mkdir(parents=True)
        (kernels / left / "kernel.so").write_text("half")
    for name in ("twice-0", "other-1", "busy-2", "a.dotted-3", "a"):
        (kernels / f"{name}.lock").touch()
    with (kernels / "busy-2.lock").open() as busy:
        fcntl.flock(busy, fcntl.LOCK_EX)
        made(kernels / "twice-0", make)
    assert sorted(path.name for path in kernels.iterdir() if path.is_dir()) == ["a.dotted-3", "busy-2.x5y6", "twice-0"]


def test_a_maker_that_fails_leaves_nothing_but_its_lock(tmp_path: Path) -> None:
    def refuses(unfinished: Path) -> None:
        make(unfinished)
        (unfinished / "inner").chmod(0)
        raise CompileError("error: no", header_set="micro")

    def leaves_a_link(unfinished: Path) -> None:
        (unfinished / "kernel.so").symlink_to("/dev/zero")

    for maker in (refuses, leaves_a_link):
        with pytest.raises(CompileError):
            made(tmp_path / "kernels/twice-0", maker)
        assert [path.name for path in (tmp_path / "kernels").iterdir()] == ["twice-0.lock"]


def test_a_cache_that_cannot_be_written_is_told_with_what_to_do() -> None:
    with pytest.raises(BadInput, match=r"^/proc/self: the cache cannot be written \(.+\); set AUDIT_CACHE"):
        made(Path("/proc/self/kernels/twice-0"), make)
