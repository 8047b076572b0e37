"""`audit.check`: one kernel against its reference, imported and audited, from Python or from the command line."""

from __future__ import annotations

import io
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from audit import claims
from audit.apps.check_sources import Source, files
from audit.audit import Audit
from audit.build.device import choose, secondary_devices
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given
from audit.model import Record
from audit.model.errors import BadInput
from audit.report.formats import Form
from audit.report.progress import Progress


def check(  # noqa: PLR0913  # one argument an option of the command
    kernel: Source,
    reference: Source,
    inputs: Callable[[], list[Any]] | None = None,
    *,
    tolerance: float | None = None,
    shape: Mapping[str, int] | None = None,
    flags: Sequence[str] = (),
    claimed: Mapping[str, float | None] | None = None,
    device: str = "auto",
    out: Path | str | None = None,
    seed: int | None = None,
) -> Record:
    """Audit a kernel against a reference and return the record; its verdict is `record.verdict.name`.

    In a test suite it is one line: `assert audit.check("k.cu", "ref.py", tolerance=1e-4).verdict.name == "no defect
    found"`. A callable is audited by the source of the file that names it, without the tests in it.

    Args:
        kernel: a `.cu` or `.py` file, or a callable that the top level of a file names.
        reference: a file with `reference` and `get_inputs`, or such a callable.
        inputs: makes the arguments of one call, in a file that names sizes as constants; None where the reference's
            file has `get_inputs`.
        tolerance: the relative tolerance, in place of the file's own.
        shape: sizes in place of the file's own.
        flags: of the compiler; `-I` names a folder of the given files. A `.py` passes its own.
        claimed: the published ratios, baseline time over kernel time, by GPU; None names a GPU that the kernel is for.
        device: "auto", "cuda" or "emulated".
        out: keeps claim folder, record and report; None keeps nothing but the record that is returned.
        seed: of the inputs; None draws one.

    Raises:
        BadInput: a source that cannot be read or audited, in one sentence.
    """
    ratios, sizes = tuple((claimed or {}).items()), tuple((shape or {}).items())
    given = Given(tolerance=tolerance, claimed=ratios, shape=sizes, flags=tuple(flags), named=_keyword)
    with tempfile.TemporaryDirectory(prefix="audit-check-") as scratch:
        sources = (kernel, reference, inputs)
        paths = files(*sources, Path(scratch))
        base = Path(scratch) / "out" if out is None else Path(out)
        try:
            return audited(paths, given, base=base, device=device, seed=seed, typed=not any(map(callable, sources)),
                           progress=Progress(io.StringIO()))[0]  # fmt: skip
        except BadInput as error:
            raise BadInput(str(error).replace("--device ", "device=")) from error


def _keyword(argument: str, value: str) -> str:
    """Return an argument as a call of `check` has it: `tolerance=1e-3`."""
    return f"{argument}={value}" if value else argument


def audited(  # noqa: PLR0913  # one argument an option
    source: Sequence[Path],
    given: Given,
    *,
    base: Path | None,
    device: str,
    seed: int | None = None,
    form: Form | None = None,
    typed: bool = True,
    progress: Progress,
) -> tuple[Record, Path]:
    """Import into `BASE/NAME` and audit that; return the record and the folder with the results.

    To reproduce it, `audit check` is given the same sources where they were `typed`, else `audit run` the folder.
    Raises BadInput: something essential is missing, or `base` has the folder of a claim of that name already."""
    imported = importers.read(source, given=given)
    if not imported.auditable:
        raise BadInput(f"{imported.provenance}: no audit is possible: {imported.blocking(given.named)}")
    base = base or _free(Path("out") / imported.name)
    folder = base / imported.name
    if folder.exists():
        again = shlex.join(("audit", "run", str(folder)))
        another = given.named("out", "")
        raise BadInput(
            f"{folder}: is there already; audit what it holds again with `{again}`, or give another {another}"
        )
    writer.write(imported, folder)
    command = ("audit", "check", *map(claims.shown, source), *_options(given))
    return of_folder(str(folder), device=device, out=base / "results", seed=seed, form=form,
                     command=command if typed else None, progress=progress)  # fmt: skip


def _free(base: Path) -> Path:
    """Return the first of `out/NAME`, `out/NAME_2`, ... that is not there: files change between two checks."""
    others = (base.with_name(f"{base.name}_{number}") for number in count(2))
    return next(one for one in chain([base], others) if not one.exists())


def of_folder(  # noqa: PLR0913  # one argument an option
    claim: str,
    *,
    device: str,
    out: Path | None,
    seed: int | None,
    form: Form | None,
    command: Sequence[str] | None = None,
    progress: Progress,
) -> tuple[Record, Path]:
    """Audit a claim by its name or folder; return the record and the folder with the results. Raises BadInput: no such
    claim, or a device that is not there."""
    folder = claims.load(claim)
    on = choose(device, folder.claim)
    out = out or Path("out") / f"{folder.claim.name}-{on.describe().kind}"
    with Audit(
        folder, on, out, beside=secondary_devices(on, folder.claim), entropy=seed, command=command, progress=progress
    ) as audit:
        return audit.run(*(() if form is None else (form,))), out


def _options(given: Given) -> Iterator[str]:
    """Yield the options of the command for what was given."""
    if given.tolerance is not None:
        yield from ("--tolerance", f"{given.tolerance:g}")
    for option, pairs in (("--claimed", given.claimed), ("--shape", given.shape)):
        yield from (option, *(name if value is None else f"{name}={value}" for name, value in pairs)) if pairs else ()
    yield from [f"--flags={' '.join(given.flags)}"] if given.flags else []
