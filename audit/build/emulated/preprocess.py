"""Preprocess a source: write its text with headers, and list the files of the claim in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from audit.build.dependencies import listed, own_files
from audit.build.emulated import toolchain
from audit.model import SourceFile
from audit.model.errors import CompileError, Unsupported

TEXT, RULE, OWN = "kernel.ii", "kernel.d", "rewritten"
COMPILES = ("-fpreprocessed", "-fpch-preprocess", "-x", "c++-cpp-output", TEXT)
"""Arguments that compile the text; the compiler reads the precompiled header from its own file."""
_INPUT = "kernel.cpp"
_PREPROCESSES = ("-E", "-fpch-preprocess", "-fno-working-directory", "-MD", "-MF", RULE, _INPUT, "-o", TEXT)
_PRECOMPILED = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+GCC[ \t]+pch_preprocess\b.*$", re.MULTILINE)


def preprocess(
    text: str,
    source: Path,
    folder: Path,
    *,
    headers: Sequence[Path],
    flags: Sequence[str],
    ours: Sequence[Path] = (),
) -> tuple[SourceFile, ...]:
    """Write `TEXT` into a folder.

    Args:
        text: the rewritten source.
        source: its file; its own headers are in its folder or below.
        folder: the working directory; `OWN` in it has rewritten headers, which replace those of the source.
        headers: the first includes, of which the first is precompiled.
        flags: the compiler's.
        ours: folders of the kit's own headers.

    Returns:
        The files of the claim that were read, in the order of their names.

    Raises:
        CompileError: the preprocessor refuses the text; `header_set` is empty.
        Unsupported: it read a file that is neither the claim's nor the compiler's.
    """
    (folder / _INPUT).write_text(text, encoding="utf-8")
    header = headers[0]
    included = [word for each in headers for word in ("-include", str(each))]
    arguments = [*flags, f"-iquote{OWN}", f"-iquote{source.parent}", *included, *_PREPROCESSES]
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
