"""Preprocess a source: write its text with headers, list the files of the claim in it, and find words in it that hide
code from the device's checks: macros or headers may contain one, so the text of the source alone does not suffice."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from audit.build.dependencies import listed, own_files
from audit.build.emulated import toolchain
from audit.model import SourceFile
from audit.model.errors import CompileError, Unsupported
from audit.review.cuda_source import CudaSource, parse
from audit.review.reach_allowed import CPP_OF_PYTHON

TEXT, RULE, OWN = "kernel.ii", "kernel.d", "rewritten"
COMPILES = ("-fpreprocessed", "-fpch-preprocess", "-x", "c++-cpp-output", TEXT)
"""Arguments that compile the text; the compiler reads the precompiled header from its own file."""
_INPUT = "kernel.cpp"
_PREPROCESSES = ("-E", "-fpch-preprocess", "-fno-working-directory", "-MD", "-MF", RULE, _INPUT, "-o", TEXT)
_PRECOMPILED = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+GCC[ \t]+pch_preprocess\b.*$", re.MULTILINE)
MARKER = re.compile(r'# (\d+) "(?P<file>[^"]*)"(?P<flags>(?: \d)*)')
_DEVICE_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+.*\b__(?:device|global)__\b", re.MULTILINE)
_OF_TORCH = "C10_(?:HOST_)?DEVICE"
_MARKERS = re.compile(f"^{MARKER.pattern}", re.MULTILINE)
_SYSTEM = "3"
_OWN_MARKER = re.compile(r"^[ \t]*(?:#|%:|\?\?=)(?:[ \t]|\\\n)*\d", re.MULTILINE)
_WORDS = {
    "inline assembly": r"asm|__asm__|__asm",
    "code without checks of its accesses": r"_*no_sanitize\w*|_*disable_sanitizer_instrumentation_*|_*no_instrument\w*",
    "instructions of the host's processor": r"__builtin_(?:ia32|aarch64|neon)_\w+",
}
OF_PYTHON = "Python's objects beyond a binding"
_REFUSED = re.compile("|".join(rf"(?P<n{index}>\b(?:{words})\b)" for index, words in enumerate(_WORDS.values())))
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def preprocess(  # noqa: PLR0913  # one argument an input
    text: str,
    source: Path,
    folder: Path,
    *,
    folders: Sequence[str] = (),
    headers: Sequence[Path],
    flags: Sequence[str],
    ours: Sequence[Path] = (),
) -> tuple[SourceFile, ...]:
    """Write `TEXT` into a folder; return the files of the claim that were read, in the order of their names.

    Args:
        text: the rewritten source.
        source: its file; its own headers are in its folder or below.
        folder: the working directory; `OWN` in it has rewritten headers, which replace those of the source.
        folders: the claim's own include folders, within that of the source.
        headers: the first includes, of which the first is precompiled.
        flags: the compiler's.
        ours: folders of the kit's own headers.

    Raises:
        CompileError: the preprocessor refuses the text; `header_set` is empty.
        Unsupported: it read a file that is neither the claim's nor the compiler's.
    """
    (folder / _INPUT).write_text(text, encoding="utf-8")
    header = headers[0]
    included = [word for each in headers for word in ("-include", str(each))]
    own = [f"-I{place}/{each}" for each in folders for place in (OWN, source.parent)]
    arguments = [*flags, f"-iquote{OWN}", f"-iquote{source.parent}", *own, *included, *_PREPROCESSES]
    succeeded, log = toolchain.compile_file(arguments, folder=folder, reads=[header.parent, source.parent, *ours])
    if not succeeded:
        raise CompileError(log, header_set="")
    for found in _PRECOMPILED.finditer((folder / TEXT).read_text(encoding="utf-8", errors="replace")):
        if f'"{header}.gch"' not in found.group():
            raise Unsupported("a precompiled header of the source's own")
    rule = (folder / RULE).read_text(encoding="utf-8", errors="surrogateescape")
    known = [header.parent, *ours, *toolchain.header_folders(tuple(flags))]
    rewritten = re.compile(rf"\A(?:\./)?{OWN}/")
    names = [rewritten.sub(lambda _: f"{source.parent}/", name) for name in listed(rule)]
    return own_files(names, source=source, build=folder, toolchain=known)


def refused(text: str, *, python: bool = False) -> tuple[str, int] | None:
    """Return the first construct of the source's own text and its line, from the output of `g++ -E`; None where there
    is none. Lines of system headers, which are never the claim's, do not count. `python` is whether the headers declare
    Python's functions."""
    for _, line, each in own_lines(text):
        if found := _REFUSED.search(each):
            return list(_WORDS)[int((found.lastgroup or "n0")[1:])], line
        if python and CPP_OF_PYTHON.search(each):
            return OF_PYTHON, line
    return None


def check_host(source: CudaSource, path: Path, *, host: str, device: str) -> None:
    """Raise Unsupported for host code that differs where `__CUDA_ARCH__` is not defined, as in the host pass of nvcc.

    Args:
        source: the parsed source, of the file at `path`; own headers in the texts are read.
        host: the preprocessed text without the macro.
        device: that with it.
    """
    first, second = (
        Counter((file, line, own.strip()) for file, line, own in _lines_of_files(text)) for text in (host, device)
    )
    markers = [marker for text in (host, device) for marker in _MARKERS.finditer(text)]
    names = {marker["file"] for marker in markers if _SYSTEM not in marker["flags"].split()}
    paths = [each for each in map(Path, sorted(names)) if each.is_file()]
    files = {str(each): parse(each.read_text(encoding="utf-8", errors="replace")) for each in paths}
    files[path.name] = source
    marks = {_OF_TORCH, *(name for each in files.values() for name in _DEVICE_MACRO.findall(each.masked))}
    of_device = re.compile(rf"\b(?:{'|'.join(sorted(marks))})\b")  # macros of one file annotate functions of another
    differing = sorted((file, line) for file, line, own in (first - second) + (second - first) if own)
    for name, read in files.items():
        bodies = [
            (read.line_of(one.body_start), read.line_of(one.end))
            for one in read.functions
            if one.kind == "host" and not of_device.search(read.masked, one.start, one.body_start)
        ]
        for file, line in differing:
            if file == name and any(start <= line <= end for start, end in bodies):
                what = "host code that asks for __CUDA_ARCH__, which nvcc defines in device code"
                raise Unsupported(what, line=line if read is source else 0)


def _lines_of_files(text: str) -> Iterator[tuple[str, int, str]]:
    markers = [(marker.start(), marker["file"]) for marker in _MARKERS.finditer(text)]
    starts = [start for start, _ in markers]
    for offset, line, each in own_lines(text):
        yield markers[bisect_right(starts, offset) - 1][1], line, each


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
