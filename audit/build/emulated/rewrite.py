"""Rewrite a CUDA source to C++ for the host compiler and the emulation headers.

Only constructs outside C++ are replaced: launches, shared memory, and the few host expressions that require a GPU.
Every line keeps its line number.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from audit.build.emulated import rewrite_functions, rewrite_variables, toolchain
from audit.build.emulated.edits import Edit, apply, line_marker, quoted
from audit.build.settings import DEVICE_PREFIX as NAME
from audit.model import untrusted
from audit.model.errors import BadInput, Unsupported
from audit.review.cuda_source import CudaSource, Launch, parse
from audit.review.token_scan import LONGEST, matching, split_commas
from audit.review.unsupported import is_refused_header, unsupported

_CONDITIONALS = ("preproc_if", "preproc_ifdef")
_OWN_NAME = re.compile(NAME, re.IGNORECASE)
_DISPATCH = re.compile(r"\b(?:AT|THO)_DISPATCH_\w+\s*\(")
_TYPE_CALL = re.compile(r"(?:\.|->)\s*(?P<type>type\s*\(\s*\))\s*\Z")
_HOST_EXPRESSIONS = (
    (re.compile(r"\bDeviceType\s*::\s*(?P<changed>CUDA)\b"), "CPU"),
    (re.compile(r"(?P<changed>\.\s*type\s*\(\s*\))\s*\.\s*is_cuda\s*\("), ""),
    # Torch's 16-bit types have these members for nvcc alone.
    (
        re.compile(r"(?P<changed>(?:\.|->)\s*operator\s+(?P<type>__half|half|(?:__)?nv_bfloat16)\s*\(\s*\))"),
        r"->*::cuemu::To<\g<type>>()",
    ),
)
_DEVICE_NAME = re.compile(r'\b[Dd]evice\s*[({]\s*(?P<changed>"cuda(?::\d+)?")')
_VOID = r"(?:const\s+)?void\s*(?:const\s*)?\*\s*"
_KERNEL_CAST = re.compile(
    rf"\bcudaLaunchKernel\s*\(\s*(?P<cast>\(\s*{_VOID}\)|(?:reinterpret|static)_cast\s*<\s*{_VOID}>)"
)
_ADDRESS = re.compile(
    rf"(?:(?P<cast>\(\s*{_VOID}\))\s*|(?P<call>(?:reinterpret|static)_cast\s*<\s*{_VOID}>)\s*\(\s*)"
    r"&?\s*(?:\w+\s*::\s*)*(?P<name>\w+)"
)
_COPY = re.compile(r"(?<![\w.>:])(?:(?:std\s*)?::\s*)?(?:__builtin_)?(?P<name>mem(?:cpy|move|set))(?=\s*\()")
_OF_NVCC = re.compile(r"\b__(?P<name>CUDACC|NVCC|CUDACC_VER_(?:MAJOR|MINOR)|CUDA_ARCH)__(?!\w)")
"""Macros that nvcc defines, renamed: under their names, torch's own headers would hold what g++ does not take."""
_IN_EVERY_SET = frozenset(f"torch/{name}.h" for name in ("all", "extension", "python", "torch", "types"))
_MOST_HEADERS = 100
_MACRO = re.compile(r"-(?P<kind>[DU])(?P<name>\w+)(?:=(?P<value>.*))?")
_OPERATOR = re.compile(r"\b(?:torch|at)\s*::\s*(?P<name>[a-z_]\w*)\s*\(")


def rewrite(source: CudaSource, *, name: str, prefix: str = NAME) -> str:
    """Return the C++ text of the source for the emulated device. Raises Unsupported if it contains the device's own
    name.

    Args:
        source: the parsed source.
        name: the file name for compiler messages and line tables, e.g. "claimed.cu".
        prefix: the prefix of the device's names.
    """
    first = _after_includes(source, name=name)  # of edits at one place
    return _rewritten(source, [first, *_edits(source)], name=name, prefix=prefix)


def architecture(prefix: str) -> str:
    """Return the name that stands for `__CUDA_ARCH__` in rewritten texts; the host pass of nvcc has none."""
    return f"{prefix.upper()}_CUDA_ARCH"


