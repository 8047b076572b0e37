"""Rules about calls whose names say what they do, where more than the name decides."""

from __future__ import annotations

import re

from audit.review.cuda_reading import Call, CudaReading, tensor_parameters
from audit.review.rule import Spot, grouped, names, rule

_CREATE = names("""
    cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority getStreamFromPool getStreamFromExternal
""")
_DRIVER_WAIT, _TORCH_WAIT = "cudaStreamWaitEvent", "block"
_JOIN = names("""
    cudaStreamWaitEvent cudaStreamSynchronize cudaDeviceSynchronize cudaEventSynchronize block synchronize
    device_synchronize stream_synchronize
""")
_SETTERS = names("""
    setAllowTF32CuBLAS setAllowTF32CuDNN setFloat32MatmulPrecision setFloat32Precision setBenchmarkCuDNN
    setDeterministicCuDNN setDeterministicAlgorithms setAllowFP16ReductionCuBLAS setAllowBF16ReductionCuBLAS
    setUserEnabledCuDNN set_default_dtype setNumThreads set_num_threads cudaDeviceSetLimit cudaDeviceSetCacheConfig
    cudaDeviceSetSharedMemConfig cudaSetDeviceFlags
""")
_ATTRIBUTES = frozenset({"cudaStreamSetAttribute", "cudaGraphKernelNodeSetAttribute"})
_WORDS = (
    "cudaLimitPersistingL2CacheSize",
    "cudaStreamAttributeAccessPolicyWindow",
    "cudaLaunchAttributeAccessPolicyWindow",
)
_INTRINSIC = re.compile(r"__float\w*2(?:half|bfloat16)\w*|__double2(?:half|bfloat16)|__float_to_tf32|__floats2\w+_rn")
_NARROW = re.compile(
    r"\b(?:__half2?|__hip_bfloat162?|half2?|__nv_bfloat162?|nv_bfloat162?|bfloat16|at::Half|c10::Half|at::BFloat16)\b"
)
_ASKED_TYPE = re.compile(rf"\bis_same(?:_v)?\s*<[^<>;]{{0,200}}(?:{_NARROW.pattern})")
_HALF_POINTER = re.compile(
    rf"\b(?:data_ptr\s*<|const)\s*{_NARROW.pattern}\s*[*>]|{_NARROW.pattern}\s*\*\s*>\s*\(\w+\.data_ptr|[!=]=\s*(?:torch|at|c10)::k(?:Half|BFloat16|Float8\w+)"
)
_ALIAS = re.compile(rf"\busing\s+(\w+)\s*=\s*{_NARROW.pattern}|\btypedef\s+{_NARROW.pattern}\s+(\w+)")
_HALVES = ("half", "Half", "bfloat", "BFloat", "Float8")
"""What every name of those types holds."""
_LAYOUT = names("contiguous is_contiguous stride strides is_non_overlapping_and_dense expect_contiguous")
_CONTIGUITY = frozenset({"contiguous", "is_contiguous"})
_ACCESSOR = re.compile(r"packed_accessor\w*|accessor|TensorIterator\w*")
_OWN_HEADER = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?!torch/|ATen/|c10/|cuda)', re.MULTILINE)
_POINTER = frozenset({"data_ptr", "const_data_ptr", "mutable_data_ptr", "data"})
_NONE = "(?!)"
_DTYPE = re.compile(r"\b(?:k(?:Half|BFloat16|Float16)|(?:Half|BFloat16))\b")


@rule("current_stream")
def side_stream(reading: CudaReading) -> list[Spot]:
    """Is work sent to a stream of its own that nothing in the file waits for?

    Silent where the file joins streams: a synchronisation, or a stream that waits for an event of another one, unless
    the stream that waits is the one made here.
    """
    made = [call for call in reading.calls if call.name in _CREATE]
    own = {name for call in made for name in (_argument(reading, call, 0), _assigned(reading, call)) if name}
    waits = [call for call in reading.calls if call.name in _JOIN]
    if any(_joins(reading, call, own) for call in waits):
        return []
    return [Spot(call.line, f"{call.name} makes a stream that nothing here waits for") for call in made]


def _joins(reading: CudaReading, wait: Call, own: set[str]) -> bool:
    """Return whether a call may wait for a stream of `own`: not where one of these waits, or where the event was
    recorded on the stream that waits for it."""
    if wait.name not in (_DRIVER_WAIT, _TORCH_WAIT):
        return True
    stream, event = _stream_and_event(reading, wait)
    records = (_stream_and_event(reading, call) for call in reading.calls if call.name in ("cudaEventRecord", "record"))
    recorded = {of for of, what in records if what == event}
    return stream.rpartition(".")[2].rpartition(">")[2] not in own and recorded != {stream}


def _stream_and_event(reading: CudaReading, call: Call) -> tuple[str, str]:
    """Return what a call records or waits for: torch's are `event.record(stream)` and `event.block(stream)`."""
    if call.receiver is not None:
        return _argument(reading, call, 0).removesuffix(".stream()"), reading.text(call.receiver)
    first, second = (_argument(reading, call, place).removesuffix(".stream()") for place in (0, 1))
    return (first, second) if call.name == _DRIVER_WAIT else (second, first)


