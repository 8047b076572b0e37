"""Read the symbol table of a library: the symbols it needs of its device part, and the functions it defines.

The library is neither loaded nor run. nvcc and the fast build give every kernel a host function of the same name. So a
kernel that the profiler lists and the library defines was compiled from the source, whatever macro, template or header
made it; one of torch or of cuBLAS is defined elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from audit.build.cuda.demangle import demangled
from audit.build.cuda.fast_toolchain import listing
from audit.review.cuda_source import CudaSource

_SYMBOL = re.compile(r"(?P<address>[0-9a-fA-F]+) (?P<kind>\S) (?P<name>.+)")
_TORCH_TYPE = re.compile(r"\b(?:c10|at|torch)::")
_VARIABLE = re.compile(r"(?:\(anonymous namespace\)|\w+)(?:::\w+)*")
_DEVICE_VARIABLE = re.compile(
    r"\b__(?:constant|device|managed)__\b(?P<declared>[^;(){}=\[]{0,400}?)\b(?P<name>\w+)\s*(?:\[[^;{}=]{0,400})?[=;{]"
)


@dataclass(frozen=True)
class Symbol:
    """A kernel or variable of the device in a host library: `expression` is its name for NVRTC, e.g. "ns::k<float, 4>"
    or "&weights", `offsets` are its addresses relative to the library's start."""

    expression: str
    offsets: tuple[int, ...]

    @property
    def is_variable(self) -> bool:
        """Whether it is a variable in device memory, not a kernel."""
        return self.expression.startswith("&")

    @property
    def needs_torch(self) -> bool:
        """Whether its template arguments are types of torch, which the device part lacks."""
        return _TORCH_TYPE.search(self.expression) is not None


def symbols(listing: str, *, key: str, variables: frozenset[str]) -> tuple[Symbol, ...]:
    """Return the kernels instantiated in a host library and its shadows of device variables.

    Args:
        listing: its listing by `nm -C`.
        key: the static variable in every kernel's stub.
        variables: names declared `__constant__` or `__device__`, without namespaces.
    """
    rows = [match for line in listing.splitlines() if (match := _SYMBOL.fullmatch(line.strip()))]
    functions = {row["name"]: int(row["address"], 16) for row in rows if row["kind"] in "tTwW"}
    found = []
    for row in rows:
        name, address = row["name"], int(row["address"], 16)
        if name.endswith(f"::{key}"):
            signature = name.removesuffix(f"::{key}")
            own = functions.get(signature, functions.get(f"void {signature}"))  # a local variable: no result type
            expression = _expression(signature)
            found.append(Symbol(expression, (address,) if own is None else (address, own)))
        elif row["kind"] in "bBdDrRuV" and _VARIABLE.fullmatch(name) and name.rpartition("::")[2] in variables:
            found.append(Symbol(f"&{name.replace('(anonymous namespace)::', '')}", (address,)))
    return tuple(sorted(found, key=lambda symbol: symbol.expression))


def offset_of(name: str, listing: str) -> int:
    """Return the offset of a C function in the library. Raises LookupError if there is none of that name."""
    found = re.search(rf"^([0-9a-fA-F]+) T {re.escape(name)}$", listing, re.MULTILINE)
    if found is None:
        raise LookupError(f"the library exports no {name}")
    return int(found[1], 16)


def device_variables(source: CudaSource) -> frozenset[str]:
    """Return the names of variables in device memory that host code may use."""
    return frozenset(match["name"] for match in _DEVICE_VARIABLE.finditer(source.masked))


def _expression(signature: str) -> str:
    """Return `ns::k<float>` for `void ns::k<float>(float const*)`."""
    depth = 0
    opening = len(signature)
    for opening in range(len(signature) - 1, -1, -1):
        depth += (signature[opening] == ")") - (signature[opening] == "(")
        if depth == 0 and signature[opening] == "(":
            break
    name = signature[:opening] or signature  # a C function has no parameters in its name
    return name.removeprefix("void ").replace("(anonymous namespace)::", "").strip()


_FUNCTION = re.compile(r"[0-9a-fA-F]+ [tTwWu] (?P<name>.+)")
_ANONYMOUS = "(anonymous namespace)::"


def plain_name(name: str) -> str:
    """Return the qualified name of a function: `ns::scale` for `void ns::scale<float, 256>(float*, int)`."""
    text = demangled(name).replace(_ANONYMOUS, "").removeprefix("__device_stub__")
    head = re.split(r"[<(]", text, maxsplit=1)[0]
    return head.split(" ")[-1]


@cache
def defined(library: Path) -> frozenset[str]:
    """Return the plain names of all functions that a library defines; empty where its symbols cannot be read."""
    rows = (_FUNCTION.fullmatch(line.strip()) for line in listing(library).splitlines())
    return frozenset(plain_name(row["name"]) for row in rows if row)
