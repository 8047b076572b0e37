"""Rules about work that the host hands to a library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from audit.review.cuda_grammar import operator, sides
from audit.review.cuda_reading import Call, CudaReading, tensor_parameters
from audit.review.cuda_source import Function
from audit.review.rule import Spot, names, rule
from audit.review.rules.python.operators import OPERATORS
from audit.review.values import constants_of

_TENSOR_SCOPES = names("at torch at::native at::_ops torch::nn::functional torch::nn torch::linalg")
_VENDOR = re.compile(
    r"(?!\w*(?:Attribute|Algorithm|Workspace|Desc(?:riptor|Create|Init|Destroy)|Heuristic|Preference))"
    r"(?:cublas(?:Lt)?\w*(?:gemm|Gemm|gemv|ger|symm|syrk|trmm|trsm|trsv|dot|axpy|nrm2|scal|asum|Matmul)\w*"
    r"|cudnn\w*(?:Forward|Inference|Execute|execute|OpTensor|AddTensor|ReduceTensor)\w*"
    r"|cusparse\w*(?:SpMM|SpMV|SDDMM|SpGEMM|mm|mv)\w*|cufftExec\w*|cusolver\w+)"
)
_TEMPLATES = {
    "cub": r"Device\w+(?:::\w+)?",
    "thrust": r"reduce\w*|transform\w*|sort\w*|\w*scan\w*|inner_product|copy_if",
}
_LAUNCHES = re.compile(r"cu(?:da)?Launch\w*Kernel\w*")
_CHOICES = ("if_statement", "conditional_expression", "while_statement")
_LONGEST, _LONGEST_TOLD = 200, 60  # characters of a condition that is read, and of one that a sentence holds
_AROUND = ("condition_clause", "parenthesized_expression")
_PLAIN = ("identifier", "subscript_expression")
_TYPE_OF = re.compile(r"\w+\.(?:scalar_type|dtype)\(\)")
_TYPE = re.compile(r"(?:at|torch|c10)::(?:ScalarType::)?\w+")


@rule("kernels_ran")
def library_call(reading: CudaReading) -> Iterator[Spot]:
    """Does an operator of a library compute where no kernel of the file runs?

    Silent on allocation, copies, views and random numbers, on device code, in the `main` of a program, on steps in a
    function that launches a kernel, which `library_step` asks about, and on calls that nothing reaches, or only an
    empty tensor, a tensor on the CPU, or an argument or type other than the one that the kernels take.
    """
    return _library_calls(reading, beside=False)


@rule("kernels_ran", standing="advice")
def library_step(reading: CudaReading) -> Iterator[Spot]:
    """Does an operator of a library compute part of the result, beside kernels of the file?

    Silent where `library_call` is.
    """
    return _library_calls(reading, beside=True)


def _library_calls(reading: CudaReading, *, beside: bool) -> Iterator[Spot]:
    for call in reading.calls:
        name, function = _library(call), reading.function(call.node)
        if name is None or function is None or function.kind != "host" or function.name == "main":
            continue
        reached = _reached(reading, call.node) and not _for_empty_tensors(reading, call.node)
        if reached and _is_step(reading, call) is beside:
            condition = _deciding(reading, call.node) if beside else ""
            plain = f"{name} computes part of the result in a library"
            told = f"{name} may compute part of the result in a library: {condition} decides"
            yield Spot(call.line, told if condition else plain)


def _is_step(reading: CudaReading, call: Call) -> bool:
    """Return whether its function launches a kernel too, and does not return the library's result before, but for
    numbers among its arguments (`if (groups == 1) return ...`)."""
    function, types = reading.function(call.node), []
    for holder in reading.ancestors(call.node):
        types.append(holder.type)
        condition = holder.child_by_field_name("condition") if holder.type == "if_statement" else None
        if function is None or condition is None or "return_statement" not in types:
            continue
        if not reading.names_in(condition) <= _numbers(function):
            return False
    return function in _launching(reading)


@lru_cache(maxsize=64)
def _numbers(function: Function) -> frozenset[str]:
    return frozenset(each.name for each in function.parameters if "Tensor" not in each.text and not each.is_pointer)


@lru_cache(maxsize=1)
def _launching(reading: CudaReading) -> frozenset[Function | None]:
    """Return the functions that launch a kernel, those that call one of these, and those that one of these calls."""
    source = reading.source
    direct = {source.function_at(launch.start) for launch in source.launches}
    direct |= {reading.function(call.node) for call in reading.calls if _LAUNCHES.fullmatch(call.name)}
    if any(launch.in_macro for launch in source.launches):
        return frozenset(source.functions)
    calls = {each: {call.name for call in reading.calls_in(each)} for each in source.functions}
    names = {each.name for each in direct if each is not None}
    called = {name for each in direct if each is not None for name in calls[each]}
    near = (each for each in source.functions if each.name in called or names & calls[each])
    return frozenset({*direct, *near})


def _library(call: Call) -> str | None:
    """Return the name of the library operator, or None."""
    if _VENDOR.fullmatch(call.name):
        return call.name
    if call.receiver is not None:
        return f".{call.name}()" if call.name.removesuffix("_") in OPERATORS else None
    top = call.scope.split("::")[0]
    full = f"{call.scope}::{call.name}"
    if call.scope.removesuffix("::call").startswith("at::_ops") or call.scope in _TENSOR_SCOPES:
        plain = call.name.removesuffix("_out").removesuffix("_")
        return full if plain in OPERATORS or call.scope.startswith("at::_ops") else None
    pattern = _TEMPLATES.get(top)
    return full if pattern and re.fullmatch(pattern, full.split("::", 1)[1]) else None


def _for_empty_tensors(reading: CudaReading, node: Node) -> bool:
    """Return whether the call stands behind `if (size == 0)`."""
    around = (holder for holder in reading.ancestors(node) if holder.type == "if_statement")
    conditions = (holder.child_by_field_name("condition") for holder in around)
    short = (each for each in conditions if each is not None and each.end_byte - each.start_byte <= _LONGEST)
    return any(re.fullmatch(r"\(?[\w.()\s]*==0\)?", reading.text(each).replace(" ", "")) for each in short)


def _deciding(reading: CudaReading, node: Node) -> str:
    """Return the outermost condition of an `if`, a `?:` or a loop around a call; empty where there is none."""
    around = [holder.child_by_field_name("condition") for holder in reading.ancestors(node) if holder.type in _CHOICES]
    condition = next((each for each in reversed(around) if each is not None and not _within(each, node)), None)
    if condition is None or condition.end_byte - condition.start_byte > _LONGEST_TOLD:
        return "a condition" if condition is not None else ""
    return reading.written(condition).removeprefix("(").removesuffix(")")


def _reached(reading: CudaReading, node: Node) -> bool:
    """Return whether no condition around a call, and no statement before it that leaves its block, keeps it from
    running with what the kernels take."""
    for holder in reading.ancestors(node):
        if holder.type == "compound_statement" and node.start_byte >= _closed(reading, holder):
            return False
        condition = holder.child_by_field_name("condition") if holder.type in (*_CHOICES, "preproc_if") else None
        if condition is not None and not _within(condition, node):
            otherwise = holder.child_by_field_name("alternative")
            if _against(reading, condition, holds=otherwise is None or not _within(otherwise, node)):
                return False
    return True


def _within(holder: Node, node: Node) -> bool:
    return holder.start_byte <= node.start_byte < holder.end_byte


@lru_cache(maxsize=1024)
def _closed(reading: CudaReading, block: Node) -> float:
    """Return the offset in a block past which nothing runs with what the kernels take, or infinity."""
    for statement in block.named_children:
        condition = statement.child_by_field_name("condition") if statement.type == "if_statement" else None
        ways = ((True, "consequence"), (False, "alternative")) if condition is not None else ()
        ends = [
            _leaves(statement.child_by_field_name(way)) or _against(reading, condition, holds=holds)
            for holds, way in ways
            if condition is not None
        ]
        if _leaves(statement) or (ends and all(ends)):
            return statement.end_byte
    return float("inf")


def _leaves(statement: Node | None) -> bool:
    """Return whether a statement, or the last one of a block, is a `return` or a `throw`."""
    while statement is not None and statement.type in ("compound_statement", "else_clause"):
        statement = statement.named_children[-1] if statement.named_children else None
    return statement is not None and statement.type in ("return_statement", "throw_statement")


def _against(reading: CudaReading, node: Node, *, holds: bool) -> bool:
    """Return whether a condition holds, or fails, never or only beside what the kernels take.

    These take the one number or type that an argument is compared with, and tensors on a GPU.
    """
    if node.end_byte - node.start_byte > _LONGEST:
        return False
    while (node.type in _AROUND or operator(node) == "!") and node.named_children:
        holds = holds is not (operator(node) == "!")
        node = node.named_children[-1]
    text, sign = reading.text(node), operator(node)
    if sign in ("&&", "||"):
        both = [_against(reading, each, holds=holds) for _, *pair in sides([node]) for each in pair]
        return any(both) if (sign == "&&") is holds else all(both)
    if (value := constants_of(reading).truth(node)) is not None:
        return value is not holds
    other = (sign == "!=") is holds and _one_argument(reading, node)
    return other if sign in ("==", "!=") else not holds and text.endswith(".is_cuda()")


def _one_argument(reading: CudaReading, comparison: Node) -> bool:
    """Return whether a number among the arguments beside tensors, or a tensor's type, is compared with a constant."""
    function = reading.function(comparison)
    numbers = _numbers(function) if function is not None and tensor_parameters(function) else frozenset[str]()
    for _, left, right in sides([comparison]):
        for one, other in ((left, right), (right, left)):
            if _TYPE_OF.fullmatch(reading.text(one)) and _TYPE.fullmatch(reading.text(other)):
                return True
            named = re.split(r"\W", reading.text(one), maxsplit=1)[0] if one.type in _PLAIN else ""
            if named in numbers and constants_of(reading).value(reading.text(other)) is not None:
                return True
    return False
