"""`audit review` and `audit lint`: what published files say; nothing is built or run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from audit.apps.commands.declare import Arg
from audit.report import terminal
from audit.review import command as reviews


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
