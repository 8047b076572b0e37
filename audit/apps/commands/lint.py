"""`audit lint PATH`: what the numbers of a published dataset say on their own; nothing is built or run."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.report import terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("path", type=Path, metavar="PATH", help="Parquet, CSV, JSON or JSONL, or a folder of them")
    parser.add_argument("--gpu", metavar="NAME", help="the GPU of rows that name none")
    parser.add_argument("--unit", metavar="ms|us", help="of times; default: read from the times themselves")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write lint.md, lint.html, lint.csv and figures there")
    for name in ("markdown", "html", "csv"):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"write that one as {name}")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Prints what stands out, and writes the files asked for."""
    from audit.lint import datasets  # pandas takes half a second that other commands need not wait
    from audit.lint.datasets import files, page
    from audit.lint.datasets.terminal import text as told

    data = datasets.read(options.path, gpu=options.gpu, unit=options.unit)
    answers = datasets.lint(data)
    terminal.say(*told(data, answers).splitlines())
    asked = files.Asked(options.markdown, options.html, options.csv, options.out)
    if asked != files.Asked():
        from audit.lint.datasets import figures

        drawn = figures.draw(data)
        written = files.write(asked, page.build(data, answers, drawn), answers, list(drawn.values()))
        terminal.say("", f"wrote {', '.join(str(path) for path in written)}")
    return 0
