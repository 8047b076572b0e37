"""Rules about the memory of tensors: read, written and allocated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from audit.review.cuda_grammar import sides
from audit.review.cuda_reading import CudaReading, Variable, tensor_parameters
from audit.review.cuda_source import Function, Launch
from audit.review.rule import Spot, names, rule
from audit.review.token_scan import split_commas

_METADATA = names("""
    size sizes numel nbytes dim ndimension stride strides options device get_device dtype scalar_type type layout
    is_cuda is_contiguous is_floating_point element_size itemsize defined has_value is_sparse requires_grad
""")
_ADDRESS = re.compile(r"(?:const_|mutable_)?data_ptr\b|packed_accessor")
_SHAPE_ONLY = names("empty_like zeros_like ones_like full_like device_of CUDAGuard OptionalCUDAGuard")
_IN_PLACE = names("""
    zero_ fill_ copy_ add_ sub_ mul_ div_ clamp_ relu_ exp_ sqrt_ pow_ neg_ abs_ random_ normal_ uniform_ tril_
    triu_ sigmoid_ tanh_ resize_ masked_fill_ index_put_ set_
""")
_SCRATCH = re.compile(r"scratch|work_?sp|wksp|counter|buffer|partial|tmp|temp")
_LAYOUT_NAME = re.compile(r"_(?:(?:col|row|column)_major|transposed|t)$")
_ONLY_SIZES = re.compile(r"\s*\.\s*(?:size|sizes|numel|dim|options|device|dtype|scalar_type|stride|strides)\s*\(")
"""What follows the name of a tensor of which only sizes and types are asked."""
_EMPTY = frozenset({"empty", "empty_like", "empty_strided", "new_empty"})
_DATA = re.compile(
    r"(?:\([\w\s:*]+\)\s*|\w+_cast\s*<[^<>]*>\s*\(\s*)?(\w+)\s*\.\s*(?:mutable_)?data(?:_ptr)?\s*(?:<[^()]*>)?\s*\("
)
_SETTING = frozenset({"atomicExch", "atomicCAS"})


@rule("dead_inputs")
def unread_input(reading: CudaReading) -> list[Spot]:
    """Is there an input that nothing reads: a kernel's pointer, or a tensor of which only sizes and types are asked?

    Silent on kernels that only other files launch or that have no body, on parameters without a name, on tensors handed
    to any function or named in a macro, on one of two layouts of an input (`b` and `b_col_major`), on what another
    kernel of the same host function uses under that name, and beside syntax errors.
    """
    if reading.source.error_count:
        return []
    spots = []
    macros, used = reading.macro_words, _used_names(reading)
    for kernel in filter(reading.is_used, reading.kernels):
        empty = not reading.source.masked[kernel.body_start : kernel.end].strip("{}; \t\r\n")
        names = [each.name for each in kernel.parameters if each.name and each.is_pointer and not empty]
        left = [name for name in names if not reading.mentioned(name, kernel) and name not in macros]
        beside = [used[host] for host in _launched_in(reading, kernel)] if left else []
        spots += [_spot(kernel, name) for name in left if not any(name in each for each in beside)]
    for entry, names in reading.entries.items():
        alike = Counter(_LAYOUT_NAME.sub("", name) for name in names)
        mentioned = {name: reading.mentioned(name, entry) for name in names if name not in macros}
        unread = (name for name, found in mentioned.items() if all(_is_metadata(reading, node) for node in found))
        spots += [_spot(entry, name) for name in unread if alike[_LAYOUT_NAME.sub("", name)] == 1]
    return spots


def _used_names(reading: CudaReading) -> dict[int, set[str]]:
    """Return the parameters that the kernels which a host function launches use, by the beginning of that function: the
    steps of one task share their list of parameters."""
    found: dict[int, set[str]] = {}
    for kernel in reading.kernels:
        used = {each.name for each in kernel.parameters if each.name and reading.mentioned(each.name, kernel)}
        for host in _launched_in(reading, kernel):
            found.setdefault(host, set()).update(used)
    return found


def _launched_in(reading: CudaReading, kernel: Function) -> set[int]:
    """Return the beginnings of the host functions that launch a kernel."""
    places = (each.start for each in reading.source.launches_of.get(kernel.name, ()))
    return {found.start for place in places if (found := reading.source.function_at(place)) is not None}


def _spot(function: Function, name: str) -> Spot:
    what = "kernel" if function.kind == "kernel" else "function"
    return Spot(function.line, f"{what} {function.name} takes {name} and never reads its values")


def _is_metadata(reading: CudaReading, mention: Node) -> bool:
    """Return whether a mention asks for sizes and types, stands in a check, or only shapes another tensor."""
    for node in reading.ancestors(mention, until=("function_definition", "compound_statement", "lambda_expression")):
        if node.type == "field_expression":
            field = node.child_by_field_name("field")
            if field is not None and reading.text(field) in _METADATA:
                return True
            if field is not None and _ADDRESS.match(reading.text(field)):
                return False
        elif node.type == "cast_expression" and reading.text(node).replace(" ", "").startswith("(void)"):
            return True
        elif node.type == "call_expression" and (called := node.child_by_field_name("function")):
            name = reading.text(called).split("::")[-1]
            if "CHECK" in name or "ASSERT" in name or name in _SHAPE_ONLY:
                return True
        elif node.type == "init_declarator" or node.type.endswith("_statement"):
            return False
    return False


@rule("inherited")
def unwritten_output(reading: CudaReading) -> Iterator[Spot]:
    """Is memory returned that was handed out uninitialised and given to nobody in between?

    Silent where the tensor is mentioned in any way but its sizes and types.
    """
    for function in (each for each in reading.source.functions if each.kind == "host"):
        for fresh in (each for each in reading.variables_in(function) if _is_uninitialised(reading, each)):
            later = reading.mentioned_between(fresh.name, fresh.node.end_byte + 1, function.end)
            given = [node for node in later if not _ONLY_SIZES.match(reading.source.masked, node.end_byte)]
            holders = [{each.type for each in reading.ancestors(node)} for node in given]
            if holders and all("return_statement" in types for types in holders):
                text = f"{fresh.name} is returned as allocated: uninitialised, and given to nothing that could write it"
                yield Spot(fresh.line, text)


@rule("inherited")
def adds_to_uninitialised(reading: CudaReading) -> Iterator[Spot]:
    """Does a kernel only add to memory that was handed out uninitialised?

    Silent where anything else fills that memory first.
    """
    for launch in reading.source.launches:
        function = reading.source.function_at(launch.start)
        stored = _stored_parameters(reading, launch.kernel_name)
        for position, name in _tensors_given(reading, launch).items() if function and stored else ():
            made = reading.declared(name, function, launch.start) if function and stored.get(position) else None
            if made is None or not _is_uninitialised(reading, made):
                continue
            between = reading.mentioned_between(name, made.node.end_byte + 1, launch.start)
            if all(_ONLY_SIZES.match(reading.source.masked, node.end_byte) for node in between):  # only sizes are asked
                text = f"kernel {launch.kernel_name} only adds to {name}, which line {made.line} leaves uninitialised"
                yield Spot(launch.line, text)


@rule("inputs_intact")
def writes_input(reading: CudaReading) -> Iterator[Spot]:
    """Is the memory of a tensor that the caller passed in written to?

    Silent where that tensor is returned or nothing is, since the result is then in place by contract, where the name
    stands for a copy, and where it says that the memory is scratch.
    """
    for entry in reading.entries:
        inputs = _inputs(reading, entry)
        for call in reading.calls_in(entry):
            name = reading.text(call.receiver) if call.receiver is not None else ""
            if call.name in _IN_PLACE and name in inputs:
                yield Spot(call.line, f".{call.name}() changes {inputs[name]}, which the caller passed in")
        for launch in reading.source.launches_in(entry):
            stored = _stored_parameters(reading, launch.kernel_name)
            for position, name in _tensors_given(reading, launch).items():
                if position in stored and name in inputs:
                    text = f"kernel {launch.kernel_name} stores into {inputs[name]}, which the caller passed in"
                    yield Spot(launch.line, text)


def _inputs(reading: CudaReading, entry: Function) -> dict[str, str]:
    """Return names that stand for a tensor of the caller, each with that parameter's name."""
    names = {name: name for name in tensor_parameters(entry) if not _SCRATCH.search(name.lower())}
    head = reading.source.masked[entry.start : entry.body_start].split("(")[0]
    if "void" in head.split():
        return {}
    for variable in reading.variables_in(entry):
        if variable.value is not None:
            source = reading.text(variable.value)
            if source in names:
                names[variable.name] = names[source]
    for _, left, _ in sides(reading.inside(entry, "assignment_expression")):
        names.pop(reading.text(left), None)
    returned = {name for node in reading.inside(entry, "return_statement") for name in reading.names_in(node)}
    kept = {parameter for name, parameter in names.items() if name in returned}
    return {name: parameter for name, parameter in names.items() if parameter not in kept}


