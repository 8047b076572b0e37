"""Constructs that only a real GPU can run, found by name, so that the emulated device refuses them in plain words."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from audit.review.cuda_source import CudaSource

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_LIBRARIES, _MODELLED, _LANGUAGE = (
    {name: "".join(pattern.splitlines()) for name, pattern in _TABLE[kind].items()}
    for kind in ("libraries", "modelled", "language")
)
CLUSTERS = "thread block clusters, for which a GPU of compute capability 9.0 is needed"
_CONSTRUCT = re.compile(
    "|".join(
        rf"(?P<n{index}>\b(?:{pattern})\b)" if pattern[-1] != ")" else rf"(?P<n{index}>\b(?:{pattern}))"
        for index, pattern in enumerate((*_LIBRARIES.values(), *_LANGUAGE.values()))
    )
)
_NAMES = (*_LIBRARIES, *_LANGUAGE)
_LONGEST = 100  # characters of a name of a library
_NO_CODE = re.compile(r"[ \t]*#[ \t]*(?:include|pragma|if|elif|undef|error|warning)")
_HEADER = re.compile(r"(?:cublas|cudnn|cufft|cusparse|cusolver|curand|nccl|nvrtc|cub/|thrust/|cutlass/|cute/)")


@dataclass(frozen=True)
class Construct:
    """One construct that the emulated device does not model, and the line where it stands."""

    construct: str
    line: int


def is_refused_header(header: str) -> bool:
    """Return whether a header belongs to a library whose use is refused; included and unused, it does no harm."""
    return _HEADER.match(header) is not None


def unsupported(source: CudaSource, *, whole_libraries: bool = False, defined: Collection[str] = ()) -> list[Construct]:
    """Return each construct once, at the first line that uses it, in the order of lines.

    Comments, strings, includes, macros that nothing uses, and names that the source itself gives do not count, nor does
    what stands under an `#ifdef` of a name that neither the source nor a flag (`defined`) defines. What the emulated
    device does of a library counts for `whole_libraries` alone.
    """
    found: dict[str, int] = {} if source.parsed else {"a source that the parser reads this slowly": 1}
    words = Counter(re.findall(r"\w+", source.masked)) if source.macros else Counter[str]()
    own = {each.name for each in source.macros} | source.by_name.keys()
    for match in _CONSTRUCT.finditer(source.masked):
        name = _NAMES[int((match.lastgroup or "n0")[1:])]
        if name in found or not _counts(source, match, words) or _left_out(source, match.start(), own | {*defined}):
            continue
        text = source.masked[match.start() : match.start() + _LONGEST]
        modelled = name in _MODELLED and re.match(rf"(?:{_MODELLED[name]})\b", text) is not None
        if whole_libraries or not (modelled or match.group() in own):
            found[name] = source.line_of(match.start())
    holders = ((launch, source.function_at(launch.start)) for launch in source.launches)
    device = (launch.line for launch, holder in holders if holder is not None and not holder.for_host)
    if first := next(device, None):
        found["dynamic parallelism"] = first
    return [Construct(name, line) for line, name in sorted((line, name) for name, line in found.items())]


def _left_out(source: CudaSource, at: int, defined: Collection[str]) -> bool:
    for node in source.walked.nodes["preproc_ifdef"]:
        named, other = node.child_by_field_name("name"), node.child_by_field_name("alternative")
        if named is None or not node.start_byte <= at < (other.start_byte if other else node.end_byte):
            continue
        name = source.text[named.start_byte : named.end_byte]
        before = source.text[node.start_byte : named.start_byte]
        if "ifdef" in before and not name.startswith("_") and name not in defined:
            return True
    return False


def _counts(source: CudaSource, match: re.Match[str], words: Counter[str]) -> bool:
    line_start = source.masked.rfind("\n", 0, match.start()) + 1
    if _NO_CODE.match(source.masked, line_start, match.start()):
        return False
    macro = source.macro_at(match.start())
    return macro is None or words[macro.name] > 1
