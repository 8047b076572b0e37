"""What a process inside the sandbox may do with files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.sandbox.inside import REFUSED, inside

WALL = "files"
pytestmark = pytest.mark.usefixtures("wall")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_text("token", encoding="utf-8")
    return file


def test_a_file_of_the_user_cannot_be_read(tmp_path: Path, secret: Path) -> None:
    assert inside(secret.read_text, home=tmp_path) in REFUSED


def test_neither_can_a_program_read_it(tmp_path: Path, secret: Path) -> None:
    def program() -> int:
        return subprocess.run(["cat", str(secret)], capture_output=True, check=False).returncode

    assert inside(program, home=tmp_path) == 1


def test_what_is_named_can_be_read_and_not_written(tmp_path: Path, secret: Path) -> None:
    assert inside(secret.read_text, home=tmp_path, reads=[secret]) == "token"
    assert inside(lambda: secret.write_text("other"), home=tmp_path, reads=[secret]) in REFUSED


def test_nothing_is_written_outside(tmp_path: Path) -> None:
    assert inside(lambda: (tmp_path / "new").write_text("x"), home=tmp_path) in REFUSED
    assert inside(lambda: Path("/tmp/audit-test-new").write_text("x"), home=tmp_path) in REFUSED


def test_results_are_plain_files_and_no_links_pipes_or_devices(tmp_path: Path, secret: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    written = inside(lambda: (results / "0.bin").write_bytes(b"123"), home=tmp_path, writes=[results])
    assert written == 3 and (results / "0.bin").read_bytes() == b"123"
    for make in (
        lambda: (results / "link").symlink_to(secret),
        lambda: os.link(secret, results / "hard"),
        (results / "folder").mkdir,
        lambda: os.mkfifo(results / "pipe"),
        lambda: os.mknod(results / "device", 0o600 | 0o020000, os.makedev(1, 3)),
    ):
        assert inside(make, home=tmp_path, writes=[results], reads=[secret]) in REFUSED
    assert [path.name for path in results.iterdir()] == ["0.bin"]


def test_the_kit_cannot_be_changed_and_not_all_beside_it_be_read(tmp_path: Path) -> None:
    kit = Path(__file__).resolve().parents[2]
    assert inside(lambda: (kit / "audit/model/errors.py").open("a").close(), home=tmp_path) in REFUSED
    assert inside((kit / "pyproject.toml").read_text, home=tmp_path) in REFUSED
    assert inside(lambda: bool((kit / "audit/model/errors.py").read_text()), home=tmp_path) is True


def test_passwords_and_raw_devices_stay_closed(tmp_path: Path) -> None:
    for name in ("/etc/shadow", "/proc/kcore", "/dev/mem", "/dev/vda", "/dev/sda"):
        if Path(name).exists():
            assert inside(Path(name).open, home=tmp_path) in REFUSED


def test_a_thread_can_be_named_and_the_kernel_not_be_set(tmp_path: Path) -> None:
    """A GPU's driver does the first before it makes a context."""
    assert inside(lambda: Path("/proc/self/task", str(os.getpid()), "comm").write_text("named"), home=tmp_path) == 5
    for name in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches"):
        assert inside(lambda at=name: Path(at).open("w").close(), home=tmp_path) in REFUSED, name


def test_its_own_temporary_files_are_gone_with_it(tmp_path: Path) -> None:
    def work() -> str:
        Path("scratch").write_text("x", encoding="utf-8")
        Path("scratch").rename("moved")
        Path("link").symlink_to("moved")
        return str(Path.cwd())

    home = inside(work, home=tmp_path)
    assert not (Path(home) / "moved").exists()
