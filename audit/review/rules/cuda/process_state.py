"""Does the candidate look at, or reach into, the process that judges it?

Silent on properties of the device and on settings read through the library.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_CALLS = frozenset(
    [
        "getenv",
        "secure_getenv",
        "setenv",
        "putenv",
        "dlopen",
        "dlsym",
        "dlvsym",
        "ptrace",
        "mprotect",
        "process_vm_readv",
        "process_vm_writev",
        "PyRun_SimpleString",
        "PyRun_String",
        "PyImport_ImportModule",
        "PyEval_GetFrame",
        "PyEval_GetBuiltins",
        "PyThreadState_Get",
    ]
)
_SCOPES = frozenset({("py::module_", "import"), ("py::module", "import"), ("pybind11::module_", "import")})
_EVALUATE = frozenset({"py", "pybind11"})


def find(reading: CudaReading) -> list[Spot]:
    """Calls into the environment, the loader or the interpreter."""
    used = [
        call
        for call in reading.calls
        if call.name in _CALLS
        or (call.scope, call.name) in _SCOPES
        or (call.scope in _EVALUATE and call.name in ("exec", "eval", "globals", "eval_file"))
    ]
    return [Spot(call.line, f"{call.name} reaches into the process around the candidate") for call in used]


RULE = Rule("process_state", __doc__, "untouched_process", find)
