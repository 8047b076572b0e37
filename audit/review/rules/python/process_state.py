"""Rules about the state of the process around a candidate."""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.python_tree import path
from audit.review.rule import Spot, names, rule

_CONFIGURED = ("torch.backends.", "torch._dynamo.config.", "torch._inductor.config.")
_SETTERS = names("""
    torch.set_float32_matmul_precision torch.use_deterministic_algorithms torch.set_default_dtype
    torch.set_default_device torch.set_default_tensor_type torch.set_num_threads torch.set_flush_denormal
    torch.set_grad_enabled torch.set_warn_always torch.cuda.memory.set_per_process_memory_fraction
""")
_SWITCHES = (
    "torch.backends.cuda.enable_",
    "torch.backends.cuda.preferred_",
    "torch.backends.cuda.sdp_kernel",
    "torch.backends.cudnn.set_flags",
)
_PATCHED = names("torch time builtins sys os numpy statistics inspect gc triton math random timeit importlib")
_SETTINGS = (*_CONFIGURED, "os.environ", "sys.path", "torch.autograd.", "sys.setrecursionlimit")
_PATCHERS = frozenset({"unittest.mock.patch", "unittest.mock.patch.object", "mock.patch", "mock.patch.object"})
_MAKERS = frozenset({"_make_subclass", "_make_wrapper_subclass", "as_subclass"})
_HOOKS = frozenset({"__torch_function__", "__torch_dispatch__"})
_MODES = ("TorchDispatchMode", "TorchFunctionMode")
_SNIFFING = names("""
    inspect.stack inspect.currentframe inspect.getouterframes inspect.trace sys._getframe sys._current_frames
    traceback.extract_stack traceback.walk_stack sys.settrace sys.setprofile threading.settrace psutil.Process
    os.getppid
""")
_NAMES = frozenset({"sys.modules", "sys.argv"})


@rule("backend_flags")
def backend_settings(reading: PythonReading) -> list[Spot]:
    """Is a setting of the whole library changed from within the candidate?

    Silent on reading a setting, and where the last of several changes sets back what a name kept.
    """
    last: dict[str, ast.expr | None] = {}
    lines: list[tuple[int, str, str]] = []
    for node in reading.nodes(ast.Assign):
        for name in (name for name in map(reading.name, node.targets) if name.startswith(_CONFIGURED)):
            lines.append((node.lineno, name, "is changed"))
            last[name] = node.value
    for call, name in reading.calls():
        scoped = isinstance(next(reading.ancestors(call), None), ast.withitem)
        if not scoped and (name in _SETTERS or name.startswith(_SWITCHES)):
            lines.append((call.lineno, name, "changes a setting"))
            last[name] = call.args[-1] if call.args else None
    several = {name for _, name, _ in lines if sum(other == name for _, other, _ in lines) > 1}
    restored = {name for name in several if isinstance(last[name], ast.Name)}
    return [
        Spot(line, f"{name} {result} for everything in the process")
        for line, name, result in lines
        if name not in restored
    ]


@rule("untouched_process")
def patched_names(reading: PythonReading) -> list[Spot]:
    """Is a function of the library, of a timer or of the interpreter replaced?

    Silent on settings (`backend_settings` asks about those) and on attributes of the file's own objects.
    """
    assigned = [target for node in reading.nodes(ast.Assign) for target in node.targets]
    spots = [
        Spot(target.lineno, f"{name} is replaced for everything in the process")
        for target in (*assigned, *(node.target for node in reading.nodes(ast.AugAssign)))
        if isinstance(target, ast.Attribute)  # a plain name only hides an import
        and (name := reading.name(target))
        and "." in name
        and _foreign(reading, target, name)
    ]
    for call, called in reading.calls():
        first = reading.name(call.args[0]) if call.args else ""
        if called in _PATCHERS:
            spots.append(Spot(call.lineno, f"{called} replaces a name for everything in the process"))
        elif called in ("setattr", "builtins.setattr") and call.args and _foreign(reading, call.args[0], f"{first}."):
            spots.append(Spot(call.lineno, f"setattr replaces a name of {first} for everything in the process"))
    return spots


def _foreign(reading: PythonReading, node: ast.expr, name: str) -> bool:
    """Return whether a dotted name starts at an imported module of the list and is no setting."""
    root, _ = path(node)
    imported = isinstance(root, ast.Name) and (root.id in reading.modules or root.id == "builtins")
    return imported and name.split(".", maxsplit=1)[0] in _PATCHED and not name.startswith(_SETTINGS)


@rule("contract")
def tensor_subclass(reading: PythonReading) -> list[Spot]:
    """Does the file make tensors of a class of its own, which may compute when somebody looks?

    Silent on modules, parameters and `autograd.Function`.
    """
    found: dict[int, str] = {}
    for node in reading.nodes(ast.ClassDef):
        bases = [reading.name(base) for base in node.bases]
        if any(base == "torch.Tensor" or base.endswith(_MODES) for base in bases):
            found[node.lineno] = f"class {node.name} stands in for a tensor"
    for function in reading.functions:
        if function.name in _HOOKS:
            found[function.lineno] = f"{function.name} runs whenever an operator sees such an object"
    for call, name in reading.calls():
        if name.rpartition(".")[2] in _MAKERS:
            found.setdefault(call.lineno, f"{name.rpartition('.')[2]} makes a tensor of another class")
    return [Spot(line, result) for line, result in found.items()]


@rule("agreement")
def harness_sniffing(reading: PythonReading) -> list[Spot]:
    """Does the candidate look at who calls it?

    Silent on variables of the environment, which `environment_variable` asks about, and on paths of modules.
    """
    found = {call.lineno: name for call, name in reading.calls() if name in _SNIFFING}
    for node in reading.nodes(ast.Attribute):
        name, above = reading.name(node), next(reading.ancestors(node), None)
        stored = isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Store | ast.Del)
        if name in _NAMES and not stored:
            found.setdefault(node.lineno, name)
        elif name.endswith((".f_back", ".f_globals", ".f_locals", ".gi_frame")):
            found.setdefault(node.lineno, name.rpartition(".")[2])
    return [Spot(line, f"{name} tells the candidate who calls it") for line, name in found.items()]
