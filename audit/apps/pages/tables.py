"""Made parts of pages: the first audit, published audits, importers, states of a batch, rules of source review.

Of notebooks they are badges, the table of `docs/notebooks.md`, their forms and their last runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from audit import claims, judge
from audit.apps.batch.state import EXIT_CODES, MEANINGS, SEVERITY
from audit.apps.notebook import maps
from audit.apps.pages.described import TEXTS
from audit.apps.pages.site import EXECUTED
from audit.claims.importers import IMPORTERS
from audit.model import Record, sanitizer, store
from audit.report import compare, evidence, markdown, outcome, provenance, tables, times
from audit.report.markdown import made
from audit.report.messages import Recorded, ratio
from audit.report.translation import worded
from audit.report.view import Code, Table
from audit.review import rules
from audit.review.rule import Rule

COLUMNS = ("Claim", "What was claimed", "Published ratio", "Verdict", "Root cause", "Reports")
CAUSE_CHARACTERS = 200
WHERE = re.compile(r"^(\w+: )?(\w+=\d+(, )?)+: ")
"""The probe and the shape that a reason begins with."""


def audits(root: Path) -> str:
    """One row a claim with a record below `root`, for a page of `docs/`."""
    records = {path.parent: judge.opened(path) for path in sorted(root.glob("*/*/record.json"))}
    claims = dict.fromkeys(record.claim.statement.name for record in records.values())
    rows = []
    for name in claims:  # the verdict of its GPU record where there is one, and a link to every report
        own = {path: record for path, record in records.items() if record.claim.statement.name == name}
        record = sorted(own.values(), key=lambda record: record.device.kind == "cuda")[-1]
        places = {path.name: f"../{root.name}/{path.relative_to(root).as_posix()}/report.md" for path in own}
        links = markdown.Safe(", ".join(f"[{device}]({place})" for device, place in places.items()))
        title, verdict = record.claim.statement.title, record.verdict.name
        rows.append((Code(name), title, ratios_claimed(record), verdict, cause(record), links))
    return f"{markdown.table(Table('', COLUMNS, tuple(rows)))}\n"


def compared(root: Path, *devices: str) -> str:
    """What `audit compare` prints of the records of a claim on those devices, below the command itself."""
    paths = [root / device / "record.json" for device in devices]
    command = " ".join(["audit compare", *(path.relative_to(root.parents[1]).as_posix() for path in paths)])
    return f"`{command}` prints:\n\n{compare.compare([judge.opened(path) for path in paths])}"


def ratios_claimed(record: Record) -> str:
    """The published ratios, from the least to the most."""
    stated = sorted(record.claim.statement.speedup, key=lambda one: one.ratio)
    ends = dict.fromkeys(ratio(one.ratio, about=one.about) for one in (*stated[:1], *stated[-1:]))
    return " to ".join(ends) or "no ratio named"


def cause(record: Record) -> str:
    """The one change that cures it, else the first reason of the verdict, else what is missing; one short line, of a
    long text its first sentence."""
    verdict = record.verdict
    last = verdict.reasons[::-1] if verdict.name == "weak baseline" else verdict.reasons
    found: Sequence[str] = (*filter(None, [verdict.root_cause]), *verdict.missing, *last)
    text = worded(Recorded(WHERE.sub("", found[0])), "en")
    first, stop, _ = text.partition(". ")
    return sanitizer.line(f"{first}." if stop and len(text) > CAUSE_CHARACTERS else text, limit=CAUSE_CHARACTERS)


def formats() -> str:
    """A row a format: what it takes, and what even a complete source does not tell."""
    rows = ((f"`{name}`", one.TAKES, ", ".join(f"`{key}`" for key in one.LACKS)) for name, one in IMPORTERS.items())
    return made(("--format", "takes", "always missing"), rows)


def states() -> str:
    """Markdown, from best to worst."""
    rows = ((state, str(EXIT_CODES[state]), MEANINGS[state]) for state in SEVERITY)
    return made(("state", "exit code", "meaning"), rows, 1)


def review_rules() -> str:
    """The whole page."""
    return "\n".join([TEXTS["review_rules"], _rules("CUDA C++", rules.CUDA), _rules("Python", rules.PYTHON)])


def _rules(title: str, listed: Iterable[Rule[Any]]) -> str:
    rows = ((f"`{one.name}`", one.question, one.silent_on, one.standing, f"`{one.confirm_with}`") for one in listed)
    text = made(("rule", "asks", "keeps quiet", "standing", "probe"), rows)
    return f"## {title}\n\n" + text.replace("||", "\\|\\|")


def first_audit(folder: Path) -> str:
    """Return the steps of the audit in that folder of `reports/`, for a page of `docs/`."""
    record = judge.opened(folder / store.RECORD)
    where = f"../reports/{folder.parent.name}/{folder.name}"
    return "\n".join(_lines(record, where)) + "\n"


def _lines(record: Record, where: str) -> Iterator[str]:
    verdict = record.verdict
    yield from ("## 1. The claim", "", markdown.escape(tables.lead(record)), "")
    yield from ("## 2. Its numbers against the hardware", "", *_bullets(record, "floor"))
    yield from ("## 3. Its source", "", *_bullets(record, "launch_geometry"))
    yield from ("## 4. Its result", "", *(f"- {markdown.escape(one)}" for one in outcome.pieces(record)), "")
    yield from (f"![Which elements are written]({where}/figures/coverage.png)", "")
    yield from ("## 5. The cause", "", markdown.escape(verdict.root_cause or ""), "")
    speed = times.honest(record)
    yield from ("## 6. The honest speed", "", markdown.escape(speed[:1].upper() + speed[1:]), "")
    yield from (f"![From the published ratio to the defensible one]({where}/figures/waterfall.png)", "")
    yield from ("## 7. The review", "", f"- Verdict: [{verdict.name}](verdicts.md#{verdict.name.replace(' ', '-')})")
    yield f"- Support for the claim: {markdown.escape(outcome.support(record))}"
    yield from (f"- The whole review: [report.md]({where}/report.md), from [record.json]({where}/record.json)", "")
    yield from ("## 8. The same again", "", *(f"    {one}" for one in provenance.reproduce(record).commands), "")


def _bullets(record: Record, probe: str) -> list[str]:
    found = [one for one in evidence.of_claim(record) if (one.probe, one.outcome) == (probe, "fail")]
    return [*(f"- {f'Line {one.line}: ' if one.line else ''}{markdown.escape(one.summary)}" for one in found), ""]


COLAB = "https://colab.research.google.com"
PLACE = "kernel-claim-audit/kernel-claim-audit/blob/main/notebooks"
BEGIN = "Last run, all of it from cold: "
RESULTS = Path("bench/results/notebooks.json")
AUDITS = {
    "audit_claim": "a published claim",
    "your_kernel": "a kernel and a reference of yours, from two cells or two files",
    "batch": "a collection of claims",
}
"""Notebooks for which the GPU matters, and what each audits."""
LINE = re.compile(rf'("{re.escape(BEGIN)})[^"\\]*')


def badges() -> str:
    """The notebooks that audit something, one line each."""
    return "".join(f"- {badge(name)} [{name}](notebooks/{name}.ipynb): {what}; [as it ran]({EXECUTED}/{name}.ipynb)\n"
                   for name, what in AUDITS.items())  # fmt: skip


def table(notebooks: Iterable[Path]) -> str:
    """One row a notebook: its badge, its name, what its first line says that it does."""
    rows = ((badge(one.stem), f"[{one.stem}](../notebooks/{one.name})", purpose(one),
             f"[{one.stem}, as it ran](../{EXECUTED}/{one.name})") for one in notebooks)  # fmt: skip
    return made(("Open", "Notebook", "What it does", "Its outputs"), rows)


def badge(name: str) -> str:
    """The badge that opens a notebook in Colab."""
    return f"[![Open {name} in Colab]({COLAB}/assets/colab-badge.svg)]({COLAB}/github/{PLACE}/{name}.ipynb)"


def purpose(path: Path) -> str:
    """The purpose of a notebook in its first line, without how to start it."""
    cell = json.loads(path.read_text(encoding="utf-8"))["cells"][1]
    line = "".join(cell["source"]).splitlines()[0]
    return re.sub(r"^\*\*Runtime → Run all\*\* \([^)]*\)\. ", "", line)


def with_choices(text: str) -> str:
    """A notebook's text with every claim that has a claimed kernel, and every published record, in its form."""
    text = _with(text, "claim", [name for name in claims.names() if claims.load(name).claim.claimed is not None])
    return _with(text, "audit", list(maps.records(claims.ROOT / "reports")))


