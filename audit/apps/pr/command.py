"""The command: HEAD is audited as by `audit check`, BASE is asked and timed beside it; three files hold the result.

One is a comment, two are for other programs, JUnit XML and SARIF 2.1.0. JUnit has one test case a probe, and one for
HEAD against BASE. SARIF has one rule a probe or source rule, and one result a failure, with file and line.
"""

from __future__ import annotations

import tempfile
from itertools import groupby
from json import dumps
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from audit import __version__
from audit.apps.check import of_folder
from audit.apps.commands.declare import Arg, Device
from audit.apps.commands.published import Sizes, Tolerance, sizes
from audit.apps.commands.records import Json, Seed, verdicts
from audit.apps.commands.run import FAILED, progress
from audit.apps.pr import claim
from audit.claims.importers.facts import Given
from audit.measure import compared
from audit.model import Finding, Record, Rung, sanitizer
from audit.report import evidence, markdown, terminal
from audit.report.evidence import against_claim
from audit.report.formats import DEFAULT, Form
from audit.report.messages import NOT_MEASURED

AGAINST = "against_base"
MARKS = ("failure", "error", "skipped")
ORDER = ("failure", "error", "", "skipped")
"""What a probe's test case shows where several of its findings differ: the first of these."""


def junit(record: Record, versus: Against) -> str:
    """Return the whole document."""
    name = record.claim.statement.name
    suite = Element("testsuite", name=f"audit pr {name}", timestamp=record.environment.started_utc)
    about = sorted(evidence.of_claim(record), key=lambda one: one.probe)
    for probe, group in groupby(about, lambda one: one.probe):
        found = sorted(group, key=lambda one: ORDER.index(_mark(record, one)))
        case = _case(suite, probe, _mark(record, found[0]), found[0].summary, kind=found[0].grade or "")
        case.set("time", f"{sum(one.seconds or 0.0 for one in found):.3f}")
    mark = {SLOWER: "failure", "not measured": "skipped", "inconclusive": "skipped"}.get(versus.state, "")
    _case(suite, AGAINST, mark, versus.sentence, kind=versus.state).set("time", "0.000")
    counts = {one: len(suite.findall(f"testcase/{one}")) for one in MARKS}
    suite.attrib |= {"tests": str(len(suite)), "failures": str(counts["failure"]), "errors": str(counts["error"]),
                     "skipped": str(counts["skipped"])}  # fmt: skip
    root = Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _mark(record: Record, finding: Finding) -> str:
    """Return the element of a test case: none for a pass, a hint, and a failure that does not speak against HEAD."""
    if finding.outcome == "fail":
        return "failure" if finding.grade != "hint" and against_claim(record, finding) else ""
    return {"error": "error", "skip": "skipped"}.get(finding.outcome, "")


def _case(suite: Element, name: str, mark: str, said: str, *, kind: str) -> Element:
    case = SubElement(suite, "testcase", classname=suite.get("name", ""), name=name)
    message = sanitizer.line(said)
    if mark:
        SubElement(case, mark, {"message": message, **({"type": kind} if mark == "failure" else {})})
    else:
        SubElement(case, "system-out").text = message
    return case


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ABOUT = "https://github.com/kernel-claim-audit/kernel-claim-audit"
RULE_SLOWER = "slower_than_base"


def sarif(record: Record, versus: Against, *, file: str, lines: bool) -> str:
    """Return the whole document.

    `file` is the kernel as the repository names it, and `lines` says whether lines of findings are lines of it; a
    finding without one stands at line 1.
    """
    failed = [one for one in evidence.of_claim(record) if one.outcome == "fail"]
    found = [(one.probe, _level(record, one), one.summary, one.line if lines else None) for one in failed]
    if versus.state == SLOWER:
        found.append((RULE_SLOWER, "error", versus.sentence, None))
    names = list(dict.fromkeys(probe for probe, *_ in found))
    results = [
        {
            "ruleId": probe,
            "ruleIndex": names.index(probe),
            "level": level,
            "message": {"text": sanitizer.line(said)},
            "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line or 1}}}
            ],
        }
        for probe, level, said, line in found
    ]
    driver = {"name": "kernel-claim-audit", "version": __version__, "informationUri": ABOUT,
              "rules": [{"id": name, "shortDescription": {"text": str(evidence.title(name)).replace("_", " ")}}
                        for name in names]}  # fmt: skip
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _level(record: Record, finding: Finding) -> str:
    """Return "error" for what fails the kernel, "warning" for a failure outside the claim and "note" for a hint."""
    if finding.grade == "hint":
        return "note"
    return "error" if against_claim(record, finding) else "warning"


SLOWER = "slower"
"""The state that `--fail-on` takes beside the verdicts: the whole interval is more than 2 % below one."""
State = Literal["faster", "slower", "same", "inconclusive", "not measured"]
STANDS = {"failed": "is wrong itself", "undefined": "has undefined behaviour itself"}


class Against(NamedTuple):
    """The state of HEAD against BASE, and one sentence."""

    state: State
    sentence: str


def against(record: Record) -> Against:
    """Return how the claimed kernel of a record stands against its base."""
    claimed = record.claim.statement.claimed
    found = compared(record.measurements, claimed.name, claim.BASE) if claimed else None
    if found is not None:
        means = {"faster": "HEAD is faster than BASE", "slower": "HEAD is slower than BASE",
                 "same": "no difference of 2 % or more"}.get(found.word)  # fmt: skip
        text = f"time of BASE over time of HEAD on {record.device.name}: {found.sentence()}"
        return Against(
            found.word, f"{text}: {means}." if means else f"{text}." if found.doubt else f"{text}: inconclusive."
        )
    return Against("not measured", f"{NOT_MEASURED}: {_why(record)}.")


def _why(record: Record) -> str:
    rungs = {one.role: one for one in record.ladder}
    base, head = rungs.get(claim.BASE), rungs.get("claimed")
    if base is not None and base.state != "passed":
        return _stands("BASE", base, record)
    if head is not None and head.state != "passed":
        return _stands("HEAD", head, record)
    return (
        f"{record.device.name} gives no times" if record.device.kind == "emulated" else "the timing session gave none"
    )


def _stands(side: str, rung: Rung, record: Record) -> str:
    refused = (one for one in record.environment.builds if one.variant == rung.variant)
    if any(one.outcome == "does not compile" for one in refused):
        return f"{side} does not build ({rung.reason.rstrip('.')})"
    stands = STANDS.get(rung.state, "did not pass")
    stands = stands.removesuffix(" itself") if side == "HEAD" else stands
    return f"{side} {stands} ({rung.reason.rstrip('.')})"


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
        SARIF: sarif(record, versus, file=pair.kernel, lines=pair.lines),
        JUNIT: junit(record, versus),
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
