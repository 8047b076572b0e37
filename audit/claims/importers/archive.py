"""The AI-CUDA-Engineer-Archive: one row of Parquet, CSV, JSON or JSONL is one claim.

`CUDA_Code` is a whole `.cu` whose `forward` takes what the function of `PyTorch_Code_Functional` takes. Columns as in
the published dataset (https://huggingface.co/datasets/SakanaAI/AI-CUDA-Engineer-Archive, CC-BY-4.0).
"""

from __future__ import annotations

from dataclasses import replace

from audit.claims.importers import entries, facts, module_task, published, sizes
from audit.claims.importers.material import Material
from audit.claims.importers.tables import Row, chosen
from audit.claims.python_text import PythonText

TAKES = "a row with `CUDA_Code` and `PyTorch_Code_Functional`, in Parquet, CSV, JSON or JSONL"
LACKS = ("reference.py cost", "speedup.gpu")
CODE, FUNCTIONAL, MODULE = "CUDA_Code", "PyTorch_Code_Functional", "PyTorch_Code_Module"
KERNEL_TIME = "CUDA_Runtime"
TIMES = ("PyTorch_Native_Runtime", "PyTorch_Compile_Runtime")
RATIOS = {"CUDA_Speedup_Native": "PyTorch native", "CUDA_Speedup_Compile": "torch.compile"}
PROFILES = {"NCU_Profile": "ncu_profile.txt", "Torch_Profile": "torch_profile.txt", "Clang_Tidy": "clang_tidy.txt"}
TEXTS = ("Op_Name", "Level_ID", "Task_ID", "Kernel_Name", "Correct", "Max_Diff", "Error", CODE, FUNCTIONAL, MODULE)
FLAGS = ("-O3", "--use_fast_math")
FUNCTION = "module_fn"


def matches(material: Material) -> bool:
    """Return whether a table has the column `CUDA_Code`."""
    return any(CODE in columns for columns in material.columns.values())


def read(material: Material, given: facts.Given) -> facts.Imported:
    """Return the row that the user means. Raises BadInput for no such row, or one whose times are none."""
    path = material.table_with(CODE)
    row = chosen(path, given, columns=(*TEXTS, *PROFILES), positive=(KERNEL_TIME, *TIMES, *RATIOS))
    figures, missing = _figures(row, given)
    found = _task(row, _kernel(row))
    return found.with_figures(figures, missing)


def _kernel(row: Row) -> facts.Imported:
    name = module_task.named_after(row.text("Op_Name") or row.text("Kernel_Name") or "archive row")
    code = row.text(CODE)
    bound = entries.bound(code or "")
    kernel = None if code is None else facts.Claimed("claimed.cu", code.encode(), bound[0] if bound else "forward",
                                               "CUDA_Code as published")  # fmt: skip
    checked = [f"{name} = {row.cells[name]}" for name in ("Correct", "Max_Diff") if row.cells.get(name) is not None]
    no_code = facts.essential("the row has no CUDA_Code", "variant", "choose a row whose kernel was archived")
    originals = [row.original(CODE, file="kernel.cu")] if code is not None else []
    originals += [row.original(column, file=file) for column, file in PROFILES.items() if row.text(column)]
    return facts.Imported(
        format="archive",
        provenance=row.where,
        name=name,
        title=f"{row.text('Op_Name') or name}, {row.text('Kernel_Name') or 'a kernel'}, AI CUDA Engineer archive",
        originals=tuple(originals),
        claimed=kernel,
        authors="Sakana AI",
        published="2025-02",
        url="https://huggingface.co/datasets/SakanaAI/AI-CUDA-Engineer-Archive",
        flags=FLAGS,
        steps=(f"the archive's own check says {', '.join(checked)}",) if checked else (),
        tolerance=module_task.TOLERANCE,
        missing=(facts.NO_COST,) if kernel else (facts.NO_COST, no_code),
        choices=("protocol.flags: those of the archive's own Colab, since a row names none",),
        rejected=row.rejected,
    )


def _task(row: Row, found: facts.Imported) -> facts.Imported:
    """Return the same with its task: the function that the kernel stands in for, and the module that calls it."""
    sentence = row.text(FUNCTIONAL)
    if sentence is None:
        lacks = facts.essential(f"the row has no {FUNCTIONAL}", "reference.py", "write the task there")
        return found.lacking(lacks)
    original = facts.Original("functional.py", sentence.encode(), f"{row.where} column {FUNCTIONAL}")
    text = PythonText(original.data, where=original.published_as)
    sources = [found.claimed.data.decode()] if found.claimed else []
    shapes, choices = sizes.of_module(text, apart=[FUNCTION], made_with=["get_init_inputs"], sources=sources)
    kept = [original, *([row.original(MODULE, file="module.py")] if row.text(MODULE) else [])]
    absent = module_task.absent(text, FUNCTION, where=FUNCTIONAL)
    return replace(
        found,
        task=module_task.first_line(text),
        dtype=text.dtype_of("get_inputs"),
        originals=(*found.originals, *kept),
        reference=facts.Reference("functional", {"file": original.file, "function": FUNCTION}),
        shapes=shapes,
        choices=(*found.choices, *choices),
        missing=(*found.missing, *absent, *([] if shapes.emulated else [facts.NO_SHAPE])),
    )


def _figures(row: Row, given: facts.Given) -> tuple[list[facts.Figure], list[facts.Missing]]:
    kernel = row.number_in(KERNEL_TIME)
    baselines = {name: value for name in TIMES if (value := row.number_in(name)) is not None}
    values = {} if kernel is None else {"runtime": kernel, **baselines}
    figures, missing = published.times(values, given=given, gpu=None, where=row.where)
    for column, about in RATIOS.items():
        value = row.number_in(column)
        if value is not None:
            where = f"{row.where} column {column}"
            figures.append(published.ratio(about, value, given=given, gpu=None, where=where))
    return figures, missing if figures or missing else [facts.NO_FIGURES]
