"""The form of a notebook, whose fields are also its papermill parameters and are checked strictly; outputs of a cell.

Outputs are Markdown, tables, pictures with a text for readers without images, files to download, and a bar. Files come
in the other way too: those that a person uploads, and one that an address names.
"""

from __future__ import annotations

import ast
import base64
import re
import shutil
import sys
import urllib.request
from collections.abc import Iterable, Sequence
from contextlib import suppress
from http.client import HTTPException
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Self
from urllib.parse import quote, unquote, urlsplit

from pydantic import Field, ValidationError

from audit.model.atomic import writing
from audit.model.base import Frozen
from audit.model.errors import BadInput
from audit.report import markdown, safe_csv, terminal
from audit.report.progress import Progress
from audit.report.view import Figure, Table

LEAST_ROUNDS, MOST_ROUNDS = 12, 120
QUOTE = ": in a parameters file quote it, for unquoted 2.10 is read as 2.1 and 12e4567 may be a number"
INJECTED = "# Parameters"
"""First line of the cell that papermill puts behind the form."""


class Form(Frozen):
    """The fields of one notebook."""

    @classmethod
    def read(cls, **fields: Any) -> Self:
        """The form, once every field is known and of its type. Raises BadInput: the first field that is not, in one
        sentence."""
        for name in injected(_cells()):
            if name not in cls.model_fields:
                raise BadInput(f"parameter {name}: unknown; known: {', '.join(cls.model_fields)}")
        try:
            return cls(**fields)
        except ValidationError as error:
            first = error.errors()[0]
            text = f"parameter {first['loc'][0]}: {first['msg']}; it is {first['input']!r}"
            number = first["type"] == "string_type" and isinstance(first["input"], int | float)
            raise BadInput(f"{text}{QUOTE if number else ''}") from error


class WritingForm(Form):
    """The fields of a notebook that writes files.

    An empty `out` means a folder under `out/`; an empty `copy_to` means no copy; without `interactive` nothing is
    offered for download and nothing is asked for.
    """

    out: str = ""
    copy_to: str = ""
    interactive: bool = True


class AuditForm(WritingForm):
    """The fields of a notebook that runs audits; with `network_off` these, and the notebook of one, have no network."""

    device: Literal["auto", "cuda", "emulated"] = "auto"
    language: Literal["en", "ja"] = "en"
    network_off: bool = False


class OneAuditForm(AuditForm):
    """The fields of a notebook that runs one audit.

    `rounds` is the least number of rounds a timing session takes, in each of which every callable is timed in a new
    order; a `seed` of 0 draws one. `NOTEBOOK` is the notebook whose form it is.
    """

    NOTEBOOK: ClassVar[str]
    rounds: int = Field(default=LEAST_ROUNDS, ge=LEAST_ROUNDS, le=MOST_ROUNDS)
    seed: int = Field(default=0, ge=0)


def folder(form: WritingForm, name: str) -> Path:
    """The folder of the results; `name` is used where the form leaves it open."""
    return Path(form.out or f"out/{name}")


def injected(cells: Sequence[str]) -> list[str]:
    """The names that papermill set, from the cells a kernel has run: papermill takes unknown ones and only warns."""
    return [
        target.id
        for cell in cells
        if cell.startswith(INJECTED)
        for statement in ast.parse(cell).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    ]


def _cells() -> Sequence[str]:
    """The cells this kernel has run; none outside a notebook, where nothing has imported IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return () if shell is None else list(shell.user_ns.get("In", ()))


MOST_ROWS = 20
"""Rows of a table on the screen; its CSV file has all."""


class Markdown(str):
    """Text that a notebook renders as Markdown and a terminal prints."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def table(
    columns: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, numeric: Iterable[int] = (), file: Path | None = None
) -> Markdown:
    """A table whose cells are shown whole and as they are; a note where it has no rows.

    `numeric` holds the places of the columns of numbers. All rows are written as CSV to `file`, which is linked; with
    it at most `MOST_ROWS` are shown. Raises BadInput: the file cannot be written."""
    known = tuple(rows)
    if not known:
        return Markdown("None.")
    shown = known if file is None else known[:MOST_ROWS]
    drawn = markdown.table(Table("", columns, shown, frozenset(numeric)))
    return written(drawn if file is None else f"{drawn}\n\n{_linked(file, columns, known)}")


def written(text: str) -> Markdown:
    """Markdown of a report for a cell, where a dollar would begin a formula even when it is escaped."""
    return Markdown(text.replace(r"\$", "<code>$</code>"))


