"""robust-kbench: a task folder with `func_forward.py`, `config_forward.json` and `forward.cu`, or the same of backward.

`Model` hands its parameters to `forward_fn`, which the kernel's `forward` stands in for; the configurations hold the
named arguments of `get_inputs` and of `Model`. A kernel that binds `backward` stands in for the gradients of
`forward_fn`, called as `AutogradFunction` of `func_backward.py` calls it. Compiled with `-O3 --use_fast_math`, held to
atol = rtol = 1e-5 by default (`robust_kbench/primitives/forward/cuda_correct.py` and that of backward, 2025).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from audit.claims.importers import entries, facts, module_task, sizes
from audit.claims.importers.material import Material
from audit.claims.python_text import PythonText
from audit.model.errors import BadInput
from audit.review.python_tree import last_name

TAKES = "a task folder: `func_forward.py`, `config_forward.json`, `forward.cu`, or the same three of `backward`"
LACKS = ("reference.py cost", "speedup")
CLASS, KERNEL = "AutogradFunction", "backward_fn"
_Made = tuple[str, Any]
"""A name that forward binds, and the expression."""
_PLAIN_CALLS = {"tuple", "list", "len", "int", "float", "bool", "size", "dim", "numel"}
_task, _config = "func_{}.py".format, "config_{}.json".format
FORWARD, BACKWARD, FUNCTION = "forward", "backward", "forward_fn"
ADDED = f"a function of the forward pass's arguments with the statements of {CLASS}.backward"
FLAGS = ("-O3", "--use_fast_math")
TOLERANCE = facts.Tolerance(1e-5, f"robust-kbench's default, atol = rtol = 1e-5; {facts.UP_TO}", absolute=1e-5)


def matches(material: Material) -> bool:
    """Return whether a file is called `func_forward.py` or `func_backward.py` and defines `forward_fn`."""
    tasks = [_task(FORWARD), _task(BACKWARD)]
    return any(PurePath(name).name in tasks and FUNCTION in one.functions for name, one in material.python.items())


def read(material: Material, given: facts.Given) -> facts.Imported:  # noqa: ARG001  # there are no figures to ask a unit of
    """Return the task with its kernel. Raises BadInput for no or several of them, or a broken configuration."""
    kernel, way = _kernel(material)
    task = _original(material, _task(way))
    text = PythonText(task.data, where=task.published_as)
    settings, others = _settings(material, way)
    sources = [kernel.data.decode()]
    shapes, choices = _shapes(text, settings, others, sources)
    config = [_original(material, _config(way))] if settings is not None else []
    absent = module_task.absent(text, "get_inputs", where=task.file)
    folder = material.paths[0].resolve().name
    name = module_task.named_after(folder)
    claimed, reference = _claimed(kernel, text, way)
    return facts.Imported(
        format="robust_kbench",
        provenance=f"{folder}: {kernel.published_as}",
        name=name,
        title=f"robust-kbench, {name.replace('_', ' ')}, {way}",
        task=module_task.first_line(text),
        dtype=text.dtype_of("get_inputs"),
        originals=(task, *config, facts.Original(f"{way}.cu", kernel.data, kernel.published_as)),
        claimed=claimed,
        reference=replace(reference, options={"file": task.file, "settings": settings, **reference.options}),
        shapes=shapes,
        flags=FLAGS,
        tolerance=TOLERANCE,
        missing=(facts.NO_COST, facts.NO_FIGURES, *([] if shapes.emulated else [facts.NO_SHAPE]), *absent),
        choices=(
            *(f"{key}: robust-kbench's default" for key in ("tolerance", "protocol.flags")),
            *_left(material, kernel),
            *choices,
        ),
    )


def _kernel(material: Material) -> tuple[facts.Original, str]:
    """Return the kernel and whether it is a forward or a backward one; of both in a folder, the forward one."""
    kernels = [material.original(name) for name in material.named(".cu")]
    back = [one for one in kernels if BACKWARD in entries.bound(one.data.decode())]
    kernels = [one for one in kernels if one not in back] or back
    way = BACKWARD if kernels == back and back else FORWARD
    return material.only(kernels, what=f"{way} kernel (.cu)"), way


def _left(material: Material, kernel: facts.Original) -> list[str]:
    """Return that the folder's other kernel is a claim of its own."""
    others = [name for name in material.named(".cu") if name != kernel.published_as]
    beside = f"{_task(BACKWARD)} {_config(BACKWARD)}"
    return [f"{name} is left out: a claim of its own, audit import {name} {beside}" for name in others]


