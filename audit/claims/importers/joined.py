"""Several C++ and CUDA files as the one source of a variant: local includes in their place, C++ behind CUDA."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from audit.claims.importers.facts import Claimed
from audit.model.errors import BadInput
from audit.review.cuda_source import parse
from audit.review.token_scan import blanked

SOURCES, HEADERS = (".cu", ".cpp", ".cc"), (".cuh", ".h", ".hpp", ".inl")
MOST_CHARACTERS = 4 << 20
"""Of the joined text; a header may be included many times."""
ADDED = "files joined into one: local includes in their place, other headers first, a comment before each file"
_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)')
_QUOTED = re.compile(r'[ \t]*#[ \t]*include[ \t]*"[^"\n]+"')
_PLACED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"(?:[ \t]*// (\S+, line \d+)$)?', re.MULTILINE)
_OF_A_TOOLKIT = re.compile(
    r"(?:torch|ATen|c10|pybind11|cub|thrust|cuda|nv|cooperative_groups)/|(?:cu|nv|sm_|device_|vector_|driver_|math)\w*\.h"
    r"|(?:cooperative_groups|mma|Python|std\w+|float|limits|assert|string|time|ctype|errno|omp)\.h|\w+$"
)
"""Headers of CUDA, of torch and of the language."""
_ONCE = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+once\b")
_GUARD = re.compile(r"\s*(?://[^\n]*\s*|/\*.*?\*/\s*)*#[ \t]*(?:ifndef|if[ \t]+!)", re.DOTALL)
_IF = re.compile(r"[ \t]*#[ \t]*if(?:ndef[ \t]+(\w+))?")
_ENDIF, _DEFINED = re.compile(r"[ \t]*#[ \t]*endif\b"), re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]*$")
_HEADER = re.compile(r'[ \t]*#[ \t]*include[ \t]*[<"]')
_CONSTANT = re.compile(
    r"^(?:static[ \t]+)?const(?:expr)?\b[^;{}()=]*?\b(?P<name>\w+)(?:\[[^\]]*\])?\s*=[^;{}]*;", re.MULTILINE
)
_TYPE = re.compile(
    r"^(?:template[ \t]*<[^{};]*>\s*)?(?:typedef[ \t]+)?(?:struct|class|union|enum)\b(?P<name>[^;{}()=]*)\{",
    re.MULTILINE,
)
_OWN = re.compile(r"\b(?:template|static|inline|constexpr|__forceinline__|__device__|__global__)\b")
"""What makes a function one of its own source, so that another source may have another of that name."""
_BRACE = re.compile(r"[{}]")
_NAMESPACE = re.compile(r"\bnamespace\b(?P<name>[^;{}()=]*)\{")
_BINDING = re.compile(r"\bPYBIND11_MODULE\s*\(")


def binds(text: str) -> bool:
    """Return whether a source binds functions for Python."""
    return _BINDING.search(text) is not None


def unplaced(claimed: Claimed | None) -> tuple[str, ...]:
    """Return the includes in quotes of a claimed source that stand there still, but for those of a toolkit."""
    text = claimed.data.decode(errors="replace") if claimed else ""
    found = ((one[1], one[2] or f"line {text.count(chr(10), 0, one.start()) + 1}") for one in _PLACED.finditer(text))
    return tuple(f'#include "{name}" ({place})' for name, place in found if not _OF_A_TOOLKIT.match(name))


def used(files: Mapping[str, str], first: str, folders: Sequence[str] = ()) -> set[str]:
    """Return the files that a source includes, directly or through others; `folders` are those of `-I`."""
    found: set[str] = set()
    queue = [first]
    while queue:
        name = queue.pop()
        for line in files[name].splitlines():
            inner = _included(files, name, line, folders)
            if inner is not None and inner not in found:
                found.add(inner)
                queue.append(inner)
    return found


def joined(files: Mapping[str, str], folders: Sequence[str] = ()) -> str:
    """Return the sources among the files (texts by their paths) as one, those in C++ last: they call the kernels.
    Raises BadInput: a file without a guard includes itself, or the text becomes too large."""
    every = [name for name in files if name.endswith(SOURCES)]
    included = {inner for name in files for inner in used(files, name, folders) - {name}}
    kept = [name for name in every if name not in included] or every  # these include each other
    sources = sorted(kept, key=lambda name: (not name.endswith(".cu"), name))
    once: set[str] = set()
    known: dict[str, str] = {}
    texts = [_apart("\n".join(_expanded(files, name, once, {}, folders)), known) for name in sources]
    text = "\n".join([*_includes_first("\n".join(texts).split("\n")), ""])
    if len(text) > MOST_CHARACTERS:
        raise BadInput(f"{sources[0]}: {len(text):,} characters with its includes; at most {MOST_CHARACTERS:,}")
    return text


def _apart(text: str, known: dict[str, str]) -> str:
    """Return a source as its compiler sees it apart from earlier ones, whose helpers are not its own.

    Functions, constants and types outside of others that an earlier source has alike are left out; where it has another
    function or constant of that name, the later one gets a name of its own by a macro, unless a member may have that
    name too. `known` has the definitions of earlier sources by name, and gets its own.
    """
    source = parse(text)
    found = [(one.start, one.end, one.name, source.masked[one.start : one.body_start]) for one in source.functions]
    found += [(*one.span(), one["name"], one["name"]) for one in _CONSTANT.finditer(source.masked)]
    found += [(one.start(), end, name, "") for one, end, name in _types(source.masked)]
    scopes = [(one.end(), _closed(source.masked, one.end()), one["name"].strip() or "{}")
              for one in _NAMESPACE.finditer(source.masked)]  # fmt: skip
    own, repeated, others, depth, at = dict[str, str](), [], dict[str, None](), 0, 0
    for start, end, called, head in sorted(found):
        depth += source.masked.count("{", at, start) - source.masked.count("}", at, start)
        at, alike = start, "".join(source.code[start:end].split())
        within = [named for first, last, named in scopes if first <= start < last]
        if depth != len(within) or not called:
            continue
        name = "::".join([*within, called])
        if known.get(name) == alike:
            repeated.append((start, end))
        elif name in known and not within and (head == name or _OWN.search(head)):
            others[name] = None
        own.setdefault(name, alike)
    others = {name: None for name in others if not re.search(rf"(?:\.|->|::)\s*{name}\b", source.masked)}
    mark = sum(name.startswith("#") for name in known)
    known |= {name: alike for name, alike in own.items() if name not in known} | {f"#{mark}": ""}
    kept = blanked(text, repeated)
    before = "".join(f"#define {name} {name}_{mark}\n" for name in others)
    return before + kept + "".join(f"\n#undef {name}" for name in others)


def _types(masked: str) -> Iterator[tuple[re.Match[str], int, str]]:
    """Yield the definitions of types with their ends and names."""
    for one in _TYPE.finditer(masked):
        past = _closed(masked, one.end())
        end = masked.find(";", past) + 1
        words = [*re.findall(r"\w+", one["name"]), *re.findall(r"\w+", masked[past:end])]
        if end and words:
            yield one, end, f"type {' '.join(words)}"


def _closed(masked: str, past: int) -> int:
    """Return the end of the brace that closes the one before a place; the end of the text where none does."""
    depth = 1
    while depth and (brace := _BRACE.search(masked, past)) is not None:
        depth, past = depth + (1 if brace[0] == "{" else -1), brace.end()
    return len(masked) if depth else past


def _includes_first(lines: Sequence[str]) -> list[str]:
    """Return the lines with the libraries' headers at the top, where one file has them, but for those in conditions.

    The emulated device changes names behind the last header alone.
    """
    first: dict[str, None] = {}
    rest, conditions = [], list[bool]()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if opened := _IF.match(line):
            guard = _DEFINED.match(following)
            conditions.append(guard is None or guard[1] != opened[1])
        elif _ENDIF.match(line) and conditions:
            conditions.pop()
        hoisted = _HEADER.match(line) is not None and not any(conditions)
        first |= {line.strip(): None} if hoisted else {}
        rest.append("" if hoisted else line)
    return [*first, *rest]


def _expanded(
    files: Mapping[str, str], name: str, once: set[str], within: Mapping[str, int], folders: Sequence[str]
) -> list[str]:
    """Return the lines of a file with its local includes in their place; `within` has the files around it, and the line
    of each that includes the next. Behind an include in quotes of no file that was given stands its place."""
    if name in once:
        return []
    if name in within:
        if _GUARD.match(files[name]):
            return []
        first, *way = list(within.items())[list(within).index(name) :]
        by = ", ".join(f"{other} in line {line}" for other, line in way)
        way_text = by and f", by way of {by}"
        raise BadInput(f"{name}: includes itself in line {first[1]}{way_text}, without a guard")
    lines, left = [f"// {name}"], False
    for number, line in enumerate(files[name].removeprefix("\ufeff").splitlines(), start=1):
        inner = None if _ONCE.match(line) else _included(files, name, line, folders)
        if inner is not None:
            more = _expanded(files, inner, once, {**within, name: number}, folders)
            lines, left = lines + (more or [""]), left or bool(more)
            continue
        lines += [f"// {name}, line {number}"] if left else []
        left = False
        if _ONCE.match(line):
            once.add(name)
            lines.append("")
        else:
            lines.append(f"{line}  // {name}, line {number}" if _QUOTED.fullmatch(line) else line)
    return lines


def _included(files: Mapping[str, str], name: str, line: str, folders: Sequence[str]) -> str | None:
    """Return the file that a line includes: beside the file, in the first of the folders that has it, else the only one
    whose path ends so, as in a folder `include`, or that was named without its folder. Raises BadInput: several paths
    end so, and quotes say that one of them is meant."""
    match = _INCLUDE.match(line)
    if match is None:
        return None
    path = match[1] or match[2]
    places = [*([posixpath.dirname(name)] if match[1] else []), *folders]
    paths = (posixpath.normpath(posixpath.join(place, path)) for place in places)
    if (found := next((one for one in paths if one in files), None)) is not None:
        return found
    end = "/" + posixpath.normpath(path).lstrip("./")
    ending = [other for other in files if f"/{other}".endswith(end) or (match[1] and end.endswith(f"/{other}"))]
    if len(ending) > 1 and match[1]:
        raise BadInput(
            f"{name}: includes {path}, and {len(ending)} files end so ({', '.join(ending)}); name one of them"
        )
    return ending[0] if len(ending) == 1 else None
