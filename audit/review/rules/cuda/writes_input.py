"""Is the memory of a tensor that the caller passed in written to?

Silent where that tensor is returned or nothing is, since the result is then in place by contract, and where the name
stands for a copy.
"""

from __future__ import annotations

from audit.review.cuda_reading import CudaReading, tensor_parameters
from audit.review.cuda_source import Function
from audit.review.rule import Rule, Spot, names
from audit.review.tensors import stored_parameters, tensors_given

_IN_PLACE = names("""
    zero_ fill_ copy_ add_ sub_ mul_ div_ clamp_ relu_ exp_ sqrt_ pow_ neg_ abs_ random_ normal_ uniform_ tril_
    triu_ sigmoid_ tanh_ resize_ masked_fill_ index_put_ set_
""")


def find(reading: CudaReading) -> list[Spot]:
    """In-place operators on parameters, and launches that hand one to a kernel which stores through it."""
    spots = []
    for entry in reading.entries:
        inputs = _inputs(reading, entry)
        for call in reading.calls_in(entry):
            name = reading.text(call.receiver) if call.receiver is not None else ""
            if call.name in _IN_PLACE and name in inputs:
                spots.append(Spot(call.line, f".{call.name}() changes {inputs[name]}, which the caller passed in"))
        for launch in reading.source.launches_in(entry):
            stored = stored_parameters(reading, launch.kernel_name)
            for position, name in tensors_given(reading, launch).items():
                if position in stored and name in inputs:
                    text = f"kernel {launch.kernel_name} stores into {inputs[name]}, which the caller passed in"
                    spots.append(Spot(launch.line, text))
    return spots


def _inputs(reading: CudaReading, entry: Function) -> dict[str, str]:
    """Return names that stand for a tensor of the caller, each with that parameter's name."""
    names = {name: name for name in tensor_parameters(entry)}
    head = reading.source.masked[entry.start : entry.body_start].split("(")[0]
    if "void" in head.split():
        return {}
    for variable in reading.variables_in(entry):
        if variable.value is not None:
            source = reading.text(variable.value)
            if source in names:
                names[variable.name] = names[source]
    for node in reading.inside(entry, "assignment_expression"):
        left = node.child_by_field_name("left")
        if left is not None:
            names.pop(reading.text(left), None)
    returned = {
        name for node in reading.inside(entry, "return_statement") for name in reading.names_in(node) if name in names
    }
    kept = {names[name] for name in returned}
    return {name: parameter for name, parameter in names.items() if parameter not in kept}


RULE = Rule("writes_input", __doc__, "inputs_intact", find)
