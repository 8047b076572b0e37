"""Find words in preprocessed source that hide code from the device's checks.

Macros or headers may contain such a word, so the text of the source alone does not suffice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MARKER = re.compile(r'# (\d+) "[^"]*"(?P<flags>(?: \d)*)')
_SYSTEM = "3"
_OWN_MARKER = re.compile(r"^[ \t]*(?:#|%:|\?\?=)(?:[ \t]|\\\n)*\d", re.MULTILINE)
_WORDS = {
    "inline assembly": r"asm|__asm__|__asm",
    "code without checks of its accesses": r"_*no_sanitize\w*|_*disable_sanitizer_instrumentation_*|_*no_instrument\w*",
    "instructions of the host's processor": r"__builtin_(?:ia32|aarch64|neon)_\w+",
}
_REFUSED = re.compile("|".join(rf"(?P<n{index}>\b(?:{words})\b)" for index, words in enumerate(_WORDS.values())))
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def refused(text: str) -> tuple[str, int] | None:
    """Return the first construct of the source's own text and its line; None where there is none.

    Args:
        text: the output of `g++ -E`; lines of system headers, which are never the claim's, do not count.
    """
    for _, line, each in own_lines(text):
        if found := _REFUSED.search(each):
            return list(_WORDS)[int((found.lastgroup or "n0")[1:])], line
    return None


def own_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each line of the source's own text: its offset, its number in its file, itself with blank strings."""
    line, own, offset = 0, False, 0
    for each in text.splitlines(keepends=True):
        if marker := MARKER.match(each):
            line, own = int(marker[1]) - 1, _SYSTEM not in marker["flags"].split()
        else:
            line += 1
            if own:
                yield offset, line, _STRING.sub(lambda string: f'"{" " * (len(string.group()) - 2)}"', each)
        offset += len(each)


def has_markers(text: str) -> bool:
    """Return whether a source has line markers, which could declare lines to be a system header's."""
    return _OWN_MARKER.search(text) is not None
