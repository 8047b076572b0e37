"""Rules about work that the host chooses or hands to a library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from audit.review.cuda_reading import Call, CudaReading
from audit.review.cuda_source import Function
from audit.review.cuda_tree import asks, operator, sides
from audit.review.operators import OPERATORS
from audit.review.rule import Spot, names, rule

_SIZE = re.compile(r"\.(?:size|numel|sizes)\(")
_REFUSAL = re.compile(r"\bthrow\b|\bTORCH_CHECK\b|\babort\b|\bexit\b")
_SMALLEST = 8  # smaller numbers are dimensions and vector widths
_READS = frozenset(["item", "allclose", "equal", "is_nonzero", "isclose"])
_MOST = 100  # mentions of one variable
_DECISIONS = ("if_statement", "conditional_expression", "while_statement", "switch_statement")
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
_LONGEST = 200  # characters of a condition that asks for an empty tensor


@rule("agreement")
def fixed_shape(reading: CudaReading) -> Iterator[Spot]:
    """Does one size decide which code runs?

    Silent where other sizes are refused, on 0 and 1, and on comparisons for order.
    """
    for node, left, right in sides(reading.nodes("binary_expression")):
        size, number = (left, right) if right.type == "number_literal" else (right, left)
        if operator(node) not in ("==", "!=") or number.type != "number_literal":
            continue
        if not _large(reading.text(number)) or not reading.in_host(node):
            continue
        if _is_size(reading, size) and _chooses(reading, node) and not _others_refused(reading, node, size):
            yield Spot(reading.line(node), f"{reading.written(node)} chooses what runs by one size")


def _large(text: str) -> bool:
    digits = re.fullmatch(r"(\d+)[uUlL]*", text)
    return digits is not None and int(digits[1][:12]) >= _SMALLEST


def _is_size(reading: CudaReading, node: Node) -> bool:
    value = reading.only_value(reading.text(node)) if node.type == "identifier" else node
    return value is not None and bool(_SIZE.search(reading.text(value).replace(" ", "")))


def _chooses(reading: CudaReading, node: Node) -> bool:
    """Return whether the comparison decides an `if` that does not throw, or a `?:`."""
    for holder in reading.ancestors(node, until=("function_definition", "compound_statement", "call_expression")):
        if holder.type == "conditional_expression":
            return True
        if holder.type == "if_statement":
            then = holder.child_by_field_name("consequence")
            return then is not None and not _refuses(reading, then)
    return False


def _others_refused(reading: CudaReading, node: Node, size: Node) -> bool:
    """Return whether an `if` about that size, in the same function, ends in an `else` that refuses all others."""
    function = reading.function(node)
    refused = _refused(reading, function) if function is not None else frozenset[str]()
    return not refused.isdisjoint(re.findall(r"\w+", reading.text(size)))


@lru_cache(maxsize=64)
def _refused(reading: CudaReading, function: Function) -> frozenset[str]:
    """Return the names in checks for equality, and in each `if ... else if ... else` whose `else` refuses."""
    checks = (call for call in reading.calls_in(function) if "CHECK" in call.name or "ASSERT" in call.name.upper())
    found = {text for call in checks if "==" in (text := reading.text(call.node))}
    for holder in reading.inside(function, "if_statement"):
        last = holder.child_by_field_name("alternative")
        if last is None or last.named_children[-1].type == "if_statement" or not _refuses(reading, last):
            continue
        chain: Node | None = holder
        while chain is not None and chain.type in ("if_statement", "else_clause"):
            condition = chain.child_by_field_name("condition")
            found |= {reading.text(condition)} if condition is not None else set()
            chain = reading.parent(chain)
    return frozenset(name for text in found for name in re.findall(r"\w+", text))


@lru_cache(maxsize=64)
def _refuses(reading: CudaReading, then: Node) -> bool:
    return _REFUSAL.search(reading.source.masked, then.start_byte, then.end_byte) is not None


@rule("distributions")
def value_dispatch(reading: CudaReading) -> Iterator[Spot]:
    """Does the host look at the values of a tensor to choose what runs?

    Silent on values that are only passed on to a kernel.
    """
    for call in reading.calls:
        of_tensor = call.receiver is not None or call.scope in ("at", "torch")
        if call.name in _READS and of_tensor and reading.in_host(call.node) and _decides(reading, call):
            yield Spot(call.line, f"{call.name} reads a tensor's values and decides what runs")


def _decides(reading: CudaReading, call: Call) -> bool:
    for holder in reading.ancestors(
        call.node, until=("function_definition", "compound_statement", "lambda_expression")
    ):
        if holder.type in _DECISIONS:
            return asks(holder, call.node)
        if holder.type == "init_declarator" and (name := holder.child_by_field_name("declarator")):
            function = reading.function(call.node)
            used = reading.mentioned(reading.text(name), function)[:_MOST] if function else []
            return any(
                asks(each, node)
                for node in used
                for each in reading.ancestors(node, until=("function_definition", "compound_statement"))
                if each.type in _DECISIONS
            )
    return False


@rule("kernels_ran")
def library_call(reading: CudaReading) -> Iterator[Spot]:
    """Does an operator of a library compute where no kernel of the file runs?

    Silent on allocation, copies, views and random numbers, on calls that only an empty tensor reaches, on device code,
    in the `main` of a program, and on steps in a function that launches a kernel, which `library_step` asks about.
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
        name = _library(call)
        counts = name and reading.in_host(call.node) and not _for_empty_tensors(reading, call.node)
        function = reading.function(call.node)
        if counts and function is not None and function.name != "main" and _is_step(reading, call) is beside:
            yield Spot(call.line, f"{name} computes part of the result in a library")


def _is_step(reading: CudaReading, call: Call) -> bool:
    """Return whether its function launches a kernel too, and does not return the library's result before, but for
    numbers among its arguments (`if (groups != 1) return ...`)."""
    function, types = reading.function(call.node), []
    for holder in reading.ancestors(call.node):
        types.append(holder.type)
        condition = holder.child_by_field_name("condition") if holder.type == "if_statement" else None
        if "return_statement" in types and condition is not None and function is not None:
            numbers = {each.name for each in function.parameters if "Tensor" not in each.text and not each.is_pointer}
            if not reading.names_in(condition) <= numbers:
                return False
    return function in _launching(reading)


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
