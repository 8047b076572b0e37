"""The `reference.py` of an imported claim: one template a contract, filled with facts about the task's file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pprint import pformat
from typing import Any

from audit.errors import BadInput
from audit.importers.entries import variable
from audit.importers.imported import Reference

_HEAD = '''"""{title}

Written by `audit import`. The task stays in `original/` as it was published; `audit.worker.imported_task` loads it in
the process that makes inputs and right results, and nowhere else. `cost` knows only what a result takes to write: put
in the least flops and bytes of the task to have published times held against the hardware.
"""

from __future__ import annotations

from pathlib import Path
{imports}
from audit.worker.imported_task import {task}

ORIGINAL = Path(__file__).with_name("original")
'''
_TAIL = """
inputs, reference, oracle, cost = TASK.inputs, TASK.reference, TASK.oracle, TASK.cost
"""
Options = Mapping[str, Any]


def reference_py(reference: Reference, *, title: str) -> str:
    """The text of `reference.py`. Raises BadInput for an unknown contract, listing the known ones."""
    if reference.contract not in CONTRACTS:
        raise BadInput(f"contract {reference.contract}: unknown; known: {', '.join(CONTRACTS)}")
    task, body = CONTRACTS[reference.contract]
    imports = "from typing import Any\n" if "Any" in (text := body(reference.options)) else ""
    plain = title.replace("\\", "/").replace('"', "'")
    return _HEAD.format(title=f"The task of: {plain}", task=task, imports=imports) + text + _TAIL


def _module(options: Options) -> str:
    """`file`; `init_inputs`, the constants that `get_init_inputs` of the task returns."""
    return f'''TASK = ModuleTask(ORIGINAL / {options["file"]!r})


def get_init_inputs() -> list[Any]:
    """What the modules are made with, as constants: the build stage reads this and runs nothing."""
    return {list(options["init_inputs"])!r}

'''


def _functional(options: Options) -> str:
    """`file`, `function`; `settings` where `get_inputs` and `Model` take named arguments from a configuration."""
    settings = options.get("settings")
    told = "" if settings is None else f"SETTINGS: dict[str, dict[str, Any]] = {_shown(settings)}\n"
    named = "" if settings is None else ", settings=SETTINGS"
    return f"{told}TASK = FunctionalTask(ORIGINAL / {options['file']!r}, function={options['function']!r}{named})\n"


def _data(options: Options) -> str:
    """`file`; `beside`, for every module that it imports by name the file in `original/`, or None."""
    beside = ", ".join(
        f"{name!r}: {f'ORIGINAL / {file!r}' if file else None}" for name, file in options["beside"].items()
    )
    return f"TASK = DataTask(ORIGINAL / {options['file']!r}, beside={{{beside}}})\n"


def _definition(options: Options) -> str:
    """`file`, `inputs`; `axes`, lines that give every axis; `generator` where the definition names one."""
    generator = f", generator={options['generator']!r}" if options.get("generator") else ""
    return f"""INPUTS: dict[str, dict[str, Any]] = {_shown(options["inputs"])}


{axes_function(options["axes"])}

TASK = DefinitionTask(ORIGINAL / {options["file"]!r}, inputs=INPUTS, axes=axes{generator})
"""


def _function(options: Options) -> str:
    """`file`, `function`."""
    return f"TASK = FunctionTask(ORIGINAL / {options['file']!r}, function={options['function']!r})\n"


def axes_function(axes: Sequence[tuple[str, str]]) -> str:
    """A function that gives every axis of a definition; an axis without an expression is one of the shape."""
    lines = [f"    {variable(name)} = {expression or f'shape[{name!r}]'}" for name, expression in axes]
    result = ", ".join(f"{name!r}: {variable(name)}" for name, _ in axes)
    head = 'def axes(shape: Any) -> dict[str, int]:\n    """Every axis, from those that the shape names."""'
    return "\n".join([head, *lines, f"    return {{{result}}}"])


def _shown(value: Any) -> str:
    return pformat(value, width=110, sort_dicts=False)


CONTRACTS: dict[str, tuple[str, Callable[[Options], str]]] = {
    "module": ("ModuleTask", _module),
    "functional": ("FunctionalTask", _functional),
    "data": ("DataTask", _data),
    "definition": ("DefinitionTask", _definition),
    "function": ("FunctionTask", _function),
}
"""How others state a task, and what fills its template; `audit.worker.imported_task` says what each needs."""
