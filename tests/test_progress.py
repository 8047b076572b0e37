"""Plain lines that say what is done and what may be left, and the same drawn for a notebook."""

from __future__ import annotations

import io
import re
import time
from html.parser import HTMLParser

import pytest

from audit.apps.notebook.form import bar, drawn
from audit.report import progress as lines
from audit.report.progress import Progress


@pytest.fixture
def half() -> Progress:
    """Half of the work done, in one stage of three."""
    result = Progress(io.StringIO())
    result.plan(["build", "verify", "judge"])
    result.expect(10)
    with result.stage("build"):
        result.advance(5)
        time.sleep(0.02)
    return result


def test_the_rest_is_told_at_the_pace_so_far(half: Progress) -> None:
    spent = half.stages[0][1]
    assert half.share == 0.5
    assert half.left() == f"50% done, about {spent:.0f} s left"
    half.advance(99)
    assert half.left() == "100% done"


def test_the_pace_is_that_of_all_time_however_many_stages_ran_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(lines.time, "monotonic", lambda: now)
    result = Progress(io.StringIO())
    result.expect(2)
    result.advance()
    with result.stage("outer"):
        now = 110.0
        with result.stage("inner"), result.stage("beside"):
            now = 120.0
            assert result.left() == "50% done, about 20 s left"
        now = 130.0
    assert dict(result.stages) == {"outer": 30.0, "inner": 10.0, "beside": 10.0}


def test_no_time_is_foretold_while_nothing_gets_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(lines.time, "monotonic", lambda: now)
    result = Progress(io.StringIO())
    result.expect(4)
    now = 110.0
    result.advance()
    now = 110.0 + lines.STALLED_S
    assert result.left() == "25% done, about 210 s left"
    now += 1.0
    assert result.left() == "25% done"
    result.advance()
    assert result.left() == "50% done, about 71 s left"


def test_nothing_is_foretold_without_a_pace_or_without_work() -> None:
    result = Progress(io.StringIO())
    assert result.left() == ""
    result.expect(100)
    result.advance(4)
    assert result.left() == ""
    result.advance()
    assert result.left().startswith("5% done, about ")
    result.complete()
    assert result.left() == "100% done"


def test_a_quiet_stage_says_how_much_is_left_and_what_takes_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "QUIET_S", 0.0)
    monkeypatch.setattr(lines, "LOOK_S", 0.01)
    stream = io.StringIO()
    result = Progress(stream)
    result.expect(4)
    with result.stage("build"), result.doing("building claimed.cu"):
        result.advance()
        while "building" not in stream.getvalue():
            time.sleep(0.01)
    assert "\x1b" not in stream.getvalue()
    assert re.search(r"s  build    25% done, about \d+ s left; building claimed\.cu \(0 s\)\n", stream.getvalue())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_that_is_rewritten_and_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LOOK_S", 0.01)
    stream = Terminal()
    result = Progress(stream)
    result.expect(4)
    with result.stage("build"), result.doing("building \x1b[2Jclaimed.cu"):
        result.advance()
        while "claimed.cu" not in stream.getvalue():
            time.sleep(0.01)
        result.say("built")
    line, status = stream.getvalue().split("\n")
    assert "\x1b[2J" not in stream.getvalue()
    assert re.search(r"25% done, about \d+ s left; building claimed\.cu \(0 s\)\r\x1b\[K", line)
    assert line.endswith("s  build    built")
    assert status.endswith("\r\x1b[K")


def test_a_mark_is_coloured_on_a_terminal_alone_and_not_against_the_users_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for stream, wish, shown in (
        (Terminal(), "", "failed.cu: \x1b[31mfailed:\x1b[0m order\n"),
        (Terminal(), "1", "failed.cu: failed: order\n"),
        (io.StringIO(), "", "failed.cu: failed: order\n"),
    ):
        monkeypatch.setenv("NO_COLOR", wish)
        Progress(stream).say("failed.cu: failed: order", mark=("failed:", "fails"))
        assert stream.getvalue().endswith(shown)
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    Progress(stream).say("\x1b[32mx.cu: passed every probe", mark=("passed", "holds"))
    assert "\x1b" not in stream.getvalue()


def test_work_that_is_less_than_expected_is_taken_off() -> None:
    result = Progress(io.StringIO())
    result.expect(40)
    result.expect(-19)
    result.advance(1)
    assert result.share == 1 / 21


def test_nothing_says_all_is_done_before_it_is() -> None:
    result = Progress(io.StringIO())
    result.expect(1000)
    result.advance(999)
    assert result.left().startswith("99% done, ")
    result.advance()
    assert result.left() == "100% done"


def test_a_stage_within_another_gives_its_name_back() -> None:
    result = Progress(io.StringIO())
    with result.stage("outer"):
        with result.stage("inner"):
            assert result.running == "inner"
        assert result.running == "outer"
    assert result.running == ""


def test_whoever_watches_is_asked_as_a_stage_begins_and_ends() -> None:
    seen: list[str] = []
    result = Progress(io.StringIO(), watch=lambda own: seen.append(own.running))
    with result.stage("lint"):
        pass
    assert (seen[0], seen[-1]) == ("lint", "")


def test_the_bar_names_every_stage_and_what_is_left(half: Progress) -> None:
    with half.stage("verify"):
        html = drawn(half)
    found: list[tuple[str, dict[str, str | None]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, dict(attributes)))  # type: ignore[method-assign]
    parser.feed(html)
    (shown,) = [attributes for tag, attributes in found if tag == "progress"]
    assert (shown["value"], shown["max"]) == ("50", "100")
    assert str(shown["aria-label"]).startswith("50% done, about ")
    assert re.search(r"✓ build 0\.0 s · <b>▶ verify</b> · judge<", html)
    assert "style" not in html, "colours are the notebook's own, in the dark too"


def test_no_bar_outside_a_notebook_or_where_nobody_watches() -> None:
    assert bar(wanted=True) is None
    assert bar(wanted=False) is None


def test_a_stage_of_many_items_is_counted_apart_from_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(lines.time, "monotonic", lambda: now)
    result = Progress(io.StringIO())
    with result.stage("review"):
        result.begin(200)
        result.advance(200)
        now = 1.0
    with result.stage("emulated"):
        result.begin(200)
        now = 101.0
        result.advance(20)
        assert result.left() == "10% done, about 900 s left"
