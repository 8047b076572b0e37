"""Does nothing ask whether a launch succeeded?

Silent where the file checks errors anywhere, by any of the usual macros or by hand.
"""

from __future__ import annotations

import re

from audit.review.cuda_reading import CudaReading
from audit.review.rule import Rule, Spot

_ASKING = re.compile(r"cudaGetLastError|cudaPeekAtLastError|cudaDeviceSynchronize|cudaStreamSynchronize")
_CHECKING = re.compile(
    r"\w*CUDA\w*CHECK\w*|\w*CHECK\w*CUDA\w*|\w*KERNEL_LAUNCH_CHECK\w*|check_?cuda\w*|gpuErrchk", re.IGNORECASE
)


def find(reading: CudaReading) -> list[Spot]:
    """Return the first launch of a file that checks none, and errors that are fetched and thrown away."""
    launches = [launch for launch in reading.source.launches if not launch.in_macro]
    macros = " ".join(reading.source.masked[macro.body_start : macro.end] for macro in reading.source.macros)
    named = [call.name for call in reading.calls] + re.findall(r"\w+", macros)
    asked = [name for name in named if _ASKING.fullmatch(name) or (_CHECKING.fullmatch(name) and "INPUT" not in name)]
    dropped = [
        call for call in reading.calls if call.name == "cudaGetLastError" and _is_statement(reading.parent(call.node))
    ]
    first = min((launch.end for launch in launches), default=len(reading.source.text))
    after = [call for call in dropped if first < call.node.start_byte]
    if after:
        return [Spot(call.line, "cudaGetLastError is called and its answer thrown away") for call in after]
    if not launches or asked:
        return []
    return [Spot(launches[0].line, "nothing in the file asks whether a launch succeeded")]


def _is_statement(node: object) -> bool:
    return getattr(node, "type", None) == "expression_statement"


RULE = Rule("unchecked_launch", __doc__, "contract", find, standing="advice")
