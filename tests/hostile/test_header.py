from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.header import Outcome, attacks, read

CLEARED = '"""Attack: reads\n  a file.\nWall: landlock\nOutcome: cleared\n"""\n'
FOUND = "// Attack: a\n// Wall: b\n// Outcome: contract error: no message\n// Outcome on cuda: build skip\n\n// c\n"


def test_every_attack_says_what_it_tries_what_holds_it_and_how_it_ends() -> None:
    assert all(one.tries and one.wall and "emulated" in one.outcomes for one in attacks())


def test_a_docstring_and_comment_lines_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(CLEARED)
    (tmp_path / "two.cu").write_text(FOUND)
    one, two = read(tmp_path / "one.py"), read(tmp_path / "two.cu")
    assert (one.name, one.tries) == ("one", "reads a file.")
    assert one.outcomes == dict.fromkeys(("emulated", "cuda"), Outcome(None, "cleared"))
    assert (one.claims, two.claims) == (None, None)
    (tmp_path / "three.cu").write_text(FOUND.replace("// Outcome:", "// Claims: 10\n// Outcome:"))
    assert read(tmp_path / "three.cu").claims == 10
    (tmp_path / "one.py").write_text(CLEARED.replace("cleared", "cleared\nOutcome on cuda: not asked"))
    assert read(tmp_path / "one.py").outcomes == {"emulated": Outcome(None, "cleared")}
    assert two.outcomes == {
        "emulated": Outcome("contract", "error", "no message"),
        "cuda": Outcome("build", "skip"),
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [(CLEARED.replace("Wall:", ""), "lacks Wall"), (CLEARED.replace("cleared", "fine"), "'fine' is neither")],
)
def test_a_header_that_says_less_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "one.py").write_text(text)
    with pytest.raises(ValueError, match=words):
        read(tmp_path / "one.py")
