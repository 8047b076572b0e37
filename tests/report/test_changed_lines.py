"""The lines of a change: as a diff where both texts are there, else the command that shows them."""

from __future__ import annotations

import pytest

from audit import claims
from audit.report import cause, content, html, markdown
from audit.report.translation import translated
from audit.report.view import Report, Section
from tests.report.fixture import triangular

HEAD = "// claimed: what it is\n//   changed    nothing yet\n\n"
BODY = "".join(f"int line_{place} = {place};\n" for place in range(60))
FILES = ("claimed.cu", "ablation_grid2d.cu")


def report(before: str | None, after: str | None) -> Report:
    """The report where the claimed kernel and its right ablation have these texts."""
    texts = {file: text for file, text in zip(FILES, (before, after), strict=True) if text is not None}
    return content.build(triangular(), (), texts)


def of_cause(before: str | None, after: str | None) -> Section:
    return next(one for one in report(before, after).sections if one.slug == "cause")


def test_the_first_claims_one_change_is_shown_in_its_own_lines() -> None:
    texts = claims.texts(triangular().claim)
    (section,) = [one for one in content.build(triangular(), (), texts).sections if one.slug == "cause"]
    ((heading, lines),) = section.blocks
    assert heading == "The change from claimed.cu to ablation_grid2d.cu (2-D grid)"
    changed = [line for line in lines.splitlines() if line[0] in "+-"]
    assert changed == [
        "-    const int threads = 256;",
        "-    const int blocks = N;",
        "+    const dim3 threads(16, 16);",
        "+    const dim3 blocks((N + 15) / 16, (N + 15) / 16);",
    ]
    assert lines.startswith("@@ -31,6 +28,6 @@")
    assert (section.commands, section.logs) == ((), ())


@pytest.mark.parametrize("texts", [(None, None), (HEAD + BODY, None), (None, HEAD + BODY)])
def test_without_a_text_the_command_that_shows_the_change_stands_there(texts: tuple[str | None, str | None]) -> None:
    section = of_cause(*texts)
    assert section.commands == ("diff kernels/triangular_mm/claimed.cu kernels/triangular_mm/ablation_grid2d.cu",)
    assert (section.blocks, section.logs) == ((), ())


def test_a_head_that_differs_is_no_change_of_the_kernel() -> None:
    other = HEAD.replace("nothing yet", "the fifth number\n//   more       of it") + BODY.replace("= 5;", "= 6;")
    ((_, lines),) = of_cause(HEAD + BODY, other).blocks
    assert [line for line in lines.splitlines() if line[0] in "+-"] == ["-int line_5 = 5;", "+int line_5 = 6;"]


def test_a_long_change_is_folded_and_cut_and_markdown_has_its_command() -> None:
    many = 3 * BODY
    section = of_cause(HEAD + many, HEAD + many.replace("int", "long"))
    ((heading, lines),) = section.logs
    assert (section.blocks, len(section.commands)) == ((), 1)
    assert len(lines.splitlines()) == cause.MOST_LINES + 1
    assert lines.endswith("… (+163)")
    view = report(HEAD + many, HEAD + many.replace("int", "long"))
    assert f"<details><summary>{heading}</summary><pre>@@" in html.render(view)
    assert "-int line_5" not in markdown.render(view) and "diff kernels/triangular_mm" in markdown.render(view)


def test_no_line_ends_its_block_or_hides_a_letter() -> None:
    hostile = "int a; // ```` </pre><script> \u202e\n"
    view = report(HEAD + BODY, HEAD + hostile + BODY)
    page, text = html.render(view), markdown.render(view)
    assert "<script>" not in page and "\u202e" not in page + text and "⟨U+202E⟩" in page
    assert "\n```````diff\n" in text


def test_the_heading_has_japanese_and_the_lines_stay_as_they_are() -> None:
    page = markdown.render(translated(report(HEAD + BODY, HEAD + BODY.replace("= 5;", "= 6;")), "ja"))
    assert "claimed.cu から ablation\\_grid2d.cu への変更（" in page
    assert "\n-int line_5 = 5;\n+int line_5 = 6;\n" in page
