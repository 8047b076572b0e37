"""Rules about a launch and the kernel that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import Function
from audit.review.rule import Spot, rule

_ASKING = re.compile(r"cudaGetLastError|cudaPeekAtLastError|cudaDeviceSynchronize|cudaStreamSynchronize")
_CHECKING = re.compile(
    r"\w*CUDA\w*CHECK\w*|\w*CHECK\w*CUDA\w*|\w*KERNEL_LAUNCH_CHECK\w*|check_?cuda\w*|gpuErrchk", re.IGNORECASE
)
_HEADER = re.compile(r"\s*#\s*(?:pragma\s+once\b|ifndef\s+(\w+)\s+#\s*define\s+\1\b)")
_NO_STREAM = frozenset({"0", "nullptr", "NULL", "cudaStreamLegacy"})


@rule("memory_access")
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
