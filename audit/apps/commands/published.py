"""Commands over what others publish: `import` and `check` make a claim folder of it, and in one command its audit.

`review` and `lint` read it; nothing is built or run.
"""

from __future__ import annotations

from collections.abc import Callable
from json import dumps
from pathlib import Path
from typing import Annotated

from audit import claims
from audit.apps.commands.declare import Arg, Device
from audit.apps.commands.records import USUAL, FailOn, Formats, Json, Language, Seed, form, verdicts
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given
from audit.model import untrusted
from audit.model.errors import BadInput
from audit.report import terminal
from audit.review import hints
from audit.review.hints import Hint

MOST = 1 << 40
"""No size and no ratio is larger."""
INCOMPLETE = 2
"""The exit code of an import whose folder `audit run` refuses: the code of bad input."""
Source = Annotated[tuple[Path, ...], Arg("files of one claim, or one folder", "SOURCE")]
Tolerance = Annotated[float | None, Arg("what results are held to, in place of the source's own", "RELATIVE")]
Ratios = Annotated[
    tuple[str, ...],
    Arg("a published ratio, in place of the source's own for that GPU; or a GPU that the kernel is for", "GPU[=RATIO]"),
]
Flags = Annotated[str, Arg("of the compiler, in place of the source's own: --flags='-DTILE=32 -Iinclude'", "FLAGS")]
Row = Annotated[int | None, Arg("the row of a table, the cell of a notebook or the workload; from 1", "N")]
Sizes = Annotated[tuple[str, ...], Arg("a size, in place of the source's own", "NAME=SIZE")]


def import_claim(  # noqa: PLR0913  # one argument an option
    source: Source,
    *,
    to: Annotated[Path | None, Arg("the claim folder to make (default: kernels/NAME)", "DIR", also=["--out"])] = None,
    format_: Annotated[
        str | None, Arg("where the content should not decide", choices=tuple(importers.IMPORTERS))
    ] = None,
    row: Row = None,
    select: Annotated[str | None, Arg("the row of a table with that value", "COLUMN=VALUE")] = None,
    unit: Annotated[str | None, Arg("of published times: ms, us, s or ns", "UNIT")] = None,
    gpu: Annotated[
        str | None, Arg("where published figures were taken, in place of what the source says", "NAME")
    ] = None,
    tolerance: Tolerance = None,
    claimed: Ratios = (),
    shape: Sizes = (),
    flags: Flags = "",
) -> int:
    """Prints what was found, what was chosen and what is missing; returns 2 where no audit is possible without that."""
    pair = None if select is None else _split(select, "--select", "COLUMN=VALUE, for example Task_ID=15")
    given = Given(row, pair, unit, gpu, tolerance, _ratios(claimed), sizes(shape), tuple(flags.split()))
    imported = importers.read(source, given=given, format_=format_)
    folder = writer.write(imported, to)
    typed = [*map(str, source), *(["--format", format_] if format_ else []), *given.typed()]
    terminal.say(*importers.lines(imported, folder, typed))
    return 0 if imported.auditable else INCOMPLETE


def check(  # noqa: PLR0913  # one argument an option
    source: Source,
    *,
    row: Row = None,
    tolerance: Tolerance = None,
    claimed: Ratios = (),
    shape: Sizes = (),
    flags: Flags = "",
    device: Device = "auto",
    out: Annotated[
        Path | None, Arg("folder for the claim and the results (default: out/NAME, or the next free NAME_2)", "DIR")
    ] = None,
    seed: Seed = None,
    lang: Language = "en",
    formats: Formats = USUAL,
    fail_on: FailOn = "",
    json: Json = False,
) -> int:
    """Import into `OUT/NAME`, audit that and print the verdict; return 0 whatever it is, but for `fail_on`. Raises
    BadInput: something essential is missing, or OUT has the folder of a claim of that name already."""
    from audit.apps.check import audited
    from audit.apps.commands.run import ended, progress

    failing, wanted = verdicts(fail_on), form(lang, formats)
    given = Given(
        row=row, tolerance=tolerance, claimed=_ratios(claimed), shape=sizes(shape), flags=tuple(flags.split())
    )
    record, place = audited(source, given, base=out, device=device, seed=seed, form=wanted, progress=progress(json))
    folder = claims.load(str(place.parent / record.claim.statement.name))
    return ended(record, place, wanted, folder=folder, failing=failing, json=json)


def _ratios(texts: tuple[str, ...]) -> tuple[tuple[str, float | None], ...]:
    """Return GPUs and their ratios; None of a GPU that is named alone."""
    pairs = [_of_a_gpu(text) if "=" in text else (text, None) for text in texts]
    return tuple((name, None if value is None else _number(value, "--claimed", "T4=4.2")) for name, value in pairs)


def _of_a_gpu(text: str) -> tuple[str, str]:
    """Return `GPU` or `GPU@NAME=SIZE,...` and its ratio, behind the last equals sign."""
    if "@" not in text:
        return _split(text, "--claimed", "NAME=VALUE")
    name, _, value = text.rpartition("=")
    return name, value


def sizes(texts: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Return the sizes of `--shape`. Raises BadInput for one that is no whole number."""
    found = []
    for name, text in (_split(text, "--shape", "NAME=VALUE") for text in texts):
        value = _number(text, "--shape", "N=4096")
        if not value.is_integer():
            raise BadInput(f"--shape {name}={text[:20]}: a size is a whole number")
        found.append((name, int(value)))
    return tuple(found)


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
