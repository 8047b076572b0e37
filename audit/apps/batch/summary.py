"""All entries of a batch on one page: counts, a table in several orders, plots, links; also as Markdown, CSV, JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from audit.apps.batch import state
from audit.apps.batch.classify import EXECUTED, LOG
from audit.apps.batch.state import MEANINGS, SEVERITY, ItemState
from audit.model import atomic
from audit.report import html, markdown, safe_csv
from audit.report.templating import TEMPLATES
from audit.report.view import Figure, Table

NAME = "summary"
COLUMNS = ("Claim", "State", "Verdict", "Seconds", "Attempts", "Why")
NUMERIC = frozenset({3, 4})
ORDERS: dict[str, Callable[[ItemState], Any]] = {
    "name": lambda item: item.item,
    "verdict": lambda item: (item.verdict or "~", item.item),
    "state": lambda item: (-SEVERITY.index(item.state), item.item),
    "seconds": lambda item: (-_seconds(item), item.item),
}
"""Orders of the table. A page without scripts holds it once for each, and shows the one that is chosen."""


class Link(NamedTuple):
    """A link to a file beside the page."""

    text: str
    href: str


def write(items: Sequence[ItemState], folder: Path, *, about: dict[str, str]) -> list[Path]:
    """Writes `summary.html`, `.md`, `.csv` and `.json`; the same states give the same bytes.

    Args:
        items: the states of all claims of the batch.
        folder: of the batch; links are relative to it.
        about: facts about the whole batch, by name.
    """
    from audit.apps.batch import figures  # matplotlib takes half a second that a refused batch need not wait

    pictures = figures.of_batch(items)
    texts = {
        "html": _html(items, folder, about, pictures),
        "md": _markdown(items, about),
        "csv": safe_csv.text(COLUMNS, [row(item) for item in sorted(items, key=ORDERS["name"])]),
        "json": json.dumps(_data(items, about), indent=1) + "\n",
    }
    paths = {folder / f"{NAME}.{ending}": text for ending, text in texts.items()}
    for path, text in paths.items():
        atomic.write(path, text.encode())
    return list(paths)


def read(folder: Path) -> list[ItemState]:
    """The states on the pages in that folder."""
    data = json.loads((folder / f"{NAME}.json").read_text(encoding="utf-8"))
    kept = [{key: one[key] for key in ("schema", "sha256", "parameters", "attempts")} for one in data["claims"]]
    names = [one["name"] for one in data["claims"]]
    return [
        ItemState.model_validate_json(json.dumps({"item": name, **one})) for name, one in zip(names, kept, strict=True)
    ]


def counts(items: Sequence[ItemState]) -> list[tuple[str, str, int]]:
    """States and verdicts with their numbers, worst state last: (state, verdict, how many)."""
    found = Counter((item.state, item.verdict) for item in items)
    return [(state, verdict, found[state, verdict]) for state in SEVERITY for verdict in sorted(
        verdict for other, verdict in found if other == state)]  # fmt: skip


def row(item: ItemState) -> tuple[str, ...]:
    """The cells of `COLUMNS`."""
    seconds = f"{_seconds(item):.1f}" if item.tried else ""
    reason = item.last.reason if item.last else "not started"
    return item.item, item.state, item.verdict, seconds, str(len(item.tried)), reason


def _seconds(item: ItemState) -> float:
    return item.tried[-1].seconds if item.tried else 0.0


def _links(item: ItemState, folder: Path) -> list[Link]:
    """The report, the executed notebook, the evidence and the log, those that are there."""
    places = {
        "report": f"{item.item}/report.html",
        "notebook": f"{item.item}/{EXECUTED}",
        "evidence": f"{item.item}.zip",
        "log": f"{item.item}/{LOG}",
    }
    return [Link(text, quote(place)) for text, place in places.items() if (folder / place).exists()]


def _html(items: Sequence[ItemState], folder: Path, about: dict[str, str], pictures: Sequence[Figure]) -> str:
    rows = {item.item: (row(item), _links(item, folder)) for item in items}
    tables = {name: [rows[item.item] for item in sorted(items, key=key)] for name, key in ORDERS.items()}
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
        title=_title(items), about=about, counts=counts(items), tables=tables, columns=COLUMNS, numeric=NUMERIC,
        pictures=pictures, meanings=_meanings(items),
    )  # fmt: skip


def _markdown(items: Sequence[ItemState], about: dict[str, str]) -> str:
    table = Table("", COLUMNS, tuple(row(item) for item in sorted(items, key=ORDERS["state"])), NUMERIC)
    rows = tuple((one, verdict, str(number)) for one, verdict, number in counts(items))
    parts = (
        f"# {_title(items)}",
        "\n".join(f"- {markdown.value(name)}: {markdown.value(text)}" for name, text in about.items()),
        markdown.table(Table("", ("State", "Verdict", "Claims"), rows, frozenset({2}))),
        markdown.table(table),
        "\n".join(f"- {one}: {text}" for one, text in _meanings(items).items()),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _data(items: Sequence[ItemState], about: dict[str, str]) -> dict[str, Any]:
    return {
        "schema": state.SCHEMA,
        "about": about,
        "exit_code": state.exit_code([item.state for item in items]),
        "counts": [{"state": one, "verdict": verdict or None, "claims": n} for one, verdict, n in counts(items)],
        "claims": [_claim(item) for item in items],
    }


def _claim(item: ItemState) -> dict[str, Any]:
    name, _, verdict, *_, reason = row(item)
    shown = {"name": name, "state": item.state, "verdict": verdict or None, "reason": reason}
    return {**shown, **item.model_dump(mode="json", by_alias=True, exclude={"item"})}


def _title(items: Sequence[ItemState]) -> str:
    finished = sum(item.state == "finished" for item in items)
    return f"Batch of {len(items)} audits, {finished} finished"


def _meanings(items: Sequence[ItemState]) -> dict[str, str]:
    """The meaning of each state on the page."""
    there = {item.state for item in items}
    return {one: text for one, text in MEANINGS.items() if one in there}
