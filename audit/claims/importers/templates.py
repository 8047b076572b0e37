"""The `reference.py` of an imported claim: one template a contract, filled with facts about the task's file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from audit.claims.importers.entries import variable
from audit.claims.importers.facts import Reference

MOST_COLUMNS = 80
_HEAD = '''"""The task of an imported claim; `claim.toml` names it.

{about}
"""

from __future__ import annotations

from pathlib import Path
{imports}
from audit.run.{module} import {task}

ORIGINAL = Path(__file__).with_name("original")
'''
_ABOUT = """\
Written by `audit import`. The task stays in `original/` as it was published; `audit.run.imported_task` loads it in
the process that makes inputs and right results, and nowhere else. `cost` knows only what a result takes to write: put
in the least flops and bytes of the task to have published times held against the hardware."""
_ABOUT_GEMM = "Written by `audit import`. The set states the task by the name of the file alone: c = a b."
_TAIL = """
inputs, reference, oracle, cost = TASK.inputs, TASK.reference, TASK.oracle, TASK.cost
"""
Options = Mapping[str, Any]


def reference_py(reference: Reference) -> str:
    """Return the text of `reference.py`; it is the same for all kernels of a task."""
    task, body = CONTRACTS[reference.contract]
    imports = "from typing import Any\n" if "Any" in (text := body(reference.options)) else ""
    module = "imported_task" if task in MODELS else "imported_functions"
    about = _ABOUT_GEMM if task == "GemmTask" else _ABOUT
    head = _HEAD.format(about=about, module=module, task=task, imports=imports)
    return head + text + _TAIL


def _module(options: Options) -> str:
    """`file`; `init_inputs`, the constants that `get_init_inputs` of the task returns; `fixed`, its sizes."""
    fixed = f", fixed={shown(options['fixed'])}" if options.get("fixed") else ""
    return f'''TASK = ModuleTask(ORIGINAL / {shown(options["file"])}{fixed})


def get_init_inputs() -> list[Any]:
    """What the modules are made with, as constants: the build stage reads this and runs nothing."""
    return {shown(list(options["init_inputs"]), 4)}

'''


def _functional(options: Options) -> str:
    """`file`, `function`; `settings` where `get_inputs` and `Model` take named arguments from a configuration;
    `wanted`, the places of the arguments that get a gradient."""
    settings = options.get("settings")
    text = "" if settings is None else f"SETTINGS: dict[str, dict[str, Any]] = {shown(settings)}\n"
    named = "" if settings is None else ", settings=SETTINGS"
    file, function = shown(options["file"]), shown(options["function"])
    named += f", wanted={options['wanted']!r}" if "wanted" in options else ""
    return f"{text}TASK = FunctionalTask(ORIGINAL / {file}, function={function}{named})\n"


def _data(options: Options) -> str:
    """`file`; `beside`, for every module that it imports by name the file in `original/`, or None; `largest_seed`;
    `parts`, functions of the file with the places of their arguments."""
    largest = options.get("largest_seed")
    seeds = "" if largest is None else f"    largest_seed={largest},\n"
    seeds += f"    options={shown(options['options'], 4)},\n" if options.get("options") else ""
    file = f"    ORIGINAL / {shown(options['file'])},\n    beside={_beside(options['beside'])},\n"
    seeds += f"    parts={shown(options['parts'], 4)},\n" if "parts" in options else ""
    return f"TASK = DataTask(\n{file}{seeds})\n"


def _definition(options: Options) -> str:
    """`file`, `inputs`; `axes`, lines that give every axis; `generator` where the definition names one."""
    generator = f", generator={shown(options['generator'])}" if options.get("generator") else ""
    return f"""INPUTS: dict[str, dict[str, Any]] = {shown(options["inputs"])}


{axes_function(options["axes"])}


TASK = DefinitionTask(ORIGINAL / {shown(options["file"])}, inputs=INPUTS, axes=axes{generator})
"""


def _function(options: Options) -> str:
    """`file`, `function`; `beside`, for every module that it imports by name the file in `original/`; `keywords`, the
    names of its last arguments where it gets them by name."""
    named = f", beside={_beside(options['beside'])}" if options.get("beside") else ""
    named += f", keywords={shown(options['keywords'])}" if options.get("keywords") else ""
    return f"TASK = FunctionTask(ORIGINAL / {shown(options['file'])}, function={shown(options['function'])}{named})\n"


def _beside(beside: Mapping[str, str | None]) -> str:
    files = {name: f"ORIGINAL / {shown(file)}" if file else "None" for name, file in beside.items()}
    return "{" + ", ".join(f"{shown(name)}: {place}" for name, place in files.items()) + "}"


def _benchmark(options: Options) -> str:
    """`file`, `holder`; `workloads`, whose number a shape names; `arguments`, attributes of the holder."""
    named = f"workloads={shown(options['workloads'])}, arguments={shown(options['arguments'])}"
    return f"TASK = BenchmarkTask(ORIGINAL / {shown(options['file'])}, {shown(options['holder'])}, {named})\n"


def _gemm(options: Options) -> str:
    """`file`, any of `original/`; `half_sums`; `padded`, zeros behind M, N and K."""
    text = f"half_sums={options['half_sums']!r}, padded={shown(options['padded'])}"
    task = f"TASK = GemmTask(ORIGINAL / {shown(options['file'])}, {text})"
    return f"{task}\nagreeing, BASELINES = TASK.agreeing, TASK.baselines\n"


def axes_function(axes: Sequence[tuple[str, str]]) -> str:
    """Return a function that gives every axis of a definition; an axis without an expression is one of the shape."""
    lines = [f"    {variable(name)} = {expression or f'shape[{shown(name)}]'}" for name, expression in axes]
    result = ", ".join(f"{shown(name)}: {variable(name)}" for name, _ in axes)
    head = 'def axes(shape: Any) -> dict[str, int]:\n    """Every axis, from those that the shape names."""'
    return "\n".join([head, *lines, f"    return {{{result}}}"])


def shown(value: Any, indent: int = 0) -> str:
    """Return a value of JSON's kinds as Python, a line an entry where one line is too long."""
    if isinstance(value, str):
        return json.dumps(value) if value.isascii() and value.isprintable() else repr(value)
    if not isinstance(value, dict | list | tuple) or not value:
        return repr(value)
    inner = indent + 4
    entries = (
        [f"{shown(key)}: {shown(one, inner)}" for key, one in value.items()]
        if isinstance(value, dict)
        else [shown(one, inner) for one in value]
    )
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    line = f"{opening}{', '.join(entries)}{closing}"
    if indent + len(line) <= MOST_COLUMNS and "\n" not in line:
        return line
    lines = "".join(f"{' ' * inner}{one},\n" for one in entries)
    return f"{opening}\n{lines}{' ' * indent}{closing}"


MODELS = ("ModuleTask", "FunctionalTask")
"""The tasks of `audit.run.imported_task`; `imported_functions` has the others."""
CONTRACTS: dict[str, tuple[str, Callable[[Options], str]]] = {
    "module": ("ModuleTask", _module),
    "functional": ("FunctionalTask", _functional),
    "backward": ("FunctionalTask", _functional),
    "data": ("DataTask", _data),
    "parts": ("DataTask", _data),
    "definition": ("DefinitionTask", _definition),
    "function": ("FunctionTask", _function),
    "gemm": ("GemmTask", _gemm),
    "benchmark": ("BenchmarkTask", _benchmark),
}
"""How others state a task, and what fills its template; `audit.run.imported_task` says what each needs."""
