"""`audit review` and `audit lint`: what published files say; nothing is built or run."""

from __future__ import annotations

from collections.abc import Callable
from json import dumps
from pathlib import Path
from typing import Annotated

from audit.apps.commands.declare import Arg
from audit.model import untrusted
from audit.model.errors import BadInput
from audit.report import terminal
from audit.review import hints
from audit.review.hints import Hint


def review(
    files: Annotated[tuple[Path, ...], Arg("CUDA C++ or Python files", "FILE")],
    *,
    json: Annotated[bool, Arg("print JSON instead of lines")] = False,
) -> int:
    """Prints a line a hint, or the same as a JSON document of `SCHEMA` 1. Raises BadInput: a file is missing, no file,
    too large, not UTF-8, of an unknown kind or not valid Python."""
    found = {path: _of_file(path) for path in files}
    if json:
        listed = [{"file": str(path), "hints": [_fields(each) for each in several]} for path, several in found.items()]
        print(dumps({"schema": SCHEMA, "files": listed}, indent=1))
    else:
        for path, several in found.items():
            terminal.say(*([_line(path, each) for each in several] or [f"{path}: no rule points at a line"]))
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
    asked = page.files(markdown, html, csv, out)
    if asked:
        from audit.lint.datasets import figures

        drawn = figures.draw(data)
        written = page.write(asked, page.build(data, answers, drawn), answers, list(drawn.values()))
        terminal.say("", f"wrote {', '.join(str(file) for file in written)}")
    return 0


SCHEMA = 1
_CUDA = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".hpp", ".hxx", ".h")
_READERS: dict[str, Callable[[str], list[Hint]]] = {**dict.fromkeys(_CUDA, hints.of_cuda), ".py": hints.of_python}


def _line(path: Path, hint: Hint) -> str:
    rule, spot = hint.rule, hint.spot
    return f"{path}:{spot.line}: {rule.standing}: {rule.name}: {spot.message} (probe: {rule.confirm_with})"


def _fields(hint: Hint) -> dict[str, str | int]:
    rule, spot = hint.rule, hint.spot
    return {
        "line": spot.line,
        "rule": rule.name,
        "standing": rule.standing,
        "message": spot.message,
        "confirm_with": rule.confirm_with,
    }


def _of_file(path: Path) -> list[Hint]:
    reader = _READERS.get(path.suffix)
    if reader is None and not path.is_dir():
        raise BadInput(f"{path}: neither CUDA C++ nor Python by its name; known endings: {', '.join(_READERS)}")
    text = untrusted.text(path, empty=True)
    try:
        return reader(text) if reader else []
    except SyntaxError as error:
        where = f" (line {error.lineno})" if error.lineno else ""
        raise BadInput(f"{path}: not valid Python{where}: {error.msg}") from error
