"""The allowlist of `reach`, which `reach.toml` holds: modules, names and attributes that a kernel module needs.

A name that no list holds reaches beyond. Published kernels decided what the lists hold.
"""

from __future__ import annotations

import builtins
import re
import sys
import tomllib
from pathlib import Path

from audit.review.rule import names

_LISTS = tomllib.loads(Path(__file__).with_name("reach.toml").read_text(encoding="utf-8"))
_TABLES = {kind: {place: names(text) for place, text in _LISTS.pop(kind).items()} for kind in ("modules", "parts")}
_NAMES = {kind: names(text) for kind, text in _LISTS.items()}
ANY = frozenset({"*"})
"""In `MODULES`: every public name, but for modules of Python's library and those of `BEYOND`."""
READABLE, UNREADABLE, STORABLE = (_NAMES[kind] for kind in ("readable", "unreadable", "storable"))
DEFINABLE = (READABLE - {"__name__", "__class__"}) | _NAMES["definable"]
ONLY_CALLED, OWN_PRIVATE = _NAMES["only_called"], _NAMES["own_private"]
CLASSES, TAKES_CLASSES = _NAMES["classes"], _NAMES["takes_classes"]
BEYOND, PRIVATE, SHARED = _NAMES["beyond"], _NAMES["private"], _NAMES["shared"]
PRIVATE_BELOW, SETTINGS = tuple(_NAMES["private_below"]), tuple(_NAMES["settings"])
LIBRARY = frozenset(sys.stdlib_module_names) | {"torch"}
"""Modules that others import and so hold: those of Python's library, and torch itself."""
BUILTINS = _NAMES["builtins"] | {
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
}
PARTS = dict.fromkeys(_NAMES["whole_parts"], ANY) | _TABLES["parts"]
MODULES = dict.fromkeys(_NAMES["whole"], ANY) | _TABLES["modules"] | {"builtins": BUILTINS - ONLY_CALLED - {"type"}}
ALL_MODULES = {**MODULES, **PARTS}

CPP = re.compile(r"#\s*include|__global__|\btorch::|\bat::|PYBIND11|\b(?:void|int|float|extern)\b[^;]{0,200}\(")
"""A string constant that may be C++."""
_C_API = r"""
    PyLong_\w+|PyFloat_\w+|PyBool_\w+|PyComplex_\w+|PyUnicode_(?:As|From)\w+|PyIndex_Check
    |Py(?:Tuple|List)_(?:New|Pack|Size|GET_SIZE|GetItem|GET_ITEM|SetItem|SET_ITEM|GetSlice|Append|Check|CheckExact|AsTuple)
    |PyArg_(?:Parse\w*|VaParse\w*|UnpackTuple)|Py_BuildValue|PyCapsule_(?:New|GetPointer|IsValid|CheckExact)
    |PyErr_(?:SetString|Format|SetNone|Occurred|Clear|NoMemory|BadArgument|ExceptionMatches)|PyExc_\w+
    |PyModule_(?:Create2?|Add\w+)|PyModuleDef_(?:HEAD_INIT|Init)|PyMODINIT_FUNC|(?<=PyMODINIT_FUNC\ )PyInit_\w+
    |PyObject|Py_(?:ssize_t|hash_t|None|True|False|RETURN_\w+|UNUSED|LIMITED_API|BEGIN_ALLOW_THREADS|END_ALLOW_THREADS)
    |Py_(?:X?INCREF|X?DECREF|X?NewRef|CLEAR|IsNone|IsTrue|IsFalse)|THPVariable_(?:Unpack|Wrap|Check|CheckExact)
"""
"""Names of Python's C API that a hand-made binding needs: numbers, containers, arguments, errors and its own module."""
_OF_PYTHON = rf"""
    \b(?!(?:{_C_API})\b)(?:_?Py(?:[A-Z]\w*_\w+|_\w+|\w*Object|ThreadState|InterpreterState)\b | THP\w+) | \bob_type\b
    |\b(?:py|pybind11)\s*::\s*(?:exec|eval\w*|globals|builtins|weakref|function|cpp_function|import|type)\b
    |\bmodule_?\s*::\s*import\b | (?:\.|->|::)\s*attr\s*\( | \b(?:get|set|has|del)attr\s*\(
"""
CPP_OF_PYTHON = re.compile(
    rf"""{_OF_PYTHON} | :: \s* attr\b | \b_*weakref_*\b | \bpyobj_\w+ | \bPyInterpreter\b
      |\busing\s+namespace\s+(?:\w+\s*::\s*)*(?:py|pybind11)\s*;
      |\bnamespace\s+(?!py\b)\w+\s*=\s*[\w:\s]*\b(?:py|pybind11)\s*;
      |\b(?:py|pybind11)\s*::\s*(?:object_api|accessor|handle|reinterpret_(?:borrow|steal)|detail)\b""",
    re.VERBOSE,
)
"""Names of C++ that use the interpreter beyond a binding, in a text whose macros are expanded."""
CPP_BEYOND = re.compile(
    rf"""\b(?:dlopen|dlsym|dlmopen|dlvsym|dl_iterate_phdr|mprotect|pkey_mprotect|mremap|mmap|syscall|ptrace|v?fork|execv\w*
      |process_vm_\w+|system|popen|pthread_create|sigaction|setitimer|timer_create|timerfd_create|atexit|fopen|freopen
      |at_quick_exit|on_exit|__cxa_atexit|setjmp|longjmp|backtrace)\s*\(
      |\bstd::(?:thread|jthread|async|[io]?fstream|system|signal|raise)\b
      |{_OF_PYTHON}
      |\bTORCH_LIBRARY_(?:IMPL|FRAGMENT)\s*\(\s*(?:aten|_)\b | \bDispatcher\b | \bRegisterOperators\b
      |\badd(?:Global|ThreadLocal)Callback\b
      |\b(?:constructor|destructor|ifunc)\b(?=\s*(?:\(\s*\d*\s*\))?\s*\)\s*\))
      |\bcudaLaunchHostFunc\b | \bcudaStreamAddCallback\b | \bcuLaunchHostFunc\b""",
    re.VERBOSE,
)
"""Names of C++ that load or change other code, run beside or behind a call, or use the interpreter beyond a binding."""
