"""The parts of a record about a build: a note in the environment and a finding about the variant."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import JsonValue

from audit.build.second_compiler import Refusal
from audit.model import BuildNote, Finding, Variant
from audit.model.errors import CompileError, Unsupported, first_error

LOG_CHARACTERS = 4000
HEADERS = {"micro": "the small headers of the kit", "full": "the headers of torch"}
"""The header sets of the emulated device, in words."""
_LOST = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+)(?::\d+)?(?=: (?:fatal )?error: .*No such file)", re.MULTILINE)
_STOOD = re.compile(r"// (?P<file>\S+), line (?P<line>\d+)$")
_FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+@-]+/)+")


def without_folders(text: str) -> str:
    """Return the text with file names in place of absolute paths: a record has no folders of a machine."""
    return _FOLDERS.sub("", text)


def failed_note(variant: Variant, optimisation: str, error: CompileError | Unsupported, source: Path) -> BuildNote:
    """Return the note of a failed build, with the compiler's log cut at LOG_CHARACTERS."""
    compiled = isinstance(error, CompileError)
    log = without_folders(error.log if isinstance(error, CompileError) else str(error))
    return BuildNote(
        variant=variant.name,
        optimisation=optimisation,
        outcome="does not compile" if compiled else "not supported",
        header_set=error.header_set if isinstance(error, CompileError) else None,
        compiler=None,
        flags=(),
        seconds=0.0,
        from_cache=False,
        log=_LOST.sub(lambda lost: _place_of(lost, source), log)[:LOG_CHARACTERS],
    )


def _place_of(lost: re.Match[str], source: Path) -> str:
    """Return the file and line of an include that was not found; an importer put several files into one source."""
    lines = source.read_text(encoding="utf-8", errors="replace").splitlines() if lost["file"] == source.name else []
    line = lines[int(lost["line"]) - 1] if int(lost["line"]) <= len(lines) else ""
    stood = _STOOD.search(line)
    return f"{stood['file']}:{stood['line']}" if stood else lost.group()


def build_finding(note: BuildNote, refusal: Refusal | None = None) -> Finding:
    """Return the finding about a build. A failed build is an error or a skip, as our headers may be at fault, unless
    the compiler that the source is written for refuses it too, by `refusal`."""
    if note.outcome == "built":
        return Finding(probe="build", target=note.variant, outcome="pass", summary=f"built at {note.optimisation}")
    if note.outcome == "not supported":
        return Finding(probe="build", target=note.variant, outcome="skip", summary=note.log)
    if refusal is not None:
        return refused_finding(note.variant, note.log, refusal)
    headers = HEADERS.get(note.header_set or "", f"the {note.header_set} headers")
    text = f"does not compile with {headers}: {first_error(note.log)}"
    return Finding(probe="build", target=note.variant, outcome="error", summary=text, evidence={"log": note.log})


def refused_finding(variant: str, log: str, refusal: Refusal, *, line: int | None = None) -> Finding:
    """Return the finding that the compiler which a variant is written for refuses it, at that line."""
    text = f"{refusal.compiler} refuses it: {first_error(refusal.log)}"
    evidence: dict[str, JsonValue] = {"log": log, "compiler": refusal.compiler, "refusal": refusal.log}
    return Finding(
        probe="build", target=variant, outcome="fail", grade="proved", summary=text, evidence=evidence, line=line
    )
