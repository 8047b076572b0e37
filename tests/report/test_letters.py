"""One sentence in the terminal where a report is in Japanese and no font of the machine has its letters."""

from __future__ import annotations

from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager

from audit.apps import cli
from audit.model import store
from audit.report import formats
from tests.report.fixture import triangular


def font(path: Path, letter: str) -> str:
    """A font with that one letter, an empty one."""
    made = FontBuilder(1000)
    made.setupGlyphOrder([".notdef", "one"])
    made.setupCharacterMap({ord(letter): "one"})
    empty = TTGlyphPen(None).glyph()
    made.setupGlyf({".notdef": empty, "one": empty})
    made.setupHorizontalMetrics({".notdef": (500, 0), "one": (500, 0)})
    made.setupHorizontalHeader()
    made.setupNameTable({"familyName": "Made", "styleName": "Regular"})
    made.setupOS2()
    made.setupPost()
    made.save(path)
    return str(path)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The fonts that are installed, as matplotlib lists them."""
    files: list[str] = []
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: files)
    return files


def test_only_a_page_in_japanese_without_its_letters_gets_the_sentence(installed: list[str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"no font")
    installed += [str(broken), str(tmp_path / "absent.ttf"), font(tmp_path / "latin.ttf", "a")]
    sentence = formats.without_letters("ja", ("md", "html"))
    assert sentence is not None and "apt-get install fonts-noto-cjk" in sentence
    assert formats.without_letters("en", ("html", "pdf")) is None
    assert formats.without_letters("ja", ("md", "comment")) is None, "an editor's fonts show these"
    installed.append(font(tmp_path / "kana.ttf", "あ"))
    assert formats.without_letters("ja", ("md", "html")) is None


@pytest.mark.parametrize(("letter", "lines"), [("a", 1), ("あ", 0)])
def test_the_terminal_says_it_once(
    installed: list[str], letter: str, lines: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed.append(font(tmp_path / "one.ttf", letter))
    store.write(triangular(), tmp_path / "record.json")
    assert cli.main(["report", str(tmp_path / "record.json"), "--lang", "ja", "--formats", "html"]) == 0
    assert capsys.readouterr().out.count("no font of this machine has Japanese letters") == lines
