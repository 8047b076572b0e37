"""`audit run` and `audit list`: one claim from its folder to the report, and the claims there are."""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib import import_module
from json import dumps
from pathlib import Path
from typing import Annotated

from audit import claims
from audit.apps.check import of_folder
from audit.apps.commands.declare import Arg, Device, flags
from audit.apps.commands.records import (
    USUAL,
    FailOn,
    Formats,
    Json,
    Language,
    Seed,
    form,
    say_what_shows_boxes,
    verdicts,
)
from audit.claims import ClaimFolder
from audit.model import Record, store
from audit.model.errors import BadInput
from audit.report import terminal
from audit.report.formats import FORMATS, Form
from audit.report.outcome import hints, next_step, tone
from audit.report.progress import Progress

FAILED = 3
"""The exit code where the verdict is one of those named by `--fail-on`."""


def run(  # noqa: PLR0913  # one argument an option
    claim: Annotated[str, Arg("a name that `audit list` shows, or the folder of a claim")],
    *,
    device: Device = "auto",
    out: Annotated[Path | None, Arg("folder for the results (default: out/CLAIM-DEVICE)", "DIR")] = None,
    seed: Seed = None,
    lang: Language = "en",
    formats: Formats = USUAL,
    fail_on: FailOn = "",
    json: Json = False,
) -> int:
    """Audit, print the verdict with its reasons, and return 0 whatever the verdict is, but for `fail_on`."""
    failing, wanted = verdicts(fail_on), form(lang, formats)
    record, place = of_folder(claim, device=device, out=out, seed=seed, form=wanted, progress=progress(json))
    return ended(record, place, wanted, folder=claims.load(claim), failing=failing, json=json)


def progress(json: bool) -> Progress:
    """Return where an audit prints what it does: beside the one line of JSON, if that is wanted."""
    return Progress(sys.stderr if json else None)


def ended(
    record: Record, place: Path, wanted: Form, *, folder: ClaimFolder, failing: Collection[str], json: bool
) -> int:
    """Print the verdict and where the report is; return the exit code."""
    verdict = record.verdict
    files = [str(place / FORMATS[name].file(wanted.language)) for name in wanted.names]
    name = record.claim.statement.name
    if json:
        about = {"claim": name, "verdict": verdict.model_dump(mode="json", exclude_none=True)}
        print(dumps({**about, "record": str(place / store.RECORD), "reports": files}))
    else:
        terminal.say("", f"{name}: {verdict.name}", mark=(verdict.name, tone(verdict.name)))
        for text in (*verdict.reasons, *verdict.missing, *filter(None, [verdict.root_cause])):
            terminal.say(f"  {folder.located(record.claim.statement.claimed, text)}")
        if step := next_step(record):
            terminal.say(f"  what would decide it: {step}")
        if found := hints(record):
            terminal.say(f"  hints: {', '.join(found)} (see the report)")
        for file in files:
            terminal.say(f"  report: {file}")
        say_what_shows_boxes(wanted)
    return FAILED if verdict.name in failing else 0


def completion(shell: Annotated[str, Arg("the shell that reads the lines", choices=("bash",))]) -> int:  # noqa: ARG001  # the one choice
    """Print a function for the shell that completes commands, their options, and names of claims."""
    from audit.apps.commands import COMMANDS

    lines = [
        "_audit() {",
        f'  local words="{" ".join(COMMANDS)}"',
        '  [ "$COMP_CWORD" -gt 1 ] && case ${COMP_WORDS[1]} in',
    ]
    for name, known in COMMANDS.items():
        module, _, function = known.place.partition(":")
        words = flags(getattr(import_module(f"audit.apps.{module}"), function))
        words += claims.names() if name in ("run", "batch") else []
        lines.append(f'    {name}) words="{" ".join(words)}" ;;')
    terminal.say(*lines, "  esac", '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))', "}")
    terminal.say("complete -o default -F _audit audit")
    return 0


def list_claims() -> int:
    """Print a line a claim. Raises BadInput where there is none."""
    known = claims.names()
    if not known:
        raise BadInput(f"no claims in {claims.KERNELS}: install the kit again, or run it in a checkout")
    width = max(map(len, known))
    for name in known:
        claim = claims.load(name).claim
        terminal.say(f"{name:<{width}} {len(claim.variant)} variants  {claim.title}")
    return 0