def _with(text: str, parameter: str, names: list[str]) -> str:
    listed = json.dumps(names)[1:-1].replace('"', '\\"')
    return re.sub(rf'("{parameter} = \S.*?  # @param )\[.*?\]', lambda found: f"{found[1]}[{listed}]", text)


def runs(root: Path) -> list[dict[str, Any]]:
    """Every run in `bench/results/notebooks.json`."""
    return list(json.loads((root / RESULTS).read_text(encoding="utf-8"))["runs"])


def with_runs(text: str, *, name: str, runs: Iterable[dict[str, Any]]) -> str:
    """The notebook's text with its line as the runs say it."""
    return LINE.sub(lambda found: found[1] + line(name, runs), text)


def line(name: str, runs: Iterable[dict[str, Any]]) -> str:
    """The runs of a notebook, and the machines without one."""
    own = [one for one in runs if one["notebook"] == name]
    done = []
    for one in own:
        place = f"{one['where']} in Colab, {one['runtime']}" if one["runtime"] else one["where"]
        done.append(f"{one['seconds']:.0f} s on {place} ({one['date']})")
    lacking = [] if name not in AUDITS or any("T4" in one["where"] for one in own) else ["on a T4"]
    lacking += [] if any(one["runtime"] for one in own) else ["in Colab"]
    missing = [f"{' and '.join(lacking)}: NOT MEASURED"] if lacking else []
    return "; ".join([*done, *missing]) + "."
