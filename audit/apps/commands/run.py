"""`audit run` and `audit list`: one claim from its folder to the report, and the claims there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from audit import claims
from audit.apps.commands.declare import Arg, Device
from audit.apps.commands.records import USUAL, Formats, Language, form
from audit.audit import Audit
from audit.build.devices import beside, choose
from audit.model.errors import BadInput
from audit.report import terminal
from audit.report.formats import FORMATS
from audit.report.progress import Progress


def run(
    claim: Annotated[str, Arg("a name that `audit list` shows, or the folder of a claim")],
    *,
    device: Device = "auto",
    out: Annotated[Path | None, Arg("folder for the results (default: out/CLAIM-DEVICE)", "DIR")] = None,
    seed: Annotated[int | None, Arg("the seed a record names, to reproduce its findings", "N")] = None,
    lang: Language = "en",
    formats: Formats = USUAL,
) -> int:
    """Audits, prints the verdict with its reasons, and returns 0 whatever the verdict is."""
    wanted = form(lang, formats)
    folder = claims.load(claim)
    on = choose(device, folder.claim)
    out = out or Path("out") / f"{folder.claim.name}-{on.describe().kind}"
    with Audit(folder, on, out, beside=beside(on), entropy=seed, progress=Progress()) as audit:
        record = audit.run(wanted)
    terminal.say("", f"{folder.claim.name}: {record.verdict.name}")
    for text in (*record.verdict.reasons, *record.verdict.missing, *filter(None, [record.verdict.root_cause])):
        terminal.say(f"  {text}")
    for name in wanted.names:
        terminal.say(f"  report: {out / FORMATS[name].file(wanted.language)}")
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