def _is_uninitialised(reading: CudaReading, variable: Variable) -> bool:
    """Return whether the initial value of a variable is one call that allocates and does not fill."""
    value = variable.value
    if value is not None and value.type == "argument_list" and value.named_child_count == 1:
        value = value.named_children[0]
    return value is not None and _allocations(reading).get(value.start_byte) == value.end_byte


@lru_cache(maxsize=1)
def _allocations(reading: CudaReading) -> dict[int, int]:
    """Return offsets of the calls that allocate and do not fill: where each starts, and past its end."""
    return {call.node.start_byte: call.node.end_byte for call in reading.calls if call.name in _EMPTY}


def _tensors_given(reading: CudaReading, launch: Launch) -> dict[int, str]:
    """Return position of the kernel's parameter to the tensor's name; arguments of any other form are left out."""
    masked = reading.source.masked
    first, last = launch.arguments_start, launch.end - 1
    found = {}
    for position, (start, end) in enumerate(split_commas(masked, first, last)):
        text = masked[start:end].strip()
        name = match[1] if (match := _DATA.match(text)) else _pointer_variable(reading, launch, text)
        if name:
            found[position] = name
    return found


def _pointer_variable(reading: CudaReading, launch: Launch, text: str) -> str | None:
    """Return the tensor behind `float* p = x.data_ptr<float>();`."""
    function = reading.source.function_at(launch.start)
    variable = reading.declared(text, function, launch.start) if function else None
    match = _DATA.match(reading.text(variable.value)) if variable and variable.value else None
    return match[1] if match else None


