"""Read a kernel's library: the bytes of its constants, and its symbols.

It may need symbols of ordinary programs, and must not replace a hook.

Its host code shares a process with the emulated device. Another name does not fail the kernel: the device refuses the
source as unsupported.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DYNAMIC, _ALL = 11, 2
"""Section types: the dynamic symbols, and all symbols."""
_WEAK = 2
CONSTANTS = ".nv.constants"
"""The section with the sizes of `__constant__` data; no C identifier, for which the linker would make symbols."""
_C = """
    abort abs aligned_alloc assert asctime atof atoi atol atoll bsearch calloc clock clock_getres clock_gettime
    clock_nanosleep ctime difftime div exit free getenv gettimeofday gmtime labs ldiv llabs lldiv localtime localtime_r
    malloc memalign mktime nanosleep posix_memalign qsort rand rand_r realloc sched_yield sleep srand strftime time
    usleep putchar puts printf fprintf fputc fputs putc fwrite fflush perror snprintf sprintf vfprintf vprintf vsnprintf
    vsprintf sscanf stdin stdout stderr strtod strtof strtol strtold strtoll strtoul strtoull __errno_location
    __assert_fail __stack_chk_fail __tls_get_addr __libc_single_threaded __gmon_start__ __dynamic_cast __dso_handle
    __once_proxy
"""
_MATHEMATICS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cyl_bessel_i0 erf erfc exp exp10 exp2 expm1 fabs
    fdim floor fma fmax fmin fmod frexp hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llrint llround log log10 log1p
    log2 logb lrint lround modf nan nearbyint nextafter pow remainder remquo rint round scalbln scalbn sin sincos sinh
    sqrt tan tanh tgamma trunc y0 y1 yn
"""
_FUNCTIONS = frozenset(f"{name}{kind}" for name in _MATHEMATICS.split() for kind in ("", "f", "l"))
_NAMES = frozenset(_C.split()) | _FUNCTIONS
_EXPORTED = re.compile(r"__is(?:nan|inf)[fl]?")
_FAMILIES = re.compile(
    r"(?:mem|str|wcs|wmem)(?:chr|cmp|coll|cpy|cspn|dup|error|len|move|ncasecmp|casecmp|ncat|cat|ncmp|ncpy|ndup|nlen|pbrk|rchr|set|spn|"
    r"str|tok|tok_r|xfrm)|(?:is|to)(?:w?(?:alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit))|"
    r"__(?:mem|st[rp]|puts|v?[fs]?n?printf)\w*_chk|__(?:is(?:nan|inf)|finite|signbit|fpclassify)[fl]?|"
    r"__(?:cxa|gxx|gcc|isoc\d+|ctype)_\w+|__\w+[sdtxh][if]\d?|_Unwind_\w+|_ITM_\w+|"
    r"_{0,2}pthread_(?:mutex|cond|key|once|self|equal|rwlock|mutexattr|condattr|getspecific|setspecific)\w*"
)
_OF_PYTHON = re.compile(r"_?Py[A-Z_]\w*")
_OF_BINDINGS = re.compile(
    r"Py(?:Bool|Buffer|ByteArray|Bytes|Capsule|CFunction|CMethod|Complex|Dict|Err|Exc|Exception|Float|FrozenSet|GILState|"
    r"InstanceMethod|Iter|List|Long|Mapping|Mem|Module|ModuleDef|Number|Property|Sequence|Set|Slice|StaticMethod|Thread|Tuple|Type|"
    r"Unicode|Weakref)_\w+|Py(?:BaseObject|Gen|Method)_Type|PyEval_(?:AcquireThread|GetBuiltins|RestoreThread|SaveThread)|"
    r"Py(?:Callable|Index)_Check|PyFrame_Get(?:Back|Code|LineNumber)|PyInterpreterState_(?:Get|GetDict|Main)|"
    r"Py_GetVersion|_Py_\w+Struct|"
    r"PyThreadState_(?:Clear|DeleteCurrent|Get|New)|_PyThreadState_UncheckedGet|_PyType_Lookup|_Py_Dealloc|"
    r"PyObject_(?:Call(?:FunctionObjArgs|Object)|ClearWeakRefs|Free|GC_\w+|Generic\w+|[GHS]\w*Attr(?:String)?|[GS]etItem|GetIter|"
    r"Hash|Is\w+|Malloc|Repr|RichCompare\w*|Size|Str|Vectorcall)|_PyObject_(?:GetDictPtr|New)"
)
"""The functions of Python that the headers of torch and pybind11 call; `preprocess` refuses a source that calls one."""
_OBJECTS = re.compile(r"7_object|8pybind11(?!6detail11type_caster)")
_CXX = re.compile(
    r"_Z(?:T[VTIS]|GV|Th?n?\d*_?|GR)?N?[VKRO]*(?:S[tabsiod]|9__gnu_cxx|10__cxxabiv1|2at|3c10|5torch|6caffe2|8pybind11)"
    r"|_Z(?:n|d)[wal]|_ZT[IS]\w{1,3}$"
)
_FILES_AND_LOADERS = re.compile(r"filebuf|fstream|10filesystem|12__basic_file|14DynamicLibrary|15SetCPUAllocator")
_HOOKS = re.compile(r"__(?:tsan|ubsan|wrap)_\w+")
_PLAIN_WEAK = re.compile(r"__gmon_start__|_ITM_\w+|__cxa_\w+|_{0,2}pthread_\w+|_Z\w+")
_REPLACED = re.compile(rf"{_HOOKS.pattern}|mem(?:cpy|move|set)")
_NOT_CALLED = ("controls", "call_function", "function_name", "function_doc", "value_release")
_OF_THE_CXX_LIBRARY = "__gxx_personality_v0"
_REASON = "host code could change or recognise the emulated device"


