"""The pages of a run: counts by state and verdict, its stages, every item in several orders; made of states alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from audit.apps.batch import state
from audit.apps.batch.state import EXECUTED, LOG, MEANINGS, SEVERITY, STAGES, ItemState, RunState, StageName, State
from audit.model import atomic, sanitizer
from audit.report import html, markdown, safe_csv
from audit.report.view import Report, Section, Table

NAME = "summary"
COLUMNS = ("Id", "Collection", "Stage", "State", "Verdict", "Hints", "Seconds", "Attempts", "Why")
NUMERIC = frozenset({5, 6, 7})
COUNTED = ("Collection", "Stage", "State", "Verdict", "Items")
MOST_SHOWN = 1000
"""Items on a page; the CSV and the JSON have all."""
LEAST_SECONDS = 1.0
"""The least time that a rate is given for."""
ORDERS: dict[str, Callable[[ItemState], Any]] = {
    "name": lambda item: item.item,
    "verdict": lambda item: (item.verdict or "~", item.item),
    "state": lambda item: (-SEVERITY.index(item.state), item.item),
    "seconds": lambda item: (-item.seconds, item.item),
}
"""Orders of the items. A page without scripts holds them once for each, and shows the one that is chosen."""


@dataclass(frozen=True)
class StageCount:
    """One stage: the items it was asked about by how it left them; items and wall-clock seconds of the runs that ended.

    A run that was killed left its items and not its time.
    """

    stage: StageName
    left: Counter[State]
    timed: int
    seconds: float

    @property
    def title(self) -> str:
        """Its name for people."""
        return STAGES[self.stage][0]

    @property
    def came(self) -> int:
        """Items it was asked about."""
        return self.left.total()

    @property
    def an_hour(self) -> float | None:
        """Items an hour; None where too little time passed to say."""
        return 3600 * self.timed / self.seconds if self.seconds >= LEAST_SECONDS else None


def write(run: RunState, items: Sequence[ItemState], folder: Path, *, about: dict[str, str]) -> list[Path]:
    """Writes `summary.html`, `.md`, `.csv` and `.json`; the same states give the same bytes.

    `about` holds facts about the whole run, by name. Raises OSError: the folder cannot be written.
    """
    counted = by_stage(run, items)
    report = build(run, items, counted, about)
    rows = [row(run, item) for item in sorted(items, key=ORDERS["name"])]
    files = {
        f"{NAME}.html": _html(report, run, items, folder).encode(),
        f"{NAME}.md": markdown.render(report).encode(),
        f"{NAME}.csv": safe_csv.text(COLUMNS, rows).encode(),
        f"{NAME}.json": (json.dumps(_data(run, items, counted, about), indent=1) + "\n").encode(),
    }
    for name, data in files.items():
        atomic.write(folder / name, data)
    return [folder / name for name in files]


def text(run: RunState, items: Sequence[ItemState]) -> str:
    """The counts for a terminal."""
    lines = [f"{sanitizer.line(run.collection)}: {_lead(items)}"]
    for one in by_stage(run, items):
        rate = f", {one.an_hour:,.0f} an hour" if one.an_hour else ""
        left = "".join(f"{number:,} {outcome}, " for outcome, number in one.left.items())
        lines.append(f"  {one.title:<16} {one.came:>6,} in, {left}{one.seconds:.1f} s{rate}")
    for stage, one_state, verdict, number in counts(items):
        lines.append(f"  {number:>6,} {one_state}{': ' + verdict if verdict else ''}{' at ' + stage if stage else ''}")
    return "\n".join(map(sanitizer.row, lines))


def build(run: RunState, items: Sequence[ItemState], counted: Sequence[StageCount], about: dict[str, str]) -> Report:
    """The whole page in Markdown; in HTML its last table is there in every order."""
    rows = tuple((run.collection, *cells, f"{number:,}") for *cells, number in counts(items))
    there = {item.state for item in items}
    shown = tuple(row(run, item) for item in sorted(items, key=ORDERS["state"])[:MOST_SHOWN])
    more = f" Shown are {MOST_SHOWN:,}; {NAME}.csv has all." if len(items) > MOST_SHOWN else ""
    return Report(
        title=f"{run.collection}: {len(items):,} items",
        lead=_lead(items),
        notice=None,
        footer=f"Made from the states of the items alone; the seed of the run is {run.seed}.",
        sections=(
            Section("Verdicts and states", "counts", facts=tuple(about.items()),
                    bullets=tuple(f"{one}: {meaning}" for one, meaning in MEANINGS.items() if one in there),
                    tables=(Table("Items by state and verdict", COUNTED, rows, frozenset({4})),) if rows else ()),
            Section("Stages", "stages", facts=tuple(STAGES[one.stage] for one in counted),
                    bullets=(*run.notes, *_machines(run)), tables=(_stages(counted),)),
            Section("Items", "items", paragraphs=(f"{len(items):,} items.{more}",),
                    tables=(Table("Items, worst state first", COLUMNS, shown, NUMERIC),) if shown else ()),
        ),
    )  # fmt: skip


def by_stage(run: RunState, items: Sequence[ItemState]) -> list[StageCount]:
    """Every stage that an item came to, in their order."""
    found = []
    for stage in STAGES:
        runs = [one for one in run.runs if one.stage == stage]
        asked = ([one for one in item.attempts if one.stage == stage] for item in items)
        last: list[State] = [attempts[-1].outcome for attempts in asked if attempts]
        left: Counter[State] = Counter({one: last.count(one) for one in SEVERITY if one in last})
        if last:
            found.append(StageCount(stage, left, sum(one.items for one in runs), sum(one.seconds for one in runs)))
    return found


def counts(items: Sequence[ItemState]) -> list[tuple[str, str, str, int]]:
    """Stage, state, verdict and their number of items, the worst state last."""
    found = Counter((item.last.stage if item.last else "", item.state, item.verdict) for item in items)
    return [(*key, found[key]) for key in sorted(found, key=lambda key: (SEVERITY.index(key[1]), key))]


def row(run: RunState, item: ItemState) -> tuple[str, ...]:
    """The cells of `COLUMNS`."""
    stage, reason = (item.last.stage, item.last.reason) if item.last else ("", "not started")
    seconds = f"{item.seconds:.1f}" if item.last else ""
    known = (item.item, run.collection, stage, item.state, item.verdict)
    return *known, str(item.hints), seconds, str(len(item.attempts)), reason


def _lead(items: Sequence[ItemState]) -> str:
    found = Counter(item.state for item in items)
    parts = [f"{found[one]:,} {one}" for one in SEVERITY if one in found]
    return f"{len(items):,} items: {', '.join(parts) or 'none'}."


def _machines(run: RunState) -> tuple[str, ...]:
    machines: dict[str, list[str]] = {}
    for one in run.runs:
        machines.setdefault(one.machine, []).append(one.stage)
    return tuple(f"Measured on {one}: {', '.join(dict.fromkeys(stages))}." for one, stages in machines.items() if one)


def _stages(counted: Sequence[StageCount]) -> Table:
    ways = [one for one in SEVERITY if any(one in stage.left for stage in counted)]
    rows = []
    for one in counted:
        numbers = (one.came, *(one.left[way] for way in ways))
        rate = f"{one.an_hour:,.0f}" if one.an_hour else ""
        rows.append((one.title, *(f"{number:,}" for number in numbers), f"{one.seconds:,.1f} s", rate))
    columns = ("Stage", "Came in", *map(str.capitalize, ways), "Wall clock", "Items an hour")
    title = "Items by stage; an item that a stage has no answer to goes on to the next one"
    return Table(title, columns, tuple(rows), frozenset(range(1, len(columns))))


def _links(item: ItemState, folder: Path) -> list[tuple[str, str]]:
    """Texts and addresses of the report, the executed notebook, the evidence and the log, those that are there."""
    name = item.item
    own = {"report": f"{name}/report.html", "notebook": f"{name}/{EXECUTED}", "evidence": f"{name}.zip"}
    places = {**own, "log": f"{name}/{LOG}", "record": f"records/{name}"}
    return [(text, quote(place)) for text, place in places.items() if (folder / place).exists()]


def _html(report: Report, run: RunState, items: Sequence[ItemState], folder: Path) -> str:
    orders = {
        name: [(row(run, item), _links(item, folder)) for item in sorted(items, key=key)[:MOST_SHOWN]]
        for name, key in ORDERS.items()
    }
    *others, last = report.sections
    page = replace(report, sections=(*others, replace(last, tables=())))
    return html.render(page, template=f"{NAME}.html.j2", orders=orders, columns=COLUMNS, numeric=NUMERIC)


def _data(
    run: RunState, items: Sequence[ItemState], counted: Sequence[StageCount], about: dict[str, str]
) -> dict[str, Any]:
    keys = ("stage", "state", "verdict", "items")
    return {
        "schema": state.SCHEMA,
        "collection": run.collection,
        "seed": run.seed,
        "about": about,
        "exit_code": state.exit_code([item.state for item in items]),
        "counts": [dict(zip(keys, one, strict=True)) for one in counts(items)],
        "stages": [{"stage": one.stage, "came": one.came, **one.left, "seconds": one.seconds} for one in counted],
        "items": [
            {"id": item.item, "collection": run.collection, "state": item.state, "verdict": item.verdict,
             **item.model_dump(mode="json", by_alias=True, exclude={"item"})}
            for item in items
        ],
    }  # fmt: skip
