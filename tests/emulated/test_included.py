"""What a build's key is made of beside the source: headers in quotes, however they are named, and no more than fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.build.emulated import included
from audit.model.errors import Unsupported


def headers(folder: Path, *names: str) -> list[tuple[str, bytes]]:
    text = "".join(f'#include "{name}"\n' for name in names)
    return included.headers(folder / "claimed.cu", text)


def test_headers_of_headers_are_found_once_whatever_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "a.cuh").write_text(f'  #  include "../{tmp_path.name}/b.cuh"\n#include "claimed.cu"\n')
    (tmp_path / "b.cuh").write_text(f'#include "../{tmp_path.name}/a.cuh"\n// b\n')
    (tmp_path / "c.cuh").touch()
    found = headers(tmp_path, "c.cuh", "a.cuh", "./a.cuh")
    assert [name for name, _ in found] == ["a.cuh", "b.cuh", "c.cuh"]
    assert (found[1][1][-5:], found[2][1]) == (b"// b\n", b"")


@pytest.mark.parametrize("name", ["absent.h", "/dev/zero", "/proc/kmsg", "/", "n" * 5000, "round.h", "\0"], ids=ascii)
def test_what_cannot_be_read_is_left_to_the_compiler(name: str, tmp_path: Path) -> None:
    (tmp_path / "round.h").symlink_to("round.h")
    assert headers(tmp_path, name) in ([], [("kmsg", b"")])


def test_headers_are_bounded_together(tmp_path: Path) -> None:
    for name in ("a.h", "b.h"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(included.MOST_BYTES // 2 + 1)
    assert len(headers(tmp_path, "a.h")) == 1
    with pytest.raises(Unsupported, match="more than 67,108,864 bytes of headers"):
        headers(tmp_path, "a.h", "b.h")
