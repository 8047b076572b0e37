"""`audit import` and `audit check`: what others publish becomes a claim folder, and in one command its audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from audit.apps.commands.declare import Arg, Device
from audit.apps.commands.records import USUAL, FailOn, Formats, Json, Language, Seed, form, verdicts
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given
from audit.model.errors import BadInput
from audit.report import terminal

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
Sizes = Annotated[tuple[str, ...], Arg("a size, in place of the source's own", "NAME=SIZE")]


def import_claim(  # noqa: PLR0913  # one argument an option
    source: Source,
    *,
    to: Annotated[Path | None, Arg("the claim folder to make (default: kernels/NAME)", "DIR")] = None,
    format_: Annotated[
        str | None, Arg("where the content should not decide", choices=tuple(importers.IMPORTERS))
    ] = None,
    row: Annotated[int | None, Arg("the row of a table, the cell of a notebook or the workload; from 1", "N")] = None,
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
    terminal.say(*importers.lines(imported, folder, source))
    return 0 if imported.auditable else INCOMPLETE


def check(  # noqa: PLR0913  # one argument an option
    source: Source,
    *,
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
    given = Given(tolerance=tolerance, claimed=_ratios(claimed), shape=sizes(shape), flags=tuple(flags.split()))
    record, place = audited(source, given, base=out, device=device, seed=seed, form=wanted, progress=progress(json))
    return ended(record, place, wanted, failing=failing, json=json)


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