@lru_cache(maxsize=1024)
def _stored_parameters(reading: CudaReading, kernel_name: str) -> dict[int, bool]:
    """Return position of each pointer parameter that the kernel itself stores through, and whether it only adds there.

    A store that adds needs the value before: `+=`, `++` and most atomics.
    """
    kernel = reading.kernel(kernel_name)
    if kernel is None:
        return {}
    plain, adding = _stores(reading, kernel)
    return {
        position: parameter.name not in plain
        for position, parameter in enumerate(kernel.parameters)
        if parameter.name in plain | adding and parameter.is_pointer and not parameter.text.startswith("const ")
    }


def _stores(reading: CudaReading, kernel: Function) -> tuple[set[str | None], set[str | None]]:
    """Return the names through which a kernel stores plainly, and those through which it adds."""
    plain: set[str | None] = set()
    adding: set[str | None] = set()
    for node, left, _ in sides(reading.inside(kernel, "assignment_expression")):
        (plain if node.children[1].type == "=" else adding).add(_base(reading, left))
    for node in reading.inside(kernel, "update_expression"):
        if (target := node.child_by_field_name("argument")) is not None:
            adding.add(_base(reading, target))
    for call in reading.calls_in(kernel):
        if call.name.startswith("atomic") and call.arguments:
            first = call.arguments[0]
            inner = first.child_by_field_name("argument") if first.type == "pointer_expression" else first
            names = () if inner is None else (_base(reading, inner), reading.text(inner).split("+")[0].strip())
            (plain if call.name in _SETTING else adding).update(names)
    return plain, adding


def _base(reading: CudaReading, place: Node) -> str | None:
    """Return the pointer's name in `p[i]`, `*p`, `*(p + i)`; None for a plain variable."""
    if place.type == "subscript_expression":
        base = place.child_by_field_name("argument")
        return reading.text(base) if base is not None and base.type == "identifier" else None
    if place.type == "pointer_expression":
        inner = place.child_by_field_name("argument")
        return reading.text(inner).strip("( ").split("+")[0].strip() if inner is not None else None
    return None
