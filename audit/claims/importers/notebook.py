"""A Colab or Jupyter notebook: a CUDA text, `load(...)` or `load_inline(...)`, and cells that compare and time it.

Everything is found in the syntax trees of the cells. The task is what the kernel's result is compared with
(`torch.allclose`), or the other thing that is timed (`do_bench`), with the statements its arguments need.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from audit.claims.importers import entries, facts, module_task, sizes
from audit.claims.importers.material import Material
from audit.claims.importers.notebook_builds import TIMED, Compared, Extension, build_of, called, calls, compared
from audit.claims.importers.notebook_cells import CudaText, cells, cuda_texts, printed
from audit.claims.importers.notebook_script import Script
from audit.claims.importers.notebook_task import task_text
from audit.claims.python_text import PythonText
from audit.model.errors import BadInput
from audit.model.untrusted import checked_text

TAKES = "an `.ipynb` with a CUDA text, `load` or `load_inline`, and a comparison or timing with the reference"
LACKS = ("reference.py cost",)
TASK = "task.py"
ALLCLOSE_RELATIVE = 1e-5
_NO_BUILD = facts.Missing("no cell builds this text with load or load_inline", "protocol.flags", "write the flags")
_NO_CALL = facts.essential(
    "no cell calls the kernel with plain names that are all its reference needs", "reference.py", "write the task"
)
_NO_REFERENCE = facts.essential("no cell compares or times anything else", "reference.py", "write the task")
_NO_BINDING = facts.essential("the text binds no function for Python", "variant", "add PYBIND11_MODULE to it")
_NO_TOLERANCE = facts.no_tolerance("no cell compares with a tolerance")


def matches(material: Material) -> bool:
    """Return whether a JSON document has cells."""
    return any(_is_notebook(document) for document in material.documents.values())


def read(material: Material, given: facts.Given) -> facts.Imported:
    """Return the claim of one CUDA text. Raises BadInput for no or several notebooks or texts, or a malformed cell."""
    names = [name for name, document in material.documents.items() if _is_notebook(document)]
    if len(names) != 1:
        raise BadInput(f"{material.where}: {len(names)} notebooks; name one")
    several = cells(material.documents[names[0]], where=names[0])
    text = _chosen(cuda_texts(several), given, names[0])
    script = Script(several)
    built = build_of(text, script)
    text = _whole(text, built, script)
    data = _bytes(text, names[0])
    name = module_task.named_after(PurePath(names[0]).name)
    figures, lacking = printed(material.documents[names[0]], given)
    claim = facts.Imported(
        format="notebook",
        provenance=f"{names[0]} cell {text.cell}",
        name=name,
        title=name.replace("_", " "),
        task="what the notebook compares the kernel with",
        originals=(
            facts.Original("kernel.cu", data, f"{names[0]} cell {text.cell}, {text.name}"),
            facts.Original("notebook.ipynb", material.files[names[0]].read_bytes(), names[0]),
        ),
        steps=tuple(_step(script, place, call) for place, call in calls(script, TIMED)),
        missing=(facts.NO_COST,),
    ).with_figures(figures, lacking)
    claim = _with_kernel(claim, text, built, script)
    return claim.lacking(_NO_BUILD, _NO_CALL, _NO_TOLERANCE) if built is None else _with_task(claim, script, built)


def _is_notebook(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("cells"), list)


def _chosen(texts: list[CudaText], given: facts.Given, where: str) -> CudaText:
    """Return the text of the cell that the user names, or the only one."""
    several = list({one.text: one for one in reversed(texts)}.values())[::-1]
    fit = [one for one in several if given.row in (None, one.cell)]
    if len(fit) == 1:
        return fit[0]
    text = ", ".join(f"cell {one.cell} ({one.name})" for one in several[:10])
    if not several:
        raise BadInput(f"{where}: no cell holds a CUDA text with a kernel (__global__)")
    raise BadInput(f"{where}: {len(fit)} CUDA texts fit of {text}; choose one with --row CELL")


def _bytes(text: CudaText, where: str) -> bytes:
    try:
        data = text.text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{where}: cell {text.cell}: not UTF-8 at character {error.start}") from error
    checked_text(data, where=f"{where}: cell {text.cell}")
    return data


def _whole(text: CudaText, built: Extension | None, script: Script) -> CudaText:
    """Return the text that is built, which may be put together from several."""
    parts = [] if built is None else built.texts("cuda_sources", script)
    return replace(text, text="\n".join(parts)) if any(text.text in one for one in parts) else text


def _step(script: Script, place: int, call: ast.Call) -> str:
    return f"cell {script.statements[place].cell.number}: {' '.join(ast.unparse(call).split())[:160]}"


def _with_kernel(claim: facts.Imported, text: CudaText, built: Extension | None, script: Script) -> facts.Imported:
    """Return the claim with its kernel: the text if it binds its functions, else the call that builds it."""
    bound = entries.bound(text.text)
    call = called(built, script) if built is not None else None
    flags = built.texts("extra_cuda_cflags", script) if built is not None else []
    claim = replace(claim, flags=tuple(flags))
    technique = f"the CUDA text of cell {text.cell} as published"
    if bound:
        entry = call.function if call is not None and call.function in bound else bound[0]
        return replace(claim, claimed=facts.Claimed("claimed.cu", text.text.encode(), entry, technique))
    functions = built.texts("functions", script) if built is not None and built.inline else []
    if not functions or built is None:
        return claim.lacking(_NO_BINDING)
    entry = call.function if call is not None and call.function in functions else functions[0]
    declared = "\n".join(built.texts("cpp_sources", script))
    if not declared and entries.HEADER in text.text:
        data = entries.with_binding(text.text.encode(), entry)
        return replace(
            claim, claimed=facts.Claimed("claimed.cu", data, entry, technique, "the binding of its function")
        )
    data = entries.inline(text.text, cpp=declared, name=claim.name, functions=functions, flags=flags)
    data += f"\n\ndef {entries.ENTRY}(*arguments):\n    return _EXTENSION.{entry}(*arguments)\n".encode()
    added = "the call of load_inline that the notebook makes, and a function that calls what it builds"
    return replace(claim, claimed=facts.Claimed("claimed.py", data, entries.ENTRY, technique, added))


def _with_task(claim: facts.Imported, script: Script, built: Extension) -> facts.Imported:
    call, found = called(built, script), compared(built, script)
    tolerance = _tolerance(found)
    claim = claim.lacking(*([] if tolerance else [_NO_TOLERANCE]))
    claim = replace(claim, tolerance=tolerance)
    if call is None or found is None:
        return claim.lacking(_NO_CALL if call is None else _NO_REFERENCE)
    source = task_text(script, call, found)
    if source is None:
        return claim.lacking(_NO_CALL)
    where = f"{claim.provenance}, with the statements that its inputs and reference need"
    text = PythonText(source.encode(), where=where)
    shapes, choices = sizes.of_module(text, apart=["reference"], sources=[claim.originals[0].data.decode()])
    return replace(
        claim,
        task=f"what cell {_cell(script, found)} compares the kernel with: {ast.unparse(found.reference)[:200]}",
        dtype=text.dtype_of("get_inputs"),
        originals=(*claim.originals, facts.Original(TASK, source.encode(), where)),
        reference=facts.Reference("function", {"file": TASK, "function": "reference"}),
        shapes=shapes,
        choices=(*claim.choices, f"original/{TASK} is put together from the cells", *choices),
        missing=(*claim.missing, *([] if shapes.emulated else [facts.NO_SHAPE])),
    )


def _cell(script: Script, found: Compared) -> int:
    return script.statements[found.place].cell.number


def _tolerance(found: Compared | None) -> facts.Tolerance | None:
    """Return the tolerance of the comparison; torch.allclose's default where it names none."""
    call = found.call if found is not None else None
    if call is None:
        return None
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "rtol"), None)
    value = named.value if isinstance(named, ast.Constant) else None
    result = ast.unparse(call)[:120]
    if isinstance(value, float) and 0.0 < value < 1.0:
        return facts.Tolerance(value, f"the notebook's own: {result}; {facts.RMS}")
    return facts.Tolerance(
        ALLCLOSE_RELATIVE, f"the notebook's own, with torch.allclose's default rtol = 1e-5: {result}"
    )