def _claimed(kernel: facts.Original, text: PythonText, way: str) -> tuple[facts.Claimed, facts.Reference]:
    """Return the kernel as it is called, and the task without its file."""
    how = f"{way}.cu as published"
    if way == FORWARD:
        return facts.Claimed("claimed.cu", kernel.data, way, how), facts.Reference("functional", {"function": FUNCTION})
    found = _backward(text, call=f"_EXTENSION.{BACKWARD}")
    built = entries.inline(kernel.data.decode(), cpp="", name=BACKWARD, functions=None, flags=FLAGS)
    claimed = facts.Claimed("claimed.py", built + f"\n\n{found.text}".encode(), entries.ENTRY, how, ADDED)
    return claimed, facts.Reference("backward", {"function": FUNCTION, "wanted": found.wanted})


def _original(material: Material, file: str) -> facts.Original:
    found = [material.original(name) for name in material.files if PurePath(name).name == file]
    return material.only(found, what=file)


Settings = dict[str, dict[str, Any]]


def _settings(material: Material, way: str) -> tuple[Settings | None, list[dict[str, int]]]:
    """Return the named arguments of the single configuration, and the sizes of the others; None without one."""
    names = [name for name in material.files if PurePath(name).name == _config(way)]
    if not names:
        return None, []
    config = material.document(names[0])
    if not isinstance(config, dict):
        raise BadInput(f"{names[0]}: no JSON object but {type(config).__name__}")
    shared = _first(config, "single_shared_configs")
    inputs, init = ({**shared, **_first(config, f"single_{of}_configs")} for of in ("input", "init"))
    others = config.get("multi_input_configs")
    listed = others if isinstance(others, list) else []
    return {"inputs": inputs, "init": init}, [_integers(one) for one in listed if isinstance(one, dict)]


def _first(config: Mapping[str, Any], key: str) -> dict[str, Any]:
    listed = config.get(key)
    first = listed[0] if isinstance(listed, list) and listed else {}
    return {str(name): value for name, value in first.items()} if isinstance(first, dict) else {}


def _integers(settings: Mapping[str, Any]) -> dict[str, int]:
    return {name: value for name, value in settings.items() if type(value) is int and value > 0}


def _shapes(
    text: PythonText, settings: Settings | None, others: list[dict[str, int]], sources: list[str]
) -> tuple[facts.Shapes, list[str]]:
    """Return the integers of the configuration as sizes; those of the file where there is no configuration."""
    if settings is None:
        return sizes.of_module(text, apart=[FUNCTION], made_with=["get_init_inputs"], sources=sources)
    given = text.functions.get("get_inputs")
    arguments = [each.arg for each in given.args.args] if given else []
    claimed = _integers({**settings["init"], **settings["inputs"]})
    inputs = {name: size for name, size in claimed.items() if name in arguments or name in settings["inputs"]}
    shapes, choices = sizes.smaller(inputs or sizes.PLAIN, sources=sources)
    same = tuple({**shapes.claimed, **one} for one in others if set(one) <= set(shapes.claimed))
    return replace(shapes, others=tuple(one for one in same if one != shapes.claimed)), choices


@dataclass(frozen=True)
class Backward:
    """The function as source, and the places among the forward pass's arguments of those that get a gradient."""

    text: str
    wanted: tuple[int, ...]


