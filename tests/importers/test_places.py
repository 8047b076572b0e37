"""Lines of a claimed source as lines of the files that were imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.apps import cli
from audit.claims import places
from audit.claims.importers import joined
from tests.importers import published

pytestmark = pytest.mark.audits

FILES = {
    "k.cu": '// k.cu\n#include <cuda.h>\n#include "a.h"\nint k;\n#include "a.h"\n#include "lost.h"\nint last;\n',
    "a.h": "#pragma once\nint a;\n",
    "b.cpp": '#include <torch/extension.h>\nint b;\n#include "a.h"\nint end;\n',
}


def test_every_line_of_joined_files_has_its_place() -> None:
    text = joined.joined(FILES)
    found = places.of(text, FILES)
    lines = text.splitlines()
    for name, original in FILES.items():
        for number, line in enumerate(original.splitlines(), start=1):
            if line.startswith("int "):
                (at,) = (place for place, each in enumerate(lines, start=1) if each == line)
                assert found[at] == (name, number)


def test_lines_in_front_are_counted_and_lines_behind_change_nothing() -> None:
    assert places.of("x\ny\nint a;\nint b;\nz\n", {"row 3": "int a;\nint b;\n"}) == {3: ("row 3", 1), 4: ("row 3", 2)}
    assert places.of("int a;\nint b;\nz\n", {"a.cu": "int a;\nint b;\n"}) == {}
    assert places.ranges({3: ("a", 1), 4: ("a", 2), 7: ("b", 9)}) == ["3 to 4 are a 1 to 2", "7 to 7 are b 9 to 9"]


def test_a_sentence_names_the_place_behind_the_line() -> None:
    known = {7: ("k.cu", 3)}
    assert (
        places.located("write in line 7 of f; see line 8", known) == "write in line 7 (k.cu, line 3) of f; see line 8"
    )


def test_an_audit_names_lines_of_the_imported_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = (published.KERNEL + published.RETURNING).replace("y[i] = ", "y[i + 1] = ")
    kernel = '#include "bound.cuh"\n' + plain.replace("i < count", "inside(i, count)")
    header = "__device__ inline bool inside(int i, int count) { return i < count; }\n"
    binding = f"#include <torch/extension.h>\n{published.DECLARED}\n{published.BOUND.format(name='forward')}"
    source = published.write(
        tmp_path / "source", k__cu=kernel, bound__cuh=header, bind__cpp=binding, reference__py=published.REFERENCE
    )
    assert cli.main(["check", str(source), "--device", "emulated", "--out", str(tmp_path / "out")]) == 0
    line = kernel.splitlines().index(next(one for one in kernel.splitlines() if "inside(i" in one)) + 1
    steps, _, verdict = capsys.readouterr().out.partition("wrote report.md")
    assert f"(k.cu, line {line}) of scale" in verdict
    assert "claimed.cu, line" in steps and f"(k.cu, line {line + 6}): hint: review." in steps
    folder = claims.load(str(next(tmp_path.glob("out/*/claim.toml")).parent))
    assert "Lines of claimed.cu: " in folder.claim.source.note and "are k.cu 2 to " in folder.claim.source.note