def _linked(file: Path, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    """Writes the CSV file; says where it is and how many rows it has, as a link that holds beside the notebook."""
    with writing(file, "make room, or name another folder"):
        file.write_text(safe_csv.text(columns, rows), encoding="utf-8")
    count = "1 row" if len(rows) == 1 else f"all {len(rows)} rows"
    return f"[{count} as CSV](<{quote(file.as_posix())}>): {markdown.code(str(file))}"


class Picture:
    """A figure of a report as a cell's output; readers without images get its text."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure

    def __repr__(self) -> str:
        return self._figure.alt

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        """The image and its text; nbconvert takes `alt` from the metadata."""
        data = {"image/png": base64.b64encode(self._figure.png).decode("ascii"), "text/plain": self._figure.alt}
        return data, {"image/png": {"alt": self._figure.alt}}


WEB = re.compile(r"https?://")
GITHUB = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/(.+)")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.(cu|cuh|py)")
MOST_BYTES = 1 << 20
PATIENCE_S = 30.0


def offer(file: Path, form: WritingForm) -> None:
    """Prints where the file lies; copies it to `copy_to`; downloads it in Colab if a person is watching. Raises
    BadInput: it cannot be copied there."""
    terminal.say(f"everything in one file: {file} ({file.stat().st_size:,} bytes)")
    if form.copy_to:
        try:
            terminal.say(f"copied to {shutil.copy(file, form.copy_to)}")
        except OSError as error:
            raise BadInput(
                f"parameter copy_to: {form.copy_to}: cannot be written ({error.strerror or error})"
            ) from error
    if form.interactive and "google.colab" in sys.modules:
        from google.colab import files

        files.download(str(file))


def offer_folder(folder: Path, form: WritingForm) -> None:
    """The folder as one zip beside it, offered. Raises BadInput: it cannot be written, or not be copied."""
    target = Path(f"{folder}.zip")
    try:
        shutil.make_archive(str(folder), "zip", folder)
    except OSError as error:
        with suppress(OSError):
            target.unlink()
        raise BadInput(f"{target}: cannot be written ({error.strerror or error}); make room") from error
    offer(target, form)


def uploaded(form: WritingForm) -> list[Path]:
    """Files a person picks in the browser. Raises BadInput: no browser is attached that could be asked."""
    if not form.interactive or "google.colab" not in sys.modules:
        raise BadInput("parameter upload: works in Colab with interactive only; put the files beside and name them")
    from google.colab import files

    return [Path(name) for name in files.upload()]


def fetched(place: str, folder: Path) -> Path:
    """The file at a path, or of a web address, which is fetched into `folder`; a page of GitHub stands for its file.
    Raises BadInput: the address names no CUDA or Python file, does not answer with one, or the file is too large."""
    if not WEB.match(place):
        return Path(place)
    address = GITHUB.sub(r"https://raw.githubusercontent.com/\1/\2", place)
    name = unquote(urlsplit(address).path.rpartition("/")[2])
    if not NAME.fullmatch(name):
        raise BadInput(f"{place}: its last part must be the name of a .cu or .py file; it is {name!r}")
    target = folder / name
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
            data = answer.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BadInput(f"{place}: over {MOST_BYTES:,} bytes; fetch it yourself and name the file")
        folder.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except (OSError, HTTPException, ValueError) as error:
        raise BadInput(f"{place}: cannot be fetched into {folder} ({error}); put the file here, and name it") from error
    return target


DONE, NOW = "✓", "▶"


class Bar:
    """Draws a `Progress` in the cell that runs; colours are the notebook's own, light or dark."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._drawn = ""

    def __call__(self, progress: Progress) -> None:
        """Draw the bar as the first stage begins, and bring that one up to date from then on."""
        shown: Any = import_module("IPython.display")  # its functions have no types
        html = drawn(progress)
        if self._handle is None:
            self._handle = shown.display(shown.HTML(html), display_id=True)
        elif html != self._drawn:
            self._handle.update(shown.HTML(html))
        self._drawn = html


def bar(*, wanted: bool) -> Bar | None:
    """A bar if it is wanted and this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return Bar() if wanted and ipython is not None and ipython.get_ipython() is not None else None


def drawn(progress: Progress) -> str:
    """Return HTML: every stage with its seconds, the one that runs, how much is done and what may be left."""
    spent = dict(progress.stages)
    known = [*progress.planned, *(name for name in (*spent, progress.running) if name not in progress.planned)]
    stages = " · ".join(_stage(name, spent, progress.running) for name in known if name)
    left = progress.left()
    percent = round(100 * progress.share)
    bar = f'<progress max="100" value="{percent}" aria-label="{left}"></progress> {left}' if left else ""
    return f"<div>{bar}<br><small>{stages}</small></div>"


def _stage(name: str, spent: dict[str, float], running: str) -> str:
    if name == running:
        return f"<b>{NOW} {name}</b>"
    return f"{DONE} {name} {spent[name]:.1f} s" if name in spent else name