def _argument(reading: CudaReading, call: Call, place: int) -> str:
    """Return an argument as it is written, without the sign that takes its address; empty where there is none."""
    return reading.text(call.arguments[place]).lstrip("&") if place < len(call.arguments) else ""


def _assigned(reading: CudaReading, call: Call) -> str:
    """Return the name that is declared with the result of a call; empty where there is none."""
    declarator = call.node.parent.child_by_field_name("declarator") if call.node.parent else None
    return reading.text(declarator) if declarator is not None else ""


@rule("backend_flags")
def backend_flags(reading: CudaReading) -> list[Spot]:
    """Is a setting of the whole library changed from within the candidate?

    Silent on reading a setting, where the last call sets back what a variable kept, and on the math mode of a handle
    that the file makes itself.
    """
    changed = grouped((call.name, call) for call in reading.calls if call.name in _SETTERS)
    restored = {
        name
        for name, calls in changed.items()
        if len(calls) > 1 and calls[-1].arguments and calls[-1].arguments[-1].type == "identifier"
    }
    left = [call for name, calls in changed.items() if name not in restored for call in calls]
    return [Spot(call.line, f"{call.name} changes a setting for everything in the process") for call in left]


@rule("timing")
def cache_control(reading: CudaReading) -> list[Spot]:
    """Does the candidate pin data in the L2 cache beyond the call?

    Silent on cache modifiers of single loads and stores.
    """
    lines = {reading.line(node) for word in _WORDS for node in reading.mentions.get(word, ())}
    lines |= {call.line for call in reading.calls if call.name in _ATTRIBUTES}
    return [Spot(line, "part of the L2 cache is set aside for data of earlier calls") for line in sorted(lines)]


@rule("precision", precise=True)
def cast_down(reading: CudaReading) -> list[Spot]:
    """Are values of a wider type rounded to half, bfloat16 or TF32 on the way?

    Silent where a function takes half or reads it through a pointer, or the file asks whether a type is half, since it
    then works in the type of its inputs.
    """
    if _works_in_half(reading):
        return []
    found = {call.line: result for call in reading.calls if (result := _described(reading, call))}
    for node in reading.nodes("cast_expression"):
        if (kind := node.child_by_field_name("type")) and _NARROW.fullmatch(reading.text(kind).strip()):
            found.setdefault(reading.line(node), f"({reading.text(kind).strip()})")
    return [Spot(line, f"{result} rounds values to fewer bits than they came with") for line, result in found.items()]


def _works_in_half(reading: CudaReading) -> bool:
    """Return whether a source takes such values, or asks whether a type is one of theirs."""
    source = reading.source.masked
    if not any(word in source for word in _HALVES):
        return False
    aliases = [name for pair in _ALIAS.findall(source) for name in pair if name]
    narrow = re.compile(rf"(?:{_NARROW.pattern}|\b(?:{'|'.join([_NONE, *aliases])})\b)")
    taken = any(narrow.search(each.text) for function in reading.source.functions for each in function.parameters)
    aliased = re.search(rf"\bconst\s+{narrow.pattern}\s*\*", source)
    return bool(taken or aliased or _ASKED_TYPE.search(source) or _HALF_POINTER.search(source))


def _described(reading: CudaReading, call: Call) -> str | None:
    if _INTRINSIC.fullmatch(call.name):
        return call.name
    if call.receiver is not None and call.name in ("half", "bfloat16"):
        return f".{call.name}()"
    if call.receiver is not None and call.name in ("to", "toType"):
        asked = any(_DTYPE.search(reading.text(argument)) for argument in call.arguments)
        return f".{call.name}({', '.join(map(reading.written, call.arguments))})" if asked else None
    if call.name in ("static_cast", "__half", "half") and call.arguments:
        called = call.node.child_by_field_name("function")
        whole = " ".join(reading.text(called).split()) if called else ""
        return whole if _NARROW.search(whole) else None
    return None


@rule("layout", standing="advice")
def layout(reading: CudaReading) -> list[Spot]:
    """Is the memory of a parameter read as if it lay contiguously, without a word about its layout?

    Silent where the file asks for or makes contiguous tensors, reads strides or uses accessors, or has a header of its
    own that may.
    """
    names = {call.name for call in reading.calls}
    if (
        _OWN_HEADER.search(reading.source.code)
        or names & _LAYOUT
        or any(_ACCESSOR.fullmatch(name) for name in names)
        or reading.macro_words & _CONTIGUITY
    ):
        return []
    for call in reading.calls:
        function = reading.function(call.node)
        if call.name not in _POINTER or call.receiver is None or function is None or function.kind != "host":
            continue
        name = reading.text(call.receiver)
        if name in tensor_parameters(function):
            return [Spot(call.line, f"the memory of {name} is read as contiguous, and nothing here makes sure of it")]
    return []
