"""An operation of `triton.language` as the builder calls that its types lead to.

Triton's front end finds out the types of an operation, converts and broadcasts operands, and then calls the builder.
All but the builder's work depends on types and Python values alone, and took most of the time of small programs. The
first call of an operation on operands of some types records the builder's calls; later ones repeat these on other data.
An operation on anything but tensors, types and Python values runs as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

MOST = 20_000
"""Recorded operations; further ones run as they are."""
CHANGES = ("program", "load", "store", "atomic", "print", "assert", "assume", "barrier", "gather", "scatter")
"""Parts of the names of builder's methods that do more than to make a value of their arguments."""
PLAIN = (bool, int, str, type(None))
OPERAND, CONSTANT, RESULT = range(3)
NAMES = ("operand", "constant", "result")
"""Of values in the text of a repetition, each with a number."""

Origin = tuple[int, int]
"""Whether a value is that of an operand, a constant or the result of a call, and which."""
Made = tuple[Origin, dict[str, Any] | None]
"""The origin of a result; of a new tensor that of its handle, with its attributes and its class."""
Repeated = Callable[[list[Any]], Any]
CLASS = "class of the tensor"


class Unrecorded(Exception):
    """The operation takes or makes something that cannot be repeated."""


class Replayed:
    """The recorded operations of this process; `interpreter` is the module `triton.runtime.interpreter`."""

    def __init__(self, interpreter: Any) -> None:
        self._semantic, self._language = interpreter.interpreter_semantic, interpreter.tl
        self._interpreter, self._builder = interpreter, interpreter.interpreter_builder
        self._known: dict[Any, Repeated | None] = {}
        self._numbers: dict[Any, int] = {}
        self._recorder: Recorder | None = None

    def operation(self, member: Callable[..., Any]) -> Callable[..., Any]:
        """Return that function of the language, which takes `_semantic`, as a kernel calls it."""
        semantic, known = self._semantic, self._known

        def call(*args: Any, **named: Any) -> Any:
            named.pop("_semantic", None)
            if self._recorder is not None:
                return member(*args, **named, _semantic=semantic)
            operands: list[Any] = []
            try:
                key = (member, *self._key(args, operands), *(self._key(named.items(), operands) if named else ()))
                if len(operands) > 1 and (same := _same_handles(operands)):
                    key += same
                recorded = known[key]
            except Unrecorded:
                recorded = None
            except KeyError:
                return self._recorded(member, args, named, key, operands)
            if recorded is None:
                return member(*args, **named, _semantic=semantic)
            return recorded(operands)

        return call

    def _key(self, values: Any, operands: list[Any]) -> list[Any]:
        """Return what the front end can tell of the values, whose tensors are added to the operands."""
        key: list[Any] = []
        language = self._language
        for one in values:
            kind = type(one)
            if kind is language.tensor:
                operands.append(one)
                key.append(self._number(one.type))
            elif kind in PLAIN:
                key += (kind, one)
            elif kind is float:
                key.append(one.hex())
            elif kind is language.constexpr:
                key += (kind, *self._key((one.value,), operands))
            elif kind in (tuple, list, language.tuple):
                key += (kind, tuple(self._key(one, operands)))
            elif isinstance(one, language.dtype):
                key += (kind, self._number(one))
            else:
                raise Unrecorded
        return key

    def _number(self, kind: Any) -> int:
        """Return the number of a type, the same for equal ones."""
        try:
            number: int = kind.recorded_number
        except AttributeError:
            name = (type(kind), str(kind), getattr(kind.scalar, "address_space", None))
            number = kind.recorded_number = self._numbers.setdefault(name, len(self._numbers))
        return number

    def _recorded(self, member: Any, args: Any, named: Any, key: Any, operands: list[Any]) -> Any:
        """Run the operation, and keep the builder's calls."""
        if len(self._known) == MOST:
            return member(*args, **named, _semantic=self._semantic)
        self._recorder = self._semantic.builder = recorder = Recorder(self._interpreter, operands)
        try:
            result = member(*args, **named, _semantic=self._semantic)
        finally:
            self._recorder, self._semantic.builder = None, self._builder
        self._known[key] = recorder.recorded(result)
        return result

    def decides(self, tensor: Any) -> None:
        """Take note that Python looks at a tensor's value, by which a recorded operation may have decided."""
        if self._recorder is not None:
            self._recorder.complete &= self._recorder.is_constant(tensor.handle)


