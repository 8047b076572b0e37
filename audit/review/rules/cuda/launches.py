"""Rules about a launch and the kernel that it names, and about the shared memory of kernels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from audit.review.cuda_grammar import operator, sides
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.launch_extents import grid_and_block
from audit.review.rule import OUTSIDE, Spot, rule
from audit.review.values import COMPARISONS, CudaConstants, constants_of

_ASKING = re.compile(r"cudaGetLastError|cudaPeekAtLastError|cudaDeviceSynchronize|cudaStreamSynchronize")
_CHECKING = re.compile(
    r"\w*CUDA\w*CHECK\w*|\w*CHECK\w*CUDA\w*|\w*KERNEL_LAUNCH_CHECK\w*|check_?cuda\w*|gpuErrchk", re.IGNORECASE
)
_HEADER = re.compile(r"\s*#\s*(?:pragma\s+once\b|ifndef\s+(\w+)\s+#\s*define\s+\1\b)")
_THREAD = re.compile(r"threadIdx\.([xyz])")
_NO_STREAM = frozenset({"0", "nullptr", "NULL", "cudaStreamLegacy"})


@rule("memory_access", kinds=OUTSIDE)
def dynamic_shared(reading: CudaReading) -> Iterator[Spot]:
    """Does a kernel use dynamic shared memory that its launch does not ask for?

    Silent where the launch gives any size but zero, and on launches in macros.
    """
    uses: dict[str, str | None] = {}
    for launch in reading.source.launches:
        kernel = reading.kernel(launch.kernel_name)
        none = len(launch.configuration) < 3 or launch.configuration[2] == "0"
        if launch.in_macro or kernel is None or not none:
            continue
        if kernel.name not in uses:
            uses[kernel.name] = _dynamic_used(reading, kernel)
        if used := uses[kernel.name]:
            text = f"kernel {launch.kernel_name} uses dynamic shared memory ({used}) and this launch asks for none"
            yield Spot(launch.line, text)


def _dynamic_used(reading: CudaReading, kernel: Function) -> str | None:
    """Return the dynamic shared memory, declared in a kernel or outside all functions, that the kernel uses."""
    source = reading.source
    scopes = ((each, source.function_at(each.start)) for each in source.shared if each.dynamic)
    seen = [(name, scope) for each, scope in scopes if scope in (None, kernel) for name, _ in each.names_and_dims]
    hidden = {each.name for each in kernel.parameters} | {each.name for each in reading.variables_in(kernel)}
    used = (
        name
        for name, scope in seen  # a declaration in the kernel is one mention
        if (scope or name not in hidden) and len(reading.mentioned(name, kernel)) > (scope is kernel)
    )
    return next(used, None)


@rule("memory_access", kinds=OUTSIDE)
def shared_extent(reading: CudaReading) -> Iterator[Spot]:
    """Is a constant shared array indexed past its constant end?

    Silent where an extent or an index is not a plain number, and where the index is compared with anything but a
    loop's own bound.
    """
    constants = constants_of(reading)
    for kernel in reading.kernels:
        arrays = _arrays(reading, kernel, constants)
        for node in reading.inside(kernel, "subscript_expression") if arrays else ():
            base, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
            extent = arrays.get(reading.text(base)) if base is not None else None
            if base is None or indices is None or not extent or indices.named_child_count != 1:
                continue
            largest = _largest(reading, kernel, indices.named_children[0], constants)
            if largest is not None and largest >= extent:
                text = f"{reading.text(base)} has {extent} elements and is indexed up to {largest}"
                yield Spot(reading.line(node), text)


def _arrays(reading: CudaReading, kernel: Function, constants: CudaConstants) -> dict[str, int]:
    """Extent of the first dimension of each shared array of the kernel."""
    found: dict[str, int] = {}
    for declared in reading.source.shared_in(kernel):
        if declared.dynamic:
            continue
        for name, dims in declared.names_and_dims:
            first = re.match(r"\[([^\[\]]+)\]", dims)
            extent = constants.value(first[1]) if first else None
            if extent:
                found[name] = extent
    return found


def _largest(reading: CudaReading, kernel: Function, index: Node, constants: CudaConstants) -> int | None:
    text = reading.text(index).replace(" ", "")
    if (number := constants.value(text)) is not None:
        return number
    if match := _THREAD.fullmatch(text):
        return None if text in _asked(reading, kernel) else _threads(reading, kernel, match[1])
    declared = reading.declarations(text, kernel)
    if len(declared) != 1 or declared[0].value is None:
        return None
    loop = reading.parent(declared[0].node)
    if loop is not None and loop.type == "for_statement":
        once = _asked(reading, kernel)[text] == 1
        return _last_of_loop(reading, loop, text, constants) if once else None
    match = _THREAD.fullmatch(reading.text(declared[0].value).replace(" ", ""))
    if match is None or {text, match[0]} & set(_asked(reading, kernel)) or text in _changed(reading, kernel):
        return None
    return _threads(reading, kernel, match[1])


@lru_cache(maxsize=1)
def _asked(reading: CudaReading, kernel: Function) -> Counter[str]:
    """Return the names, and places such as `threadIdx.x`, that comparisons in the kernel hold, and in how many."""
    found = Counter[str]()
    for node in reading.inside(kernel, "binary_expression"):
        if operator(node) in COMPARISONS:
            text = reading.text(node).replace(" ", "")
            found.update({*re.findall(r"[A-Za-z_]\w*", text), *re.findall(r"threadIdx\.[xyz]", text)})
    return found


@lru_cache(maxsize=64)
def _threads(reading: CudaReading, kernel: Function, axis: str) -> int | None:
    """Return the largest index along an axis of the smallest launch, where every launch shows it."""
    launches = reading.source.launches_of.get(kernel.name, [])
    extents = [grid_and_block(reading, launch)[1]["xyz".index(axis)] for launch in launches]
    known = [extent for extent in extents if extent is not None]
    return min(known) - 1 if known and len(known) == len(extents) else None


def _last_of_loop(reading: CudaReading, loop: Node, name: str, constants: CudaConstants) -> int | None:
    """Return the last value of `for (int i = ...; i < N; ++i)`."""
    condition, update = loop.child_by_field_name("condition"), loop.child_by_field_name("update")
    if condition is None or update is None or update.type != "update_expression" or "++" not in reading.text(update):
        return None
    for _, left, right in sides([condition]):
        bound = constants.value(reading.text(right))
        if bound is not None and reading.text(left) == name and operator(condition) in ("<", "<="):
            return bound - (operator(condition) == "<")
    return None


@lru_cache(maxsize=1)
def _changed(reading: CudaReading, kernel: Function) -> frozenset[str]:
    """Return what the kernel assigns to or steps, as it is written."""
    changed = reading.inside(kernel, "assignment_expression", "update_expression")
    targets = (node.child_by_field_name("left") or node.child_by_field_name("argument") for node in changed)
    return frozenset(reading.text(target) for target in targets if target is not None)


@rule("kernels_ran", standing="advice")
def unlaunched_kernel(reading: CudaReading) -> Iterator[Spot]:
    """Is there a kernel that nothing names outside its own definition?

    Silent where names are pasted together in macros, and in headers.
    """
    source = reading.source
    if _HEADER.match(source.code):
        return
    if any("##" in source.masked[macro.body_start : macro.end] for macro in source.macros):
        return
    for kernel in reading.kernels:
        if kernel.name and not reading.is_used(kernel):
            yield Spot(kernel.line, f"kernel {kernel.name} is defined and nothing launches it")


@rule("contract", standing="advice")
def unchecked_launch(reading: CudaReading) -> list[Spot]:
    """Does nothing ask whether a launch succeeded?

    Silent where the file checks errors anywhere, by any of the usual macros or by hand.
    """
    launches = [launch for launch in reading.source.launches if not launch.in_macro]
    named = [*(call.name for call in reading.calls), *reading.macro_words]
    asked = [name for name in named if _ASKING.fullmatch(name) or (_CHECKING.fullmatch(name) and "INPUT" not in name)]
    first = min((launch.end for launch in launches), default=len(reading.source.text))
    fetched = [call for call in reading.calls if call.name == "cudaGetLastError" and first < call.node.start_byte]
    after = [call for call in fetched if (node := reading.parent(call.node)) and node.type == "expression_statement"]
    if after:
        return [Spot(call.line, "cudaGetLastError is called and its answer thrown away") for call in after]
    if not launches or asked:
        return []
    return [Spot(launches[0].line, "nothing in the file asks whether a launch succeeded")]


@rule("current_stream", standing="advice")
def legacy_stream(reading: CudaReading) -> Iterator[Spot]:
    """Is a kernel launched on the legacy default stream, whatever stream the caller works on?

    Silent where the launch names a stream, in macros, and in device code.
    """
    for launch in reading.source.launches:
        function = reading.source.function_at(launch.start)
        in_host = not launch.in_macro and function is not None and function.kind == "host"
        if in_host and (len(launch.configuration) < 4 or launch.configuration[3] in _NO_STREAM):
            text = f"kernel {launch.kernel_name} is launched on the legacy default stream, not on the caller's"
            yield Spot(launch.line, text)
