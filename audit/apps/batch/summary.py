"""All entries of a batch on one page: counts, a table in several orders, plots, links; also as Markdown, CSV, JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from audit.apps.batch import figures, states
from audit.apps.batch.classify import EXECUTED, LOG
from audit.apps.batch.states import MEANINGS, SEVERITY, Entry
from audit.model import atomic
from audit.report import html, markdown, safe_csv
from audit.report.templating import TEMPLATES
from audit.report.view import Table

NAME = "summary"
COLUMNS = ("Claim", "State", "Verdict", "Seconds", "Attempts", "Why")
NUMERIC = frozenset({3, 4})
ORDERS: dict[str, Callable[[Entry], Any]] = {
    "name": lambda entry: entry.name,
    "verdict": lambda entry: (entry.verdict or "~", entry.name),
    "state": lambda entry: (-SEVERITY.index(entry.state), entry.name),
    "seconds": lambda entry: (-entry.seconds, entry.name),
}
"""What the table can be sorted by. A page without scripts holds it once for each, and shows the one that is chosen."""


@dataclass(frozen=True)
class Link:
    """A link to a file beside the page."""

    text: str
    href: str


def write(entries: Sequence[Entry], folder: Path, *, about: dict[str, str]) -> list[Path]:
    """Writes `summary.html`, `.md`, `.csv` and `.json`; the same entries give the same bytes.

    Args:
        entries: of every claim of the batch.
        folder: of the batch; links are relative to it.
        about: what else to say of the batch, by name.
    """
    pictures = figures.draw(entries)
    texts = {
        "html": _html(entries, folder, about, pictures),
        "md": _markdown(entries, about),
        "csv": safe_csv.text(COLUMNS, [row(entry) for entry in sorted(entries, key=ORDERS["name"])]),
        "json": json.dumps(_data(entries, about), indent=1) + "\n",
    }
    paths = {folder / f"{NAME}.{ending}": text for ending, text in texts.items()}
    for path, text in paths.items():
        atomic.write(path, text.encode())
    return list(paths)


def counts(entries: Sequence[Entry]) -> list[tuple[str, str, int]]:
    """States and verdicts with their numbers, worst state last: (state, verdict, how many)."""
    found = Counter((entry.state, entry.verdict or "") for entry in entries)
    return [(state, verdict, found[state, verdict]) for state in SEVERITY for verdict in sorted(
        verdict for other, verdict in found if other == state)]  # fmt: skip


def row(entry: Entry) -> tuple[str, ...]:
    """The cells of `COLUMNS`."""
    seconds = f"{entry.seconds:.1f}" if entry.attempts else ""
    return entry.name, entry.state, entry.verdict or "", seconds, str(len(entry.attempts)), entry.reason


def _links(entry: Entry, folder: Path) -> list[Link]:
    """The report, the executed notebook, the evidence and the log, those that are there."""
    places = {
        "report": f"{entry.name}/report.html",
        "notebook": f"{entry.name}/{EXECUTED}",
        "evidence": f"{entry.name}.zip",
        "log": f"{entry.name}/{LOG}",
    }
    return [Link(text, quote(place)) for text, place in places.items() if (folder / place).exists()]


def _html(entries: Sequence[Entry], folder: Path, about: dict[str, str], pictures: Sequence[figures.Picture]) -> str:
    rows = {entry.name: (row(entry), _links(entry, folder)) for entry in entries}
    tables = {name: [rows[entry.name] for entry in sorted(entries, key=key)] for name, key in ORDERS.items()}
    environment = Environment(
        loader=FileSystemLoader([Path(__file__).with_name("templates"), TEMPLATES]),
        autoescape=True,
        finalize=html.value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["picture"] = html.picture
    return environment.get_template("summary.html.j2").render(
        title=_title(entries), about=about, counts=counts(entries), tables=tables, columns=COLUMNS, numeric=NUMERIC,
        pictures=pictures, meanings=_meanings(entries),
    )  # fmt: skip


def _markdown(entries: Sequence[Entry], about: dict[str, str]) -> str:
    table = Table("", COLUMNS, tuple(row(entry) for entry in sorted(entries, key=ORDERS["state"])), NUMERIC)
    tally = Table(
        "", ("State", "Verdict", "Claims"), tuple((s, v, str(n)) for s, v, n in counts(entries)), frozenset({2})
    )
    lines = [f"- {markdown.value(name)}: {markdown.value(text)}" for name, text in about.items()]
    meanings = [f"- {state}: {text}" for state, text in _meanings(entries).items()]
    parts = [
        f"# {_title(entries)}",
        "\n".join(lines),
        markdown.table(tally),
        markdown.table(table),
        "\n".join(meanings),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _data(entries: Sequence[Entry], about: dict[str, str]) -> dict[str, Any]:
    return {
        "schema": 1,
        "about": about,
        "exit_code": states.exit_code([entry.state for entry in entries]),
        "counts": [{"state": state, "verdict": verdict or None, "claims": n} for state, verdict, n in counts(entries)],
        "claims": [entry.model_dump(mode="json", by_alias=True) for entry in entries],
    }


def _title(entries: Sequence[Entry]) -> str:
    finished = sum(entry.state == "finished" for entry in entries)
    return f"Batch of {len(entries)} audits, {finished} finished"


def _meanings(entries: Sequence[Entry]) -> dict[str, str]:
    """What each state on the page means."""
    there = {entry.state for entry in entries}
    return {state: MEANINGS[state] for state in SEVERITY if state in there}
