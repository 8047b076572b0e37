"""Code that an import writes: an entry of ours behind an untouched source of another calling convention, and the
`reference.py` of a claim, one template a contract, filled with facts about the task's file."""

from __future__ import annotations

import ast
import json
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from audit.claims import ADDED
from audit.claims.importers.facts import Reference
from audit.review.token_scan import mask

ENTRY = "audited_entry"
"""The function our lines add; no source has it."""
CUDA_MARK, MARK = f"\n\n// {ADDED}", f"\n\n# {ADDED}\n"
TYPES, HEADER = "torch/types.h", "torch/extension.h"
_OF_TORCH = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch|ATen)/", re.MULTILINE)
_GIVES_TENSORS = re.compile(
    r"^[ \t]*(?:inline\s+)?(?:(?:torch|at)::Tensor|std::(?:vector|tuple)<[^;{}()]*Tensor[^;{}()]*>)\s+(\w+)\s*"
    r"\([^;{}]*\)\s*\{",
    re.MULTILINE,
)

_BINDS_ITS_ARGUMENT = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>\w+)\([ \t]*(?P<name>\w+)[ \t]*\)(?:\\\r?\n|[^\n])*?"
    r"\bdef\(\s*(?:#\s*(?P=name)|\w+\(\s*(?P=name)\s*\))\s*,",
    re.MULTILINE,
)
"""A macro that binds the function it is given under its own name."""


def of_one_tuple(data: bytes, function: str) -> bytes:
    """Return a Python source whose function takes all its inputs as one tuple."""
    lines = [
        f"def {ENTRY}(*data):",
        '    """Hands the inputs on as the one tuple that the source takes."""',
        f"    return {function}(data if len(data) > 1 else data[0])",
    ]
    return data + (MARK + "\n\n" + "\n".join(lines) + "\n").encode()


def beside_reference(data: bytes, reference: bytes, lines: str) -> bytes:
    """Return a Python source with a class `ModelNew` of ours (`lines`) in it, which needs the reference's module.

    The statements of the reference stand in `_stated(*arguments)`, which makes its `Model`.
    """
    stated = ast.parse("import torch").body + ast.parse(reference).body
    body = [node for node in stated if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
    made: Any = ast.parse("def _stated(*arguments):\n    torch.manual_seed(42)\n    return Model(*arguments)\n")
    made.body[0].body[:0] = body
    return data + f"{MARK}\n\n{ast.unparse(ast.fix_missing_locations(made))}\n\n\n{lines}".encode()


def inline(text: str, *, cpp: str, name: str, functions: Sequence[str] | None, flags: Sequence[str]) -> bytes:
    """Return a Python source that builds `_EXTENSION` from texts, each as it was published."""
    head = "# Written by `audit import` around texts that stand in `original/`; they are the same here.\n"
    texts = f"_CUDA = {literal(text)}\n_CPP = {literal(cpp)}\n"
    named = "" if functions is None else f", functions={json.dumps(list(functions))}"
    flagged = f", extra_cuda_cflags={json.dumps(list(flags))}" if flags else ""
    built = f"_EXTENSION = load_inline({json.dumps(name)}, cpp_sources=_CPP, cuda_sources=_CUDA{named}{flagged})\n"
    return f"{head}from torch.utils.cpp_extension import load_inline\n\n{texts}{built}".encode()


def bound(text: str) -> list[str]:
    """Return the functions that a CUDA source binds for Python, in order, also by a macro of its own."""
    macros = "|".join(one["macro"] for one in _BINDS_ITS_ARGUMENT.finditer(text))
    module = text.find("PYBIND11_MODULE") if macros else -1
    used = re.compile(rf"\b(?:{macros})\(\s*(\w+)\s*\)").finditer(text, module) if module >= 0 else ()
    found = {one.start(): one[1] for one in (*re.finditer(r"\bm\.def\(\s*\"(\w+)\"", text), *used)}
    return [found[place] for place in sorted(found)]


def unbound(text: str) -> str | None:
    """Return the one function of a CUDA source that returns tensors and that no other calls; None for several."""
    code = mask(text).masked
    names = [name for name in _GIVES_TENSORS.findall(code) if not re.search(rf"(?<!Tensor)(?<!>)[^\w:]{name}\b", code)]
    return names[0] if len(names) == 1 else None


def with_binding(data: bytes, function: str) -> bytes:
    """Return a CUDA source with a binding of that function behind it, and with the headers that `load_inline` adds:
    names of torch mean another thing behind those that a binding needs."""
    line = f'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("{function}", &{function}); }}'
    first = b"" if _OF_TORCH.search(data) else f"#include <{TYPES}>\n".encode()
    header = "" if HEADER.encode() in data else f"#include <{HEADER}>\n"
    return first + data + f"{CUDA_MARK}\n{header}{line}\n".encode()


def literal(text: str) -> str:
    """Return a Python literal of a text; raw and over several lines where possible, so that lines can be counted."""
    plain = all(character.isprintable() or character in "\n\t" for character in text)
    raw = plain and "'''" not in text and not text.endswith(("'", "\\"))
    return f"r'''{text}'''" if raw else repr(text)


def plain_name(name: Any) -> bool:
    """Return whether a foreign name may stand in generated code."""
    return isinstance(name, str) and name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def variable(axis: str) -> str:
    """Return the variable of an axis in generated code, where no foreign name may shadow another."""
    return f"axis_{axis}"


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
    """`file`; `init_inputs`, the text of what `get_init_inputs` of the task returns, made of constants and of the names
    in `sizes`; `fixed`, sizes for all shapes; `tied`, places of tuples that change with a size."""
    fixed = "".join(f", {name}={shown(options[name])}" for name in ("fixed", "tied") if options.get(name))
    sizes = ", ".join(f"{name}: int = {size}" for name, size in options["sizes"].items())
    return f'''TASK = ModuleTask(ORIGINAL / {shown(options["file"])}{fixed})


def get_init_inputs({sizes}) -> list[Any]:
    """What the modules are made with: the build stage reads this and runs nothing."""
    return {options["init_inputs"]}

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
    parts = (
        [f"{shown(key)}: {shown(one, inner)}" for key, one in value.items()]
        if isinstance(value, dict)
        else [shown(one, inner) for one in value]
    )
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    line = f"{opening}{', '.join(parts)}{closing}"
    if indent + len(line) <= MOST_COLUMNS and "\n" not in line:
        return line
    lines = "".join(f"{' ' * inner}{one},\n" for one in parts)
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