def defines(flags: Sequence[str]) -> str:
    """Return a line for each macro that flags of a compiler define or take back."""
    macros = [macro for flag in flags if (macro := _MACRO.fullmatch(flag))]
    values = ("1" if macro["value"] is None else macro["value"] for macro in macros)
    return "".join(
        f"#define {macro['name']} {value}\n" if macro["kind"] == "D" else f"#undef {macro['name']}\n"
        for macro, value in zip(macros, values, strict=True)
    )


def headers(source: CudaSource, path: Path, *, folders: Sequence[str] = (), prefix: str) -> dict[str, str]:
    """Return the rewritten text of every header of the claim, which may have all that a source has, by its path in the
    folder of the source at `path`; empty where none changes. `folders` in it are those of `-I`. Raises Unsupported if
    one uses what the device does not model."""
    folder, found, changed = path.parent, dict[str, str](), False
    waiting = [(path, source)]
    while waiting and len(found) < _MOST_HEADERS:
        including, of = waiting.pop()
        for include in of.includes:
            places = (including.parent, *(folder / each for each in folders))
            names = [os.path.relpath(place / include.header, folder) for place in places]
            name = next((one for one in names if not one.startswith("..") and (folder / one).is_file()), "")
            text = None if not name or name in found else _text(folder / name)
            if text is None:
                continue
            header = parse(text)
            for construct in unsupported(header):
                raise Unsupported(construct.construct)
            edits, end = [*_edits(header)], len(text)
            if header.functions:  # GPU names in them are mapped, and not in what is included behind this header
                first = _after_includes(header, name=str(folder / name))
                edits = [first, *edits, Edit(end, end, '\n#include "cuemu/before_includes.h"\n')]
            found[name] = _rewritten(header, edits, name=str(folder / name), prefix=prefix)
            changed = changed or not found[name].endswith(text)
            waiting.append((folder / name, header))
    return found if changed else {}


def _text(path: Path) -> str | None:
    try:
        return untrusted.text(path) if path.is_file() else None
    except BadInput:
        return None


def _rewritten(source: CudaSource, edits: list[Edit], *, name: str, prefix: str) -> str:
    if own := _OWN_NAME.search(source.text):
        line = source.line_of(own.start())
        raise Unsupported(f"the name {own.group()}, which is the emulated device's own", line=line)
    edits = [replace(each, text=_OF_NVCC.sub(r"CUEMU_\g<name>", each.text)) for each in edits]
    edits += [Edit(*word.span(), f"CUEMU_{word['name']}") for word in _OF_NVCC.finditer(source.masked)]
    named = [replace(each, text=_OWN_NAME.sub(lambda own: _spelt(own.group(), prefix), each.text)) for each in edits]
    return line_marker(1, name) + apply(source, named)


def _edits(source: CudaSource) -> Iterator[Edit]:
    for launch in source.launches:
        yield from _launch(source, launch)
    yield from rewrite_functions.arithmetic(source)
    yield from rewrite_functions.launch_bounds(source)
    yield from rewrite_variables.at_file_scope(source)
    yield from rewrite_variables.shared(source)
    yield from _host_expressions(source)
    yield from _copies(source)
    yield from _addresses(source)
    for each in source.includes:
        if is_refused_header(each.header) and not (toolchain.INCLUDE / each.header).is_file():
            yield Edit(each.start, each.end, "")


def _spelt(own: str, prefix: str) -> str:
    return prefix.upper() if own.isupper() else prefix


def operator_headers(source: CudaSource) -> list[str]:
    """Return the names called as `torch::NAME(` or `at::NAME(`, sorted. Not each has a header ATen/ops/NAME.h."""
    return sorted({match["name"] for match in _OPERATOR.finditer(source.masked)})


def _launch(source: CudaSource, launch: Launch) -> Iterator[Edit]:
    macro = source.macro_at(launch.start)
    shown = quoted(launch.kernel_text)
    if macro and launch.kernel_text in macro.parameters:
        shown = f"#{launch.kernel_text}"  # the macro's argument
    yield Edit(launch.start, launch.configuration_start, f"::cuemu::launch({shown}, {launch.line}, ")
    yield Edit(launch.configuration_end, launch.arguments_start, ").with(")
    yield from _null_arguments(source, launch)
    yield Edit(launch.end, launch.end, f" % [&](auto... cuemu_arg) {{ {launch.kernel_text}(cuemu_arg...); }}")