@dataclass(frozen=True)
class _Symbol:
    name: str
    weak: bool
    defined: bool


def refused(library: Path, *, prefix: str, python: bool = False) -> tuple[str, str] | None:
    """Return a name that a library must not need or define, and why; None where there is none.

    Args:
        library: the library.
        prefix: that of the device's names, see `prepared.Sources`.
        python: whether its headers are those of pybind11, which call Python.

    Raises:
        ValueError: it is no ELF file of 64 bits.
    """
    data = library.read_bytes()
    try:
        for symbol in _symbols(data, _ALL):
            if symbol.defined and symbol.name == _OF_THE_CXX_LIBRARY:
                return symbol.name, "a compiler that links the C++ library statically; set CXX to another g++"
            if symbol.defined and _REPLACED.fullmatch(symbol.name):
                return symbol.name, f"a source that defines {symbol.name}, by which the device sees accesses"
        for symbol in _symbols(data, _DYNAMIC):
            if not symbol.defined and not _ordinary(symbol, prefix, python):
                return symbol.name, f"a source that needs {_shown(symbol, prefix)}, with which {_REASON}"
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"{library.name}: not read as an ELF file: {error}") from error
    return None


def reserved(library: Path) -> str | None:
    """Return a name that the C library declares and keeps to itself, as `__fmaxf`, if the library needs one.

    nvcc takes it for a function of the host, and refuses device code that calls it.
    """
    needed = (one.name for one in _symbols(library.read_bytes(), _DYNAMIC) if not one.defined)
    own = (name for name in needed if name.removeprefix("__") in _FUNCTIONS)
    return next((name for name in own if name.startswith("__") and not _EXPORTED.fullmatch(name)), None)


def holds_cxx_library(library: Path) -> bool:
    """Return whether the C++ library is linked statically. Raises ValueError, struct.error or IndexError."""
    return any(one.defined and one.name == _OF_THE_CXX_LIBRARY for one in _symbols(library.read_bytes(), _ALL))


def _ordinary(symbol: _Symbol, prefix: str, python: bool) -> bool:
    name = symbol.name
    if _OF_PYTHON.fullmatch(name) or _OBJECTS.search(name):
        return python and not symbol.weak and bool(_OF_BINDINGS.fullmatch(name))
    if name.startswith(f"{prefix}_") or _HOOKS.fullmatch(name):
        return not symbol.weak and name.removeprefix(f"{prefix}_") not in _NOT_CALLED
    if symbol.weak and not _PLAIN_WEAK.fullmatch(name):
        return False
    own = f"{len(prefix)}{prefix}" in name
    known = name in _NAMES or _FAMILIES.fullmatch(name) or own or _CXX.match(name)
    return bool(known) and not _FILES_AND_LOADERS.search(name)


def _shown(symbol: _Symbol, prefix: str) -> str:
    name = "a name of the device's own" if symbol.name.startswith(prefix) else symbol.name[:100]
    return f"{name} (as a weak reference)" if symbol.weak else name


def constant_bytes(library: Path) -> int:
    """Return the bytes of `__constant__` data that the source of a library declares."""
    data = library.read_bytes()
    sections, names = _sections(data)
    for name, _, _, _, start, length, *_ in sections:
        if data.startswith(CONSTANTS.encode() + b"\0", sections[names][4] + name):
            return sum(struct.unpack_from(f"<{length // 8}Q", data, start))
    return 0


def _sections(data: bytes) -> tuple[list[tuple[int, ...]], int]:
    """Return the section headers of an ELF file of 64 bits, and the number of the section with their names."""
    table, (size, count, names) = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<3H", data, 58)
    return [struct.unpack_from("<IIQQQQIIQQ", data, table + index * size) for index in range(count)], names


def _symbols(data: bytes, kind: int) -> Iterator[_Symbol]:
    """Yield the symbols of the first section of that type, without its empty first entry."""
    sections, _ = _sections(data)
    found = [section for section in sections if section[1] == kind][0]  # noqa: RUF015
    start, length, names = found[4], found[5], sections[found[6]][4]
    for number in range(start + 24, start + length, 24):
        name, info, _, section = struct.unpack_from("<IBBH", data, number)
        text = data[names + name : data.index(b"\0", names + name)].decode(errors="replace")
        if text:
            yield _Symbol(text, weak=info >> 4 == _WEAK, defined=section != 0)
