"""Is a setting of the whole library changed from within the candidate?

Silent on reading a setting, and where the last of several changes sets back what a name kept.
"""

from __future__ import annotations

import ast

from audit.review.python_reading import PythonReading
from audit.review.rule import Rule, Spot, names

_HOMES = ("torch.backends.", "torch._dynamo.config.", "torch._inductor.config.")
_CALLS = names("""
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


def find(reading: PythonReading) -> list[Spot]:
    """Assignments to settings and calls that set them, where the last one does not set back what a name kept."""
    last: dict[str, ast.expr | None] = {}
    lines: list[tuple[int, str, str]] = []
    for node in reading.nodes(ast.Assign):
        for name in (name for name in map(reading.name, node.targets) if name.startswith(_HOMES)):
            lines.append((node.lineno, name, "is changed"))
            last[name] = node.value
    for call, name in reading.calls():
        scoped = isinstance(next(reading.ancestors(call), None), ast.withitem)
        if not scoped and (name in _CALLS or name.startswith(_SWITCHES)):
            lines.append((call.lineno, name, "changes a setting"))
            last[name] = call.args[-1] if call.args else None
    several = {name for _, name, _ in lines if sum(other == name for _, other, _ in lines) > 1}
    restored = {name for name in several if isinstance(last[name], ast.Name)}
    return [
        Spot(line, f"{name} {result} for everything in the process")
        for line, name, result in lines
        if name not in restored
    ]


RULE = Rule("backend_settings", __doc__, "backend_flags", find)