def _null_arguments(source: CudaSource, launch: Launch) -> Iterator[Edit]:
    """Replace `NULL` and a 0 for a pointer, which a template would pass on as integers, by `nullptr`."""
    named = [each for each in source.by_name.get(launch.kernel_name, ()) if each.kind == "kernel"]
    parameters = named[0].parameters if len(named) == 1 else ()
    for index, (start, end) in enumerate(split_commas(source.masked, launch.arguments_start, launch.end - 1)):
        argument = source.masked[start:end].strip()
        to_pointer = index < len(parameters) and parameters[index].is_pointer
        if argument == "NULL" or (argument == "0" and to_pointer):
            at = start + source.masked[start:end].index(argument)
            yield Edit(at, at + len(argument), "nullptr")


def _host_expressions(source: CudaSource) -> Iterator[Edit]:
    for pattern, replacement in _HOST_EXPRESSIONS:
        for match in pattern.finditer(source.masked):
            yield Edit(*match.span("changed"), match.expand(replacement))
    for match in _DEVICE_NAME.finditer(source.code):
        if source.masked[match.start()] == source.code[match.start()]:
            yield Edit(*match.span("changed"), '"cpu"')
    for match in _DISPATCH.finditer(source.masked):
        closing = matching(source.masked, match.end() - 1)
        within = min(closing, match.end() + LONGEST)  # only the last argument is long
        for start, end in split_commas(source.masked, match.end(), within)[:4] if closing > 0 else ():
            if called := _TYPE_CALL.search(source.masked[start:end]):
                yield Edit(start + called.start("type"), start + called.end("type"), "scalar_type()")


def _copies(source: CudaSource) -> Iterator[Edit]:
    """Rewrite copies in device code and macros: the compiler inlines one of known length without reporting accesses."""
    for match in _COPY.finditer(source.masked):
        function = source.function_at(match.start())
        if source.macro_at(match.start()) or (function is not None and function.kind != "host"):
            yield Edit(match.start(), match.end(), f"::cuemu_{match['name']}")


def _addresses(source: CudaSource) -> Iterator[Edit]:
    """Rewrite casts of a kernel's address to `void*`, which lose the parameters that a launch needs: in a launch the
    cast is removed, elsewhere it records them."""
    direct = [match.span("cast") for match in _KERNEL_CAST.finditer(source.masked)]
    yield from (Edit(*span, "") for span in direct)
    for match in _ADDRESS.finditer(source.masked):
        form = "cast" if match["cast"] else "call"
        kernel = any(each.kind == "kernel" for each in source.by_name.get(match["name"], ()))
        if kernel and match.span(form) not in direct:
            yield Edit(*match.span(form), "::cuemu::Address{} % " if form == "cast" else "::cuemu::kernel_address")


def _after_includes(source: CudaSource, *, name: str) -> Edit:
    """Insert the header that maps torch's GPU names to CPU ones after the last include."""
    at = _end_of_includes(source)
    text = '#include "cuemu/after_includes.h"\n'
    broken = at > 0 and source.text[at - 1] != "\n"
    return Edit(at, at, "\n" * broken + text + line_marker(source.line_of(at) + broken, name))


def _end_of_includes(source: CudaSource) -> int:
    """Return the end of the last include's line, or of the conditional around it without code. One behind a function
    does not count where it is there already, by another include or in every header set: the code before it needs the
    names."""
    starts = [function.start for function in source.functions]
    first = min(starts, default=len(source.text))
    earliest = {each.header: each for each in reversed(source.includes)}
    includes = [
        each
        for each in source.includes
        if each.start < first or (each.header not in _IN_EVERY_SET and each is earliest[each.header])
    ]
    if not includes:
        return 0
    last = includes[-1]
    end = last.end
    conditionals = [node for kind in _CONDITIONALS for node in source.walked.nodes[kind]]
    for node in sorted(conditionals, key=lambda each: -each.start_byte):
        first, past = node.start_byte, node.end_byte
        if first <= last.start and last.end <= past:
            if bisect_right(starts, first) < bisect_left(starts, past):
                break
            end = max(end, past - (source.text[past - 1] == "\n"))
    return source.text.find("\n", end) + 1 or len(source.text)
