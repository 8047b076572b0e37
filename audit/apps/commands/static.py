"""`audit import`, `audit review` and `audit lint`: what published files say; nothing is built or run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from audit.apps.commands.declare import Arg
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.material import Given
from audit.model.errors import BadInput
from audit.report import terminal
from audit.review import command as reviews

MOST = 1 << 40
"""No size and no ratio is larger."""


def import_claim(  # noqa: PLR0913  # one argument an option
    source: Annotated[tuple[Path, ...], Arg("files of one claim, or one folder", "SOURCE")],
    *,
    to: Annotated[Path | None, Arg("the claim folder to make (default: kernels/NAME)", "DIR")] = None,
    format_: Annotated[
        str | None, Arg("where the content should not decide", choices=tuple(importers.IMPORTERS))
    ] = None,
    row: Annotated[int | None, Arg("the row of a table, the cell of a notebook or the workload; from 1", "N")] = None,
    select: Annotated[str | None, Arg("the row of a table with that value", "COLUMN=VALUE")] = None,
    unit: Annotated[str | None, Arg("of published times: ms, us, s or ns", "UNIT")] = None,
    gpu: Annotated[str | None, Arg("where published figures were taken, if the source does not say", "NAME")] = None,
    tolerance: Annotated[float | None, Arg("what results are held to, if the source does not say", "RELATIVE")] = None,
    claimed: Annotated[tuple[str, ...], Arg("a published ratio, if the source does not say", "GPU=RATIO")] = (),
    shape: Annotated[tuple[str, ...], Arg("a size, in place of the source's own", "NAME=SIZE")] = (),
) -> int:
    """Prints what was found, what was chosen and what is missing; returns 0 also where something is."""
    ratios = tuple((name, _number(value, "--claimed", "T4=4.2")) for name, value in _pairs(claimed, "--claimed"))
    sizes = tuple((name, _size(name, value)) for name, value in _pairs(shape, "--shape"))
    given = Given(row, _pair(select), unit, gpu, tolerance=tolerance, claimed=ratios, shape=sizes)
    imported = importers.read(list(source), given=given, format_=format_)
    folder = writer.write(imported, to)
    terminal.say(*importers.lines(imported, folder, source))
    return 0


def review(
    files: Annotated[tuple[Path, ...], Arg("CUDA C++ or Python files", "FILE")],
    *,
    json: Annotated[bool, Arg("print JSON instead of lines")] = False,
) -> int:
    """Prints a line a hint, or the same as JSON."""
    found = reviews.reviewed(list(files))
    if json:
        print(reviews.as_json(found))
    else:
        terminal.say(*reviews.lines(found))
    return 0


def lint(  # noqa: PLR0913  # one argument an option
    path: Annotated[Path, Arg("Parquet, CSV, JSON or JSONL, or a folder of them", "PATH")],
    *,
    gpu: Annotated[str | None, Arg("the GPU of rows that name none", "NAME")] = None,
    unit: Annotated[str | None, Arg("of times; default: read from the times themselves", "ms|us")] = None,
    out: Annotated[Path | None, Arg("write lint.md, lint.html, lint.csv and figures there", "DIR")] = None,
    markdown: Annotated[Path | None, Arg("write that one as markdown", "FILE")] = None,
    html: Annotated[Path | None, Arg("write that one as html", "FILE")] = None,
    csv: Annotated[Path | None, Arg("write that one as csv", "FILE")] = None,
) -> int:
    """Prints what stands out in a dataset, and writes the files asked for."""
    from audit.lint import datasets  # pandas takes half a second that other commands need not wait
    from audit.lint.datasets import page

    data = datasets.read(path, gpu=gpu, unit=unit)
    answers = datasets.lint(data)
    terminal.say(*page.text(data, answers).splitlines())
    asked = page.Asked(markdown, html, csv, out)
    if asked != page.Asked():
        from audit.lint.datasets import figures

        drawn = figures.draw(data)
        written = page.write(asked, page.build(data, answers, drawn), answers, list(drawn.values()))
        terminal.say("", f"wrote {', '.join(str(file) for file in written)}")
    return 0


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    return _split(text, "--select", "COLUMN=VALUE, for example Task_ID=15")


def _pairs(texts: tuple[str, ...], option: str) -> list[tuple[str, str]]:
    return [_split(text, option, "NAME=VALUE") for text in texts]


def _split(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadInput(f"{option} {text}: write {form}")
    return name, value


def _number(text: str, option: str, example: str) -> float:
    """Return a number above zero. Raises BadInput with an example for anything else."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < MOST:
        raise BadInput(f"{option} {text[:20]}: no number above zero; write it as in {option} {example}")
    return value


def _size(name: str, text: str) -> int:
    value = _number(text, "--shape", "N=4096")
    if not value.is_integer():
        raise BadInput(f"--shape {name}={text[:20]}: a size is a whole number")
    return int(value)
