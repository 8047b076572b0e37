"""`audit.check`: one kernel against its reference, imported and audited, from Python or from the command line.

Imported are the files that were named, and the modules of the functions that were given.
"""

from __future__ import annotations

import ast
import inspect
import io
import shlex
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from types import ModuleType
from typing import Any

from audit import claims
from audit.audit import Audit
from audit.build.device import choose, secondary_devices
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given
from audit.claims.python_text import PythonText, bound_by
from audit.model import Record
from audit.model.errors import BadInput
from audit.report.formats import Form
from audit.report.progress import Progress
from audit.review.python_tree import inside, names_in


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
    command = ("audit", "check", *map(claims.shown, source), *given.typed())
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


Source = str | Path | Callable[..., Any]
NAMES = {"kernel": "kernel", "reference": "reference", "inputs": "get_inputs"}
LINES = {
    "kernel": "\n\nkernel = {}\n",
    "reference": "\n\ndef reference(*arguments):\n    return {}(*arguments)\n",
    "inputs": "\n\ndef get_inputs():\n    return {}()\n",
}
"""The name that each argument has in the file that is imported, and the lines that give it to another function."""
OF_PYTHON = {Path(sysconfig.get_path(kind)) for kind in ("stdlib", "purelib", "platlib")}
"""Folders of Python and of installed packages, whose names for a callable are none that its author gave."""
OF_TESTS = ("audit", "pytest")
"""Packages that a module imports to have itself tested, never to compute."""


def files(kernel: Source, reference: Source, inputs: Callable[[], list[Any]] | None, folder: Path) -> list[Path]:
    """Return the files to import; modules of functions are written into `folder`, with a name of ours for each. Raises
    BadInput: a callable that no file has a name for, or two files of one name."""
    paths: list[Path] = []
    modules: dict[Path, dict[str, str]] = {}
    for argument, one in {"kernel": kernel, "reference": reference, "inputs": inputs}.items():
        if callable(one):
            module, name = _place_of(one, argument)
            modules.setdefault(module, {})[argument] = name
        elif one is not None:
            paths.append(Path(one))
    for module, given in modules.items():
        needed = {name.partition(".")[0] for name in given.values()}
        text = without_tests(module.read_text(encoding="utf-8"), needed=needed, where=str(module))
        added = (LINES[argument].format(name) for argument, name in given.items() if name != NAMES[argument])
        (folder / module.name).write_text(text + "".join(added), encoding="utf-8")
        paths.append(folder / module.name)
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        raise BadInput(f"check: two files are called {names[0]}; give one of them another name")
    return paths


def without_tests(text: str, *, needed: set[str], where: str) -> str:
    """Return a module without the imports of `OF_TESTS` and the statements that use them; line numbers stay.

    Where a needed function uses them, or one line holds more, the text stays as it is, and `reach` says so.
    """
    tree = PythonText(text.encode(), where=where).tree
    found = _of_tests(tree)
    beside = {line for one in tree.body if one not in found for line in _lines(one)}
    kept = text.split("\n")
    for statement, rest in found.items():
        lines = _lines(statement)
        if needed & (bound_by(statement) - _bound(rest)) or beside & {*lines}:
            return text
        kept[lines.start - 1 : lines.stop - 1] = [ast.unparse(rest) if rest else "", *[""] * (len(lines) - 1)]
    return "\n".join(kept)


def _lines(statement: ast.stmt) -> range:
    """Return the numbers of the lines of a statement with its decorators."""
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    return range(first, (statement.end_lineno or first) + 1)


def _bound(statement: ast.stmt | None) -> set[str]:
    return set() if statement is None else bound_by(statement)


def _of_tests(tree: ast.Module) -> dict[ast.stmt, ast.stmt | None]:
    """Return the top-level statements that import or use `OF_TESTS`, each with what is left of it."""
    found = {one: _rest(one) for one in tree.body if any(map(_is_of_tests, _imported(one)))}
    names = {name for one, rest in found.items() for name in bound_by(one) - _bound(rest)}
    while more := [one for one in tree.body if one not in found and names_in(one) & names]:
        found |= dict.fromkeys(more)
        names |= {name for one in more for name in bound_by(one)}
    return found


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules that imports within a statement name."""
    yield from (alias.name for one in inside(node, ast.Import) for alias in one.names)
    yield from (one.module or "" for one in inside(node, ast.ImportFrom))


def _is_of_tests(module: str) -> bool:
    return module.partition(".")[0] in OF_TESTS


def _rest(statement: ast.stmt) -> ast.stmt | None:
    """Return `import torch` of `import torch, audit`; None where nothing is left."""
    if not isinstance(statement, ast.Import):
        return None
    rest = [one for one in statement.names if not _is_of_tests(one.name)]
    return ast.Import(names=rest) if rest else None


def _place_of(one: Callable[..., Any], argument: str) -> tuple[Path, str]:
    """Return the file of a callable and its name at the file's top level: `softmax`, `layer.forward`. Raises BadInput:
    no file binds it to a name, or it is nothing to be called with inputs."""
    if isinstance(one, type):
        raise BadInput(f"check: {argument} is the class {one.__name__}; give a function that calls an object of it, or "
                       "the file, in KernelBench's form")  # fmt: skip
    if type(one).__module__.startswith("triton."):
        raise BadInput(f"check: {argument} is a Triton kernel; give the Python function that launches it on a grid")
    own = sys.modules.get(getattr(one, "__module__", None) or "")
    for module in (own, *list(sys.modules.values())):
        file = Path(getattr(module, "__file__", None) or "")
        if module is own or not any(map(file.is_relative_to, OF_PYTHON)):
            for name in (name for name in _names_in(module, one) if _is_bound(name, file)):
                return file, name
    kind = " ".join(("the", type(one).__name__, getattr(one, "__name__", ""))).rstrip()
    compiled = "the `.cu` that it is compiled from or " if inspect.isbuiltin(one) else ""
    raise BadInput(
        f"check: {argument} is {kind}, which no Python file binds to a name; write a function with `def` or "
        f"`{NAMES[argument]} = ...` at the top level of a file (in a notebook, in a cell that begins with "
        f"`%%writefile`), and give {compiled}that file"
    )


def _names_in(module: ModuleType | None, one: Callable[..., Any]) -> Iterator[str]:
    """Yield the names of an object in a module, or of a method of an object or a function of an extension there."""
    owner, attribute = getattr(one, "__self__", None), getattr(one, "__name__", "")
    for name, value in list(getattr(module, "__dict__", {}).items()):
        if value is one:
            yield name
        of_module = type(value) is ModuleType and vars(value).get(attribute) is one
        if of_module or (value is owner and inspect.ismethod(one)):
            yield f"{name}.{attribute}"


def _is_bound(name: str, file: Path) -> bool:
    """Return whether one statement at the top level of a file binds a name, by `def` or `=`, and no other does."""
    if file.suffix != ".py" or not file.is_file():
        return False
    body = PythonText(file.read_bytes(), where=str(file)).tree.body
    found = [one for one in body if name.partition(".")[0] in bound_by(one)]
    return len(found) == 1 and isinstance(found[0], ast.FunctionDef | ast.Assign | ast.AnnAssign)
