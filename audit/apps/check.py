"""`audit.check`: one kernel against its reference, imported and audited, from Python or from the command line."""

from __future__ import annotations

import inspect
import io
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from audit import claims
from audit.audit import Audit
from audit.build.devices import choose, secondary_devices
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.material import Given
from audit.model import Record
from audit.model.errors import BadInput
from audit.report.formats import Form
from audit.report.progress import Progress

Source = str | Path | Callable[..., Any]
NAMES = {"kernel": "kernel", "reference": "reference", "inputs": "get_inputs"}
LINES = {
    "kernel": "\n\nkernel = {}\n",
    "reference": "\n\ndef reference(*arguments):\n    return {}(*arguments)\n",
    "inputs": "\n\ndef get_inputs():\n    return {}()\n",
}
"""The name that each argument has in the file that is imported, and the lines that give it to another function."""


def check(  # noqa: PLR0913  # one argument an option of the command
    kernel: Source,
    reference: Source,
    inputs: Callable[[], list[Any]] | None = None,
    *,
    tolerance: float | None = None,
    shape: Mapping[str, int] | None = None,
    claimed: Mapping[str, float | None] | None = None,
    device: str = "auto",
    out: Path | str | None = None,
    seed: int | None = None,
) -> Record:
    """Audit a kernel against a reference and return the record; its verdict is `record.verdict.name`.

    In a test suite it is one line: `assert audit.check("k.cu", "ref.py", tolerance=1e-4).verdict.name == "no defect
    found"`. A function is audited by the source of its module, which runs in a process of its own.

    Args:
        kernel: a `.cu` or `.py` file, or a function of a module.
        reference: a file with `reference` and `get_inputs`, or the function of a module.
        inputs: makes the arguments of one call; a function of the reference's module, which names sizes as constants.
            None where the reference's file has `get_inputs`.
        tolerance: the relative tolerance, in place of the file's own.
        shape: sizes in place of the file's own.
        claimed: the published ratios, baseline time over kernel time, by GPU; None names a GPU that the kernel is for.
        device: "auto", "cuda" or "emulated".
        out: keeps claim folder, record and report; None keeps nothing but the record that is returned.
        seed: of the inputs; None draws one.

    Raises:
        BadInput: a source that cannot be read or audited, in one sentence.
    """
    given = Given(tolerance=tolerance, claimed=tuple((claimed or {}).items()), shape=tuple((shape or {}).items()))
    with tempfile.TemporaryDirectory(prefix="audit-check-") as scratch:
        paths = _files(kernel, reference, inputs, Path(scratch))
        base = Path(scratch) / "out" if out is None else Path(out)
        return audited(paths, given, base=base, device=device, seed=seed, progress=Progress(io.StringIO()))[0]


def audited(  # noqa: PLR0913  # one argument an option
    source: Sequence[Path],
    given: Given,
    *,
    base: Path | None,
    device: str,
    seed: int | None = None,
    form: Form | None = None,
    progress: Progress,
) -> tuple[Record, Path]:
    """Import into `BASE/NAME` and audit that; return the record and the folder with the results.

    Raises:
        BadInput: something essential is missing, or the folder of the claim is there already.
    """
    imported = importers.read(source, given=given)
    if not imported.auditable:
        missing = "; ".join(str(one) for one in imported.missing if one.essential)
        raise BadInput(f"{imported.provenance}: no audit without {missing}")
    base = base or Path("out") / imported.name
    folder = base / imported.name
    if folder.exists():
        again = shlex.join(("audit", "run", str(folder)))
        raise BadInput(f"{folder}: is there already; audit it again with `{again}`, or give another --out")
    writer.write(imported, folder)
    command = ("audit", "check", *map(claims.shown, source), *_options(given))
    return of_folder(
        str(folder), device=device, out=base / "results", seed=seed, form=form, command=command, progress=progress
    )


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
    """Audit a claim by its name or folder; return the record and the folder with the results.

    Raises:
        BadInput: no such claim, or a device that is not there.
    """
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


def _files(kernel: Source, reference: Source, inputs: Callable[[], list[Any]] | None, folder: Path) -> list[Path]:
    """Return the files to import: those that were named, and the modules of functions with a name of ours for each."""
    paths: list[Path] = []
    modules: dict[Path, str] = {}
    for argument, one in {"kernel": kernel, "reference": reference, "inputs": inputs}.items():
        if callable(one):
            module = _module_of(one, argument)
            text = modules.get(module) or module.read_text(encoding="utf-8")
            modules[module] = text + ("" if one.__name__ == NAMES[argument] else LINES[argument].format(one.__name__))
        elif one is not None:
            paths.append(Path(one))
    for module, text in modules.items():
        (folder / module.name).write_text(text, encoding="utf-8")
        paths.append(folder / module.name)
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        raise BadInput(f"check: two files are called {names[0]}; give one of them another name")
    return paths


def _module_of(function: Callable[..., Any], argument: str) -> Path:
    """Return the file of a function. Raises BadInput where it has none, or is no function of the file's top level."""
    name, file = getattr(function, "__qualname__", ""), None
    with suppress(TypeError, OSError):
        file = inspect.getsourcefile(function)
    if file is None or not Path(file).is_file() or not name.isidentifier():
        raise BadInput(f"check: {argument} is no function at the top level of a Python file; give a file")
    return Path(file)
