from __future__ import annotations

import pytest

from audit.review import token_scan
from audit.review.token_scan import mask, matching, split_commas, unclosed
from tests.review.sample import SAMPLE, spoiled


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a // b\nc", "a     \nc"),
        ("a // b \\\nstill\nc", "a      \\\n     \nc"),
        ("a /* b\n */ c", "a     \n    c"),
        ('f("a // b", 1)', 'f("      ", 1)'),
        (r'"\"" x', r'"  " x'),
        (r"'\'' x '\"'", r"'  ' x '  '"),
        ("1'000'000 x 'a'", "1'000'000 x ' '"),
        ('R"x(a)" b)x" c', ' ""          c'),
        ('"open\nnext', '"    \nnext'),
        ("#if 0\nx\n#if 1\ny\n#endif\n#else\nz\n#endif", "#if 0\n \n     \n \n      \n#else\nz\n#endif"),
    ],
)
def test_mask_blanks_what_is_not_code(text: str, masked: str) -> None:
    assert mask(text).masked == masked


def test_code_keeps_literals_and_loses_comments() -> None:
    assert mask('f("a"); // b').code == 'f("a");     '


@pytest.mark.parametrize(
    ("code", "offset"),
    [
        ('f("a\nb");', 2),
        ('f("a\\"\n);', 2),
        ("int a = '\n';", 8),
        ('#if 1\n#endif\nf("a\n");', 15),
        ('f("a\\\nb", R"(a\nb)", 1\'000, "\\"");', None),
        ("#error don't\n", None),
        ('#ifdef X\nf("a\n");\n#endif\n', None),
        ('f("a\\ \nb");', None),
    ],
)
def test_a_literal_that_ends_with_its_line_is_found(code: str, offset: int | None) -> None:
    assert unclosed(code) == offset


def test_views_keep_length_and_line_breaks() -> None:
    for text in (SAMPLE, SAMPLE.replace("\n", "\r\n"), *spoiled()):
        views = mask(text)
        breaks = [offset for offset, character in enumerate(text) if character == "\n"]
        for view in (views.code, views.masked):
            assert len(view) == len(text)
            assert [offset for offset, character in enumerate(view) if character == "\n"] == breaks


def test_macros_span_continued_lines() -> None:
    masked = mask(SAMPLE).masked
    found = {macro.name: macro for macro in token_scan.macros(masked)}
    assert found["LAUNCH"].parameters == ("K", "n")
    assert "32>>>(a, b)" in masked[found["LAUNCH"].body_start : found["LAUNCH"].end]
    assert found["DEVICE"].parameters == ()


def test_matching_refuses_crossed_brackets() -> None:
    assert matching("(a[1]{})", 0) == 7
    assert matching("(a[1)]", 0) == -1
    assert matching("(a", 0) == -1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a, b", ["a", "b"]),
        ("dim3(1, 2), f<x, y>(3), {4, 5}", ["dim3(1, 2)", "f<x, y>(3)", "{4, 5}"]),
        ("n << 3, m >> 2", ["n << 3", "m >> 2"]),
        ("a < b, c", ["a < b", "c"]),
        ("", [""]),
    ],
)
def test_split_commas(text: str, parts: list[str]) -> None:
    assert [text[start:end].strip() for start, end in split_commas(text, 0, len(text))] == parts