def _backward(text: PythonText, *, call: str) -> Backward:
    """Return the backward pass of the class `AutogradFunction`, where the expression `call` stands for its kernel.
    Raises BadInput: there is no such class, or forward saves what it computes."""
    body = text.classes[CLASS].body if CLASS in text.classes else []
    methods = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
    for name in ("forward", "backward"):
        if name not in methods:
            raise BadInput(f"{text.where}: no class {CLASS} with {name}; write it there")
    forward, back = methods["forward"], methods["backward"]
    context, *parameters = [one.arg for one in forward.args.args]
    own = [one.arg for one in back.args.args]
    last = back.body[-1]
    if len(own) != 2 or own[1] in parameters or not isinstance(last, ast.Return) or last.value is None:
        raise BadInput(f"{text.where}: backward of {CLASS} takes ctx and one gradient and ends with a return")
    results = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    wanted = tuple(place for place, one in enumerate(results) if ast.unparse(one) != "None")
    if not wanted or len(results) != len(parameters):
        counts = f"{len(results)} gradients for {len(parameters)} arguments"
        raise BadInput(f"{text.where}: backward of {CLASS} returns {counts}; return one for each, or None")
    lines = [f"def {entries.ENTRY}({', '.join((*parameters, own[1]))}):"]
    lines += [f"    {line}" for line in _saved(text, forward, context, parameters)]
    inlined = _Inlined(own[0], call)
    lines += [f"    {ast.unparse(inlined.visit(one))}".replace("\n", "\n    ") for one in back.body[:-1]]
    lines += [f"    return {', '.join(ast.unparse(inlined.visit(results[place])) for place in wanted)}"]
    return Backward("\n".join(lines) + "\n", wanted)


def _saved(text: PythonText, forward: ast.FunctionDef, context: str, parameters: Sequence[str]) -> list[str]:
    """Return lines that bind what forward keeps in its context, and before them what that is made of."""
    lines: dict[str, None] = {}
    made: list[_Made] = []
    for node in forward.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        value = getattr(node, "value", None)
        if isinstance(node, ast.Return) or (isinstance(value, ast.Constant) and isinstance(node, ast.Expr)):
            continue
        if isinstance(target, ast.Name):
            made.append((target.id, value))
        elif isinstance(target, ast.Attribute) and last_name(target.value) == context:
            lines |= _kept(text, target.attr, value, made, parameters)
        elif isinstance(value, ast.Call) and last_name(value.func) == "save_for_backward":
            lines |= _kept(text, "saved_tensors", ast.Tuple(value.args, ast.Load()), made, parameters)
        else:
            raise BadInput(
                f"{text.where}: line {node.lineno} of {CLASS}.forward is no plain assignment; write it as one"
            )
    return list(lines)


def _kept(text: PythonText, name: str, value: Any, made: Sequence[_Made], parameters: Sequence[str]) -> dict[str, None]:
    """Return the line that binds a kept value, behind those that it needs."""
    needed = _needed(text, value, made, parameters)
    return dict.fromkeys([*needed, f"_{name} = {ast.unparse(value)}"])


def _needed(text: PythonText, value: ast.expr, made: Sequence[_Made], parameters: Sequence[str]) -> list[str]:
    """Return lines for what a kept value is made of beside parameters. Raises BadInput: it is computed, or a parameter
    is bound anew before it."""
    lines: list[str] = []
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and last_name(node.func) not in _PLAIN_CALLS:
            raise BadInput(_computed(text, ast.unparse(node)))
        if isinstance(node, ast.Name) and node.id not in _PLAIN_CALLS:
            places = [place for place, (name, _) in enumerate(made) if name == node.id]
            if bool(places) is (node.id in parameters) or len(places) > 1:
                raise BadInput(_computed(text, node.id))
            for place in places:
                inner = made[place][1]
                lines += [*_needed(text, inner, made[:place], parameters), f"{node.id} = {ast.unparse(inner)}"]
    return lines


def _computed(text: PythonText, what: str) -> str:
    return f"{text.where}: {CLASS} keeps {what[:40]}, which forward computes; keep its arguments alone"


class _Inlined(ast.NodeTransformer):
    """Puts names in the place of the context's attributes, and the kernel in the place of `backward_fn`."""

    def __init__(self, context: str, call: str) -> None:
        self._context, self._call = context, call

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # the parser's name
        """Return what stands for an attribute."""
        if node.attr == KERNEL:
            return ast.parse(self._call, mode="eval").body
        if last_name(node.value) == self._context and isinstance(node.value, ast.Name):
            return ast.Name(f"_{node.attr}", node.ctx)
        return self.generic_visit(node)
