"""What the log of a compiler that refuses a source asks for: a larger header set, a refusal, or the error of nvcc."""

from __future__ import annotations

import re

from audit.build.emulated import prepared, rewrite_variables, toolchain
from audit.build.emulated.prepared import HeaderSet
from audit.model.errors import Unsupported

_MISSING = re.compile(
    r"error: .*(?:not a member of|has not been declared|was not declared|does not name a|No such file|incomplete type"
    r"|is not a class|expected constructor|no matching function|invalid initialization of reference)"
)
_UNDECLARED = re.compile(r"[‘'](\w+)[’'] was not declared")
_OF_A_LIBRARY = re.compile(r"(?::(?P<line>\d+))?:\d+: error: .*(?:\b(?P<cub>cub::)|[‘'](?P<name>(?i:cublas)\w+))")
_DYNAMIC = (
    rf"[‘'](?P<{{}}>[^’'\n]*?)(?:\w+::|{{{{anonymous}}}}::)*{rewrite_variables.DYNAMIC}(?P<{{}}>\w+)(?P<{{}}>[^’'\n]*)"
)
_TWO_TYPES = re.compile(
    r"^(?P<place>\S+:\d+):\d+: error: (?:conflicting declaration )?"
    + _DYNAMIC.format("new", "name", "dims")
    + r"[’'].*?\n\S+: note: previous declaration (?:as )?"
    + _DYNAMIC.format("old", "also", "past"),
    re.MULTILINE | re.DOTALL,
)
_TORCH_NAME = re.compile(r"\b(?:torch|at|c10|py|pybind11|ATen)\b|of [‘']std[’']|TORCH_|\bAT_|PYBIND11|cuemu::Convert")


def two_types(log: str) -> str:
    """Return the error of nvcc about an `extern` array of two types, as one line; empty if there is none."""
    if not (found := _TWO_TYPES.search(log)):
        return ""
    types = f"{found['old'].strip()} {found['past'].strip()} and {found['new'].strip()} {found['dims'].strip()}"
    return (
        f"{found['place']}: error: extern __shared__ {found['name']} is declared with two types, {types}, in one "
        "namespace, so nvcc refuses this source\n"
    )


def next_header_set(header_set: HeaderSet, log: str) -> HeaderSet | None:
    """Return the next header set if it may declare the missing names, which are torch's or pybind's."""
    missing = any(_MISSING.search(line) and _is_torch_name(line) for line in log.splitlines())
    if not missing or header_set == prepared.HEADER_SETS[-1] or toolchain.python_include() is None:
        return None
    return prepared.HEADER_SETS[prepared.HEADER_SETS.index(header_set) + 1]


def lacking(log: str) -> Unsupported | None:
    """Return the refusal of a call of CUB or cuBLAS that our headers lack, if the compiler's errors are about one."""
    if not (found := _OF_A_LIBRARY.search(log)):
        return None
    library = "CUB" if found["cub"] else found["name"]
    return Unsupported(f"a form of {library} that the emulated device lacks", line=int(found["line"] or 0))


def _is_torch_name(line: str) -> bool:
    """Return whether a message contains a name of torch, or the bare name of one of its operators."""
    bare = _UNDECLARED.search(line)
    operators = toolchain.find().torch / "include/ATen/ops"
    return bool(_TORCH_NAME.search(line)) or bool(bare and (operators / f"{bare[1]}.h").is_file())