class Recorder:
    """The interpreter's builder, whose calls are kept while one operation runs on the operands.

    Attributes:
        complete: whether the calls decide on the result.
    """

    def __init__(self, interpreter: Any, operands: list[Any]) -> None:
        self._builder, self._tensor = interpreter.interpreter_builder, interpreter.tl.tensor
        self._handles = (interpreter.TensorHandle, interpreter.BlockPointerHandle, interpreter.TensorDescHandle)
        self._operands = operands
        self._origins = {id(one.handle): (OPERAND, place) for place, one in enumerate(operands)}
        self._alive: list[Any] = []
        self._constants: list[Any] = []
        self._steps: list[tuple[Callable[..., Any], list[Origin]]] = []
        self.complete = True

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._builder, name)
        if not callable(method):
            return method
        changes = any(part in name for part in CHANGES)
        return lambda *args, **named: self._called(method, args, named, changes=changes)

    def is_constant(self, handle: Any) -> bool:
        """Return whether a value does not depend on the operands."""
        return self._origins.get(id(handle), (OPERAND, 0))[0] == CONSTANT

    def recorded(self, result: Any) -> Repeated | None:
        """Return the operation, or None where its calls do not say how the result is made."""
        try:
            made = self._made(result)
        except Unrecorded:
            return None
        return _compiled(len(self._operands), self._constants, self._steps, made) if self.complete else None

    def _called(self, method: Callable[..., Any], args: Any, named: Any, *, changes: bool) -> Any:
        result = method(*args, **named)
        try:
            origins = [self._origin(one) for one in (*args, *named.values())]
        except Unrecorded:
            self.complete = False
            return result
        if not changes and all(kind == CONSTANT for kind, _ in origins):
            self._keep(result, self._constant(result))
            return result
        self._step(_with_names(method, tuple(named)) if named else method, origins, result)
        return result

    def _step(self, method: Callable[..., Any], origins: list[Origin], result: Any) -> Origin:
        origin = (RESULT, len(self._steps))
        self._steps.append((method, origins))
        self._keep(result, origin)
        for place, part in enumerate(result) if isinstance(result, tuple) else ():
            self._step(itemgetter(place), [origin], part)
        return origin

    def _constant(self, value: Any) -> Origin:
        self._constants.append(value)
        return CONSTANT, len(self._constants) - 1

    def _keep(self, value: Any, origin: Origin) -> None:
        if self._has_handle(value):
            self._alive.append(value)  # no other value gets its id
            self._origins[id(value)] = origin

    def _has_handle(self, value: Any) -> bool:
        if isinstance(value, list | tuple):
            return any(self._has_handle(one) for one in value)
        return isinstance(value, self._handles)

    def _origin(self, value: Any) -> Origin:
        """Return the origin of a value. Raises Unrecorded for a handle that no call has returned."""
        if id(value) in self._origins:
            return self._origins[id(value)]
        if not self._has_handle(value):
            return self._constant(value)
        if isinstance(value, list | tuple):
            return self._step(_listed, [self._origin(one) for one in value], None)
        raise Unrecorded

    def _made(self, result: Any) -> Made:
        """Return the origin of a result, with the attributes of a new tensor. Raises Unrecorded."""
        for place, one in enumerate(self._operands):
            if result is one:
                return (OPERAND, place), None
        if result is None:
            return self._constant(None), None
        if type(result) is not self._tensor:
            raise Unrecorded
        return self._origin(result.handle), {**vars(result), CLASS: self._tensor}


def _compiled(operands: int, constants: list[Any], steps: list[Any], made: Made) -> Repeated:
    """Return the function of a list of operands that makes the calls and the result."""
    (kind, place), attributes = made
    lines = ["def repeated(operands):"]
    lines += [f"    {NAMES[OPERAND]}{at} = operands[{at}].handle" for at in range(operands)]
    for at, (_, origins) in enumerate(steps):
        given = ", ".join(f"{NAMES[kind]}{place}" for kind, place in origins)
        lines.append(f"    {NAMES[RESULT]}{at} = method{at}({given})")
    result = f"{NAMES[kind]}{place}"
    if attributes is None:
        lines.append(f"    return operands[{place}]" if kind == OPERAND else f"    return {result}")
    else:
        lines += ["    made = new(tensor)", "    made.__dict__.update(attributes)"]
        lines += [f"    made.handle = {result}", "    return made"]
    names = {f"{NAMES[CONSTANT]}{at}": value for at, value in enumerate(constants)}
    names |= {f"method{at}": method for at, (method, _) in enumerate(steps)}
    if attributes is not None:
        names |= {"new": object.__new__, "tensor": attributes.pop(CLASS), "attributes": attributes}
    exec("\n".join(lines), names)
    repeated: Repeated = names["repeated"]
    return repeated


def _same_handles(operands: list[Any]) -> tuple[int, ...]:
    """Return for each operand the first one of the same handle; empty where all differ."""
    if len(operands) == 2:
        return () if operands[0].handle is not operands[1].handle else (0, 0)
    first: dict[int, int] = {}
    same = tuple(first.setdefault(id(one.handle), place) for place, one in enumerate(operands))
    return same if len(first) < len(operands) else ()


def _with_names(method: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """Return the method with its last arguments by position."""
    count = len(names)
    return lambda *args: method(*args[:-count], **dict(zip(names, args[-count:], strict=True)))


def _listed(*values: Any) -> list[Any]:
    return list(values)
