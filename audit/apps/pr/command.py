"""The command: HEAD is audited as by `audit check`, BASE is asked and timed beside it; three files hold the result."""

from __future__ import annotations

import tempfile
from json import dumps
from pathlib import Path
from typing import Annotated

from audit.apps.check import of_folder
from audit.apps.commands.declare import Arg, Device
from audit.apps.commands.published import Sizes, Tolerance, sizes
from audit.apps.commands.records import Json, Seed, verdicts
from audit.apps.commands.run import FAILED, progress
from audit.apps.pr import claim, documents
from audit.apps.pr.documents import SLOWER, Against, against
from audit.claims.importers.facts import Given
from audit.model import Record
from audit.report import markdown, terminal
from audit.report.formats import DEFAULT, Form

COMMENT, SARIF, JUNIT, RESULTS = "comment.md", "findings.sarif", "junit.xml", "results"


def pr(  # noqa: PLR0913  # one argument an option
    base: Annotated[str, Arg("a kernel file, a folder, or a git revision", "BASE")],
    head: Annotated[str, Arg("the same after the change", "HEAD")],
    files: Annotated[tuple[Path, ...], Arg("the reference; of revisions the kernel before it", "FILE")] = (),
    *,
    tolerance: Tolerance = None,
    shape: Sizes = (),
    device: Device = "auto",
    out: Annotated[Path | None, Arg("folder for the claim and the results (default: out/pr)", "DIR")] = None,
    seed: Seed = None,
    fail_on: Annotated[str, Arg(f"verdicts and {SLOWER}, with commas, that end it with exit code 3", "LIST")] = "",
    json: Json = False,
) -> int:
    """Audit HEAD beside BASE, write the three files and print the result; return 0 whatever it is, but for `fail_on`.
    Raises BadInput: a side cannot be read, or the two cannot be compared; one sentence."""
    failing, place = verdicts(fail_on, SLOWER), out or Path("out/pr")
    given = Given(tolerance=tolerance, shape=sizes(shape))
    with tempfile.TemporaryDirectory(prefix="audit-pr-") as scratch:
        read = claim.of(base, head, files, Path(scratch))
        pair = claim.written(read, given, place)
    results = place / RESULTS
    record, _ = of_folder(
        str(pair.folder), device=device, out=results, seed=seed, form=Form(names=(*DEFAULT, "comment")),
        progress=progress(json),
    )  # fmt: skip
    versus = against(record)
    written = {
        COMMENT: commented(versus, (results / COMMENT).read_text(encoding="utf-8")),
        SARIF: documents.sarif(record, versus, file=pair.kernel, lines=pair.lines),
        JUNIT: documents.junit(record, versus),
    }
    for name, text in written.items():
        (place / name).write_text(text, encoding="utf-8")
    _say(record, versus, [place / name for name in written], json=json)
    return FAILED if failing & {record.verdict.name, versus.state} else 0


def commented(versus: Against, text: str) -> str:
    """Return the comment of an audit with HEAD against BASE below its title."""
    title, _, rest = text.partition("\n")
    return f"{title}\n\n**HEAD against BASE**: {markdown.escape(versus.sentence)}\n{rest}"


def _say(record: Record, versus: Against, files: list[Path], *, json: bool) -> None:
    verdict = record.verdict
    if json:
        about = {"claim": record.claim.statement.name, "verdict": verdict.model_dump(mode="json", exclude_none=True)}
        print(dumps({**about, "against_base": versus._asdict(), "files": list(map(str, files))}))
        return
    terminal.say("", f"HEAD: {verdict.name}", *(f"  {one}" for one in (*verdict.reasons, *verdict.missing)))
    terminal.say(f"HEAD against BASE: {versus.state}: {versus.sentence}", *(f"  wrote: {one}" for one in files))
