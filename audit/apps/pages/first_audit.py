"""The first page of the site: one audit from its claim to its review, every number read from its record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from audit import judge
from audit.model import Finding, Record, store
from audit.report import claimed, evidence, markdown, outcome, provenance, times


def part(folder: Path) -> str:
    """Return the steps of the audit in that folder of `reports/`, for a page of `docs/`."""
    record = judge.opened(folder / store.RECORD)
    where = f"../reports/{folder.parent.name}/{folder.name}"
    return "\n".join(_lines(record, where)) + "\n"


def _lines(record: Record, where: str) -> Iterator[str]:
    verdict = record.verdict
    yield from ("## 1. The claim", "", markdown.escape(claimed.lead(record)), "")
    yield from ("## 2. Its numbers against the hardware", "", *_bullets(record, "floor"))
    yield from ("## 3. Its source", "", *_bullets(record, "launch_geometry"))
    yield from ("## 4. Its result", "", *(f"- {markdown.escape(one)}" for one in outcome.pieces(record)), "")
    yield from (f"![Which elements are written]({where}/figures/coverage.png)", "")
    yield from ("## 5. The cause", "", markdown.escape(verdict.root_cause or ""), "")
    yield from ("## 6. The honest speed", "", markdown.escape(times.honest(record)), "")
    yield from (f"![From the published ratio to the defensible one]({where}/figures/waterfall.png)", "")
    yield from ("## 7. The review", "", f"- Verdict: [{verdict.name}](verdicts.md#{verdict.name.replace(' ', '-')})")
    yield f"- Support for the claim: {markdown.escape(outcome.support(record))}"
    yield from (f"- The whole review: [report.md]({where}/report.md), from [record.json]({where}/record.json)", "")
    yield from ("## 8. The same again", "", *(f"    {one}" for one in provenance.reproduce(record).commands), "")


def _bullets(record: Record, probe: str) -> list[str]:
    found = [one for one in evidence.of_claim(record) if (one.probe, one.outcome) == (probe, "fail")]
    return [*(f"- {_placed(one)}{markdown.escape(one.summary)}" for one in found), ""]


def _placed(finding: Finding) -> str:
    return f"Line {finding.line}: " if finding.line else ""
