"""Rules about threads that wait for each other."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from tree_sitter import Node

from audit.review.cuda_grammar import sides, walk
from audit.review.cuda_reading import Call, CudaReading, asks
from audit.review.cuda_source import Function
from audit.review.rule import ABSENT, UNORDERED, Spot, grouped, rule
from audit.review.values import ALIKE_IN_A_BLOCK, ALIKE_IN_A_WARP, ThreadValues, constants_of

_SYNC = re.compile(
    r"__sync\w*|sync|\w*[bB]arrier\w*|\w*_wait\w*|wait|arrive\w*|__shfl\w*|__threadfence\w*|atomic\w*|\w+_sync|\w+_collective"
)
_BARRIER = frozenset({"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"})
_EXCHANGE = re.compile(r"__(?:shfl(?:_up|_down|_xor)?|ballot|any|all|reduce_\w+)_sync")
_FULL = re.compile(r"0x[fF]{8}[uU]?|-1|~0[uU]?|FULL_?MASK|FULL_WARP_MASK", re.IGNORECASE)
_WARP = re.compile(r"(?:\w*warp_?size\w*|\w*WARP\w*|(?:32|64|96|128|160|192|224|256|384|512)[uU]?)", re.IGNORECASE)
_BUILTINS = frozenset({"threadIdx", "blockDim", "warpSize"})
_IN_STEP = re.compile(r"\bvolatile\b.*\*")
_KEEPS_STEP = frozenset({"__syncwarp", "__syncthreads"})


@rule("memory_access", kinds=UNORDERED)
def missing_barrier(reading: CudaReading) -> list[Spot]:
    """Do threads read each other's shared memory with no barrier anywhere in the kernel?

    Silent where the kernel or a function it calls synchronises in any way, and where all accesses use the same index.
    """
    source = reading.source
    own = frozenset({function.name for function in source.functions} | {macro.name for macro in source.macros})
    return [spot for kernel in reading.kernels for spot in _of_kernel(reading, kernel, own)]


def _of_kernel(reading: CudaReading, kernel: Function, own: frozenset[str]) -> list[Spot]:
    declared = reading.source.shared_in(kernel)
    shared = [name for each in declared for name, dims in each.names_and_dims if dims]
    called = {call.name for call in reading.calls_in(kernel)}
    if not shared or called & own or any(_SYNC.fullmatch(name) for name in called) or "asm" in called:
        return []
    places = ((node.child_by_field_name("argument"), node) for node in reading.inside(kernel, "subscript_expression"))
    accessed = grouped((reading.text(base), node) for base, node in places if base is not None)
    for name in shared:
        accesses = accessed.get(name, [])
        texts = ["".join(reading.text(node).split()) for node in accesses]
        other = next((node for node, text in zip(accesses, texts, strict=True) if text != texts[0]), None)
        if other is not None:
            sentence = f"{name} is accessed by another index and kernel {kernel.name} has no barrier"
            return [Spot(reading.line(other), sentence)]
    return []


@rule("memory_access", kinds=ABSENT)
def divergent_collective(reading: CudaReading) -> list[Spot]:
    """Does a barrier stand where not all threads of its block arrive, whatever the sizes?

    Silent on conditions that are the same for the block, or may be since a call or a division decides them, on those
    that a size decides, which `partial_collective` asks about, and where an `else` has a barrier too.
    """
    return [_spot(call, "its block") for call, sized in _partial_barriers(reading) if not sized]


@rule("memory_access", standing="advice", kinds=ABSENT)
def partial_collective(reading: CudaReading) -> list[Spot]:
    """Does a barrier or a warp exchange stand where not all of its threads arrive, unless the sizes divide evenly?

    Silent on barriers that `divergent_collective` asks about, on warp exchanges under conditions that hold for whole
    warps, and on masks other than the full one.
    """
    spots = [_spot(call, "its block") for call, sized in _partial_barriers(reading) if sized]
    for function, calls in _device_calls(reading):
        exchanges = [call for call in calls if _EXCHANGE.fullmatch(call.name) and call.arguments]
        exchanges = [call for call in exchanges if _FULL.fullmatch(reading.text(call.arguments[0]).strip())]
        if exchanges:
            warp = ThreadValues(reading, function, r"threadIdx\.x", alike=ALIKE_IN_A_WARP)
            gone = _first_return(reading, function, warp)
            spots += [
                _spot(call, "its warp")
                for call in exchanges
                if call.node.start_byte > gone
                or any(not _whole_warps(reading, each) for _, each in _diverging(reading, call, warp))
            ]
    return spots


def _device_calls(reading: CudaReading) -> Iterator[tuple[Function, list[Call]]]:
    return ((each, reading.calls_in(each)) for each in reading.source.functions if each.kind != "host")


def _partial_barriers(reading: CudaReading) -> Iterator[tuple[Call, bool]]:
    """Yield the barriers that not all threads of a block reach, and whether sizes decide each."""
    for function, calls in _device_calls(reading):
        barriers = [call for call in calls if call.name in _BARRIER]
        block = ThreadValues(reading, function, r"threadIdx\.[xyz]", alike=ALIKE_IN_A_BLOCK)
        grid = ThreadValues(reading, function, r"(?:blockIdx|gridDim)\.[xyz]")
        starts = [call.node.start_byte for call in barriers]
        for call in barriers:
            found = [each for each in _diverging(reading, call, block) if not _both_wait(each[0], starts)]
            if found:
                yield call, all(_sized(reading, condition, block, grid) for _, condition in found)


def _both_wait(holder: Node, barriers: list[int]) -> bool:
    """Return whether both ways of an `if` have a barrier; `barriers` are their offsets, in order."""
    ways = [holder.child_by_field_name(name) for name in ("consequence", "alternative")]
    counts = [bisect_left(barriers, way.end_byte) - bisect_left(barriers, way.start_byte) for way in ways if way]
    return len(counts) == 2 and all(counts)


def _sized(reading: CudaReading, condition: Node, block: ThreadValues, grid: ThreadValues) -> bool:
    """Return whether a condition depends on a place in the grid, or on a value that is no constant of the file."""
    constants = constants_of(reading)
    return grid.holds(condition) or any(
        node.type == "identifier"
        and reading.text(node) not in (*_BUILTINS, *block.names)
        and constants.value(reading.text(node)) is None
        for node in walk(condition)
    )


def _spot(call: Call, group: str) -> Spot:
    return Spot(call.line, f"{call.name} stands where not all threads of {group} arrive")


def _diverging(reading: CudaReading, call: Call, values: ThreadValues) -> Iterator[tuple[Node, Node]]:
    """Yield each `if` or loop around the call whose condition the values decide, with that condition."""
    for holder in reading.ancestors(call.node, until=("function_definition", "lambda_expression")):
        if holder.type not in ("if_statement", "while_statement", "for_statement"):
            continue
        condition = holder.child_by_field_name("condition")
        if condition is not None and not asks(holder, call.node) and values.holds(condition):
            yield holder, condition


def _whole_warps(reading: CudaReading, condition: Node) -> bool:
    """`threadIdx.x < 32`: a bound on a plain index that is a multiple of the warp, or named after it."""
    found = [node for node in walk(condition) if node.type == "binary_expression"]
    if len(found) != 1 or (right := found[0].child_by_field_name("right")) is None:
        return False
    bound = constants_of(reading).value(reading.text(right))
    return bool(_WARP.fullmatch(reading.text(right).strip())) or (bound is not None and bound % 32 == 0)


def _first_return(reading: CudaReading, function: Function, values: ThreadValues) -> float:
    """Past the first `if (place >= n) return;` at the top of the function, or infinity."""
    for node in reading.inside(function, "if_statement"):
        condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        block = reading.parent(node)
        if condition is None or then is None or block is None or block.start_byte != function.body_start:
            continue
        last = then.named_children[-1] if then.type == "compound_statement" and then.named_children else then
        if last.type == "return_statement" and values.holds(condition) and not _whole_warps(reading, condition):
            return node.end_byte
    return float("inf")


@rule("memory_access", kinds=UNORDERED)
def volatile_warp(reading: CudaReading) -> Iterator[Spot]:
    """Does code rely on a warp running in step, with `volatile` shared memory in place of a barrier?

    Silent where the same function calls `__syncwarp` or a block barrier after each step, and on volatile global
    memory.
    """
    for function in reading.source.functions:
        names = {each.name for each in function.parameters if _IN_STEP.search(each.text) and each.name}
        calls = {call.name for call in reading.calls_in(function)}
        if function.kind != "device" or not names or calls & _KEEPS_STEP:
            continue
        places = [left for _, left, _ in sides(reading.inside(function, "assignment_expression"))
                  if left.type == "subscript_expression"]  # fmt: skip
        steps = [place for place in places if re.split(r"\W", reading.text(place), maxsplit=1)[0] in names]
        if len(steps) > 1:
            text = f"function {function.name} steps through volatile memory and relies on its warp running in step"
            yield Spot(reading.line(steps[0]), text)
