"""Commands over what audits left: `report`, `compare`, `bundle`, `verify`. They build and run nothing."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, get_args

from audit import judge
from audit import report as reports
from audit.apps import bundle as bundles
from audit.apps.bundle import archive
from audit.apps.commands.declare import Arg
from audit.model import VerdictName
from audit.model.errors import BadInput
from audit.report import compare as tables
from audit.report import formats, terminal
from audit.report.formats import DEFAULT, FORMATS, Form, chosen
from audit.report.messages import LANGUAGES

USUAL = ",".join(DEFAULT)
Language = Annotated[str, Arg("language of the report (default: en)", choices=LANGUAGES)]
Formats = Annotated[str, Arg(f"formats, with commas: of {', '.join(FORMATS)} (default: {USUAL})", "LIST")]
FailOn = Annotated[str, Arg("verdicts, with commas, that end the command with exit code 3: wrong,undefined", "LIST")]
Seed = Annotated[int | None, Arg("the seed a record names, to reproduce its findings", "N")]
Json = Annotated[bool, Arg("print the verdict as one line of JSON, and progress on standard error")]


def verdicts(names: str, *others: str) -> frozenset[str]:
    """Return the verdicts, and other states, that `--fail-on` names. Raises BadInput for an unknown one."""
    given = [one.strip() for one in names.split(",") if one.strip()]
    known = (*get_args(VerdictName), *others)
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise BadInput(f"--fail-on {name}: no verdict{meant}; known: {', '.join(known)}")
    return frozenset(given)


def form(language: str, formats: str) -> Form:
    """The language and formats that the options ask for. Raises BadInput: a format is unknown, or needs a browser and
    none is installed."""
    return Form(language, chosen(name.strip() for name in formats.split(",") if name.strip()))


def report(
    record: Annotated[Path, Arg("a record.json", "RECORD")],
    *,
    out: Annotated[Path | None, Arg("folder for the report (default: beside the record)", "DIR")] = None,
    lang: Language = "en",
    formats: Formats = USUAL,
) -> int:
    """Renders the report of a record again and prints the files written."""
    wanted = form(lang, formats)
    for file in reports.render(judge.opened(record), out or record.parent, wanted):
        terminal.say(str(file))
    say_what_shows_boxes(wanted)
    return 0


def say_what_shows_boxes(wanted: Form) -> None:
    """Print a sentence where this machine lacks the letters of the report's language."""
    if (sentence := formats.without_letters(wanted.language, wanted.names)) is not None:
        terminal.say(sentence)


def compare(
    records: Annotated[tuple[Path, ...], Arg("record.json files of one claim", "RECORD")],
    *,
    out: Annotated[Path | None, Arg("write compare.md, compare.html and a figure there", "DIR")] = None,
) -> int:
    """Prints the table of one claim on several GPUs; writes the page where a folder is given."""
    opened = [judge.opened(path) for path in records]
    terminal.say(*tables.compare(opened).splitlines())
    if out is not None:
        written = tables.write(opened, out)
        terminal.say("", f"wrote {', '.join(str(path) for path in written)}")
    return 0


def bundle(
    place: Annotated[Path, Arg("a record.json, or the folder it lies in", "RECORD|FOLDER")],
    *,
    claim: Annotated[Path | None, Arg("the claim's folder, if `audit list` does not name it", "DIR")] = None,
    out: Annotated[Path | None, Arg("the zip (default: named after the folder, beside it)", "FILE")] = None,
    sign: Annotated[Path | None, Arg("sign it with this key of OpenSSH, into FILE.sig", "KEY")] = None,
) -> int:
    """Prints the path and, once the bundle has been verified, its SHA-256."""
    path = bundles.make(place, claim=claim, out=out)
    archive.file_of(path).unlink(missing_ok=True)  # of an earlier bundle
    if sign is not None:
        terminal.say(str(bundles.sign(path, sign)))
    terminal.say(f"{path}: sha256 {bundles.verify(path).sha256}")
    return 0


def verify(
    bundle: Annotated[Path, Arg("a zip that `audit bundle` made", "BUNDLE")],
    *,
    sha256: Annotated[str | None, Arg("the SHA-256 that the zip must have, as its maker published it", "HEX")] = None,
    key: Annotated[Path | None, Arg("the public key that must have signed it, such as id_ed25519.pub", "KEY")] = None,
) -> int:
    """Returns 0 for a sound bundle and 1 for any other, with one sentence."""
    try:
        found = bundles.verify(bundle, key=key)
        if sha256 is not None and sha256.lower() != found.sha256:
            raise bundles.Unsound(f"the zip has SHA-256 {found.sha256}, not the one asked for")
    except bundles.Unsound as error:
        terminal.warn(f"{bundle}: not sound: {error}")
        return 1
    record, name = found.record, found.manifest.claim
    evidence = f"{len(record.findings)} findings and {sum(len(one.samples_ms) for one in record.measurements)} samples"
    terminal.say(f"{bundle}: sound: {len(found.manifest.files)} files as listed, sha256 {found.sha256}")
    terminal.say(f"signed with {found.signer}" if found.signer else "not signed")
    terminal.say(f"{name}: {record.verdict.name}, derived again from {evidence}")
    for file, why in found.not_derived.items():
        terminal.say(f"not derived here: {file} ({why})")
    before = record.verdict.first_judged
    if before not in (None, record.verdict.name):
        terminal.say(f"{name}: published as {before}, by the rules of its day")
    return 0
