"""The allowlist of `reach`: modules, names and attributes that a kernel module needs.

A name that no list holds reaches beyond. Published kernels decided what the lists hold.
"""

from __future__ import annotations

import builtins
import re
import sys

from audit.review.rule import names

ANY = frozenset({"*"})
"""In `MODULES`: every public name, but for modules of Python's library and those of `BEYOND`."""
_WHOLE = names("""
    __future__ cmath collections.abc cupy cutlass einops fractions heapq helion itertools math numbers numba numpy
    operator packaging.version task tilelang torch triton typing_extensions
""")
MODULES: dict[str, frozenset[str]] = dict.fromkeys(_WHOLE, ANY) | {
    "abc": names("ABC ABCMeta abstractmethod"),
    "argparse": names("ArgumentParser"),
    "collections": names("OrderedDict defaultdict deque namedtuple Counter ChainMap abc"),
    "contextlib": names("contextmanager nullcontext suppress AbstractContextManager"),
    "copy": names("copy deepcopy"),
    "cuda": names("bindings"),
    "dataclasses": names("dataclass field fields asdict astuple replace is_dataclass"),
    "enum": names("Enum IntEnum Flag IntFlag StrEnum auto unique"),
    "functools": names("partial lru_cache cache wraps reduce cached_property total_ordering cmp_to_key"),
    "hashlib": names("md5 sha1 sha256 sha512 blake2b blake2s"),
    "inspect": names("cleandoc getdoc getsource getsourcelines isclass isfunction ismethod"),
    "json": names("dumps loads"),
    "logging": names("getLogger basicConfig Logger DEBUG INFO WARNING ERROR debug info warning error exception"),
    "os": names("environ getcwd getenv getpid makedirs mkdir path"),
    "packaging": names("version"),
    "pybind11": names("get_include"),
    "random": names("random randint seed choice shuffle sample uniform Random"),
    "re": names(
        "compile match search sub subn findall finditer fullmatch split escape Pattern Match M S I X MULTILINE DOTALL"
    ),
    "statistics": names("mean median stdev"),
    "string": names("Template ascii_letters ascii_lowercase digits"),
    "struct": names("pack unpack calcsize"),
    "sys": names("version_info platform maxsize byteorder stdout stderr float_info"),
    "textwrap": names("dedent indent"),
    "time": names("time perf_counter perf_counter_ns monotonic time_ns sleep"),
    "traceback": names("print_exc format_exc"),
    "typing": names(
        "Any Callable ClassVar Dict Final FrozenSet Generic Iterable Iterator List Literal Mapping MutableMapping "
        "NamedTuple Optional Protocol Sequence Set Tuple Type TYPE_CHECKING TypedDict TypeVar Union cast overload "
        "Annotated Generator Hashable Self TypeAlias NoReturn Deque DefaultDict runtime_checkable"
    ),
    "warnings": names("warn filterwarnings simplefilter catch_warnings"),
}
"""What may be imported, and which names of it may be used. A name may itself be a module of this table."""

_WHOLE_PARTS = names("""
    torch.nn torch.nn.functional torch.cuda torch.random torch.nn._reduction
    torch._inductor.runtime.triton_helpers.math triton.language.math triton.language.random numpy.random
""")
PARTS: dict[str, frozenset[str]] = dict.fromkeys(_WHOLE_PARTS, ANY) | {
    "torch.utils": names("cpp_extension checkpoint dlpack"),
    "torch.utils.cpp_extension": names(
        "load_inline CUDA_HOME ROCM_HOME include_paths COMMON_NVCC_FLAGS verify_ninja_availability"
    ),
    "torch.testing": names("assert_close make_tensor"),
    "torch.distributed": names(
        "is_available is_initialized get_rank get_world_size all_reduce all_gather_into_tensor reduce_scatter_tensor "
        "all_to_all_single barrier ReduceOp ProcessGroup DeviceMesh tensor"
    ),
    "torch.distributed.tensor": names("DTensor Shard Replicate distribute_tensor distribute_module"),
    "torch.library": names("custom_op triton_op wrap_triton register_fake register_autograd"),
    "torch._dynamo": names("config disable is_compiling mark_dynamic allow_in_graph graph_break"),
    "torch._inductor": names("config runtime"),
    "torch._inductor.runtime": names("hints triton_helpers triton_heuristics"),
    "torch._C": names("_cuda_getCurrentRawStream _dynamo"),
    "torch._C._dynamo": names("guards"),
    "torch._C._dynamo.guards": names("_empty_strided_cuda _empty_strided_cpu assert_size_stride"),
    "triton.runtime": names("driver autotuner jit Autotuner JITFunction cache errors"),
    "triton.runtime.autotuner": names("Autotuner OutOfResources Config"),
    "triton.runtime.jit": names("JITFunction"),
    "triton.runtime.cache": names(""),
    "triton.runtime.errors": names("OutOfResources"),
    "triton.runtime.driver": names("active"),
    "triton.tools": names("tensor_descriptor"),
    "triton.compiler": names(""),
    "triton.backends": names(""),
    "cuda.bindings": names("driver"),
    "cuda.bindings.driver": names("CUstream"),
    "os.path": names("join dirname abspath realpath exists isfile isdir basename expanduser splitext"),
}
"""The parts of those modules that have a list of their own."""

BEYOND = names("""
    torch.classes torch.export torch.futures torch.fx torch.hub torch.load torch.save torch.from_file
    torch.monitor torch.multiprocessing torch.ops.load_library torch.overrides torch.package torch.serialization
    torch.storage torch.set_default_device torch.set_default_tensor_type
    torch.nn.parallel torch.nn.modules.module torch.cuda.memory
    torch.cuda.CUDAPluggableAllocator torch.jit.fork torch.jit.load torch.jit.save
    torch.autograd.graph torch.utils.weak torch.cuda.change_current_allocator
    numpy.ctypeslib numpy.lib numpy.core numpy.f2py numpy.testing numpy.load numpy.save numpy.savez numpy.memmap
    numpy.fromfile numpy.distutils numpy.DataSource numpy.savetxt numpy.loadtxt numpy.genfromtxt
""")
PRIVATE = names("""
    torch._dynamo torch._inductor torch._C torch._assert torch._scaled_mm torch._int_mm torch._check torch._grouped_mm
    torch.nn._reduction torch.nn.init._calculate_fan_in_and_fan_out torch.nn.init._calculate_correct_fan
    torch.nn.modules.utils._pair torch.nn.modules.utils._single torch.nn.modules.utils._triple torch.cuda._DeviceGuard
    torch.Tensor._make_subclass torch.ops.inductor._reinterpret_tensor
""")
PRIVATE_BELOW = ("torch._foreach_", "triton.language.", "torch._dynamo.config.", "torch._inductor.config.")
"""Names with an underscore that ordinary modules use, and what others begin with."""

LIBRARY = frozenset(sys.stdlib_module_names) | {"torch"}
"""Modules that others import and so hold: those of Python's library, and torch itself."""
SHARED = names("""
    cutlass.cute.copy cutlass.cute.math cutlass.cute.struct cutlass.torch einops.layers.torch numpy.array numpy.copy
    numpy.select numpy.trace torch.chunk torch.jit.trace torch.profiler torch.select torch.signal torch.trace
    torch.types
""")
"""Names of others that such a module has too; an operator's chunks and types among them."""

SETTINGS = ("torch.backends.", "torch._dynamo.config.", "torch._inductor.config.", "os.environ")
"""Others look at these: `backend_flags`, and the list of allowed variables of the environment."""

BUILTINS = names("""
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter float
    format frozenset hasattr hash hex id int isinstance issubclass iter len list map max min next object oct ord pow
    print dir property range repr reversed round set slice sorted staticmethod str sum super tuple type zip getattr
    setattr delattr None True False NotImplemented Ellipsis __debug__ __name__ __file__ __doc__
""") | {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)}
ONLY_CALLED = names("getattr setattr delattr")
"""Names that are looked at where they are called; as a value they could be called anywhere."""
MODULES["builtins"] = BUILTINS - ONLY_CALLED - {"type"}
ALL_MODULES = {**MODULES, **PARTS}

READABLE = names(
    "__init__ __name__ __qualname__ __doc__ __version__ __class__ __call__ __len__ __post_init__ __new__ "
    "__iter__ __next__ __getitem__ __contains__ __setitem__ __repr__ __torch_function__"
)
"""Names with two underscores that may be read, of whatever object."""
DEFINABLE = (READABLE - names("__name__ __class__")) | names(
    "__all__ __author__ __slots__ __constants__ __enter__ __exit__ __str__ __eq__ __ne__ __hash__ __lt__ __le__ __gt__ "
    "__ge__ __add__ __radd__ __sub__ __mul__ __rmul__ __truediv__ __neg__ __bool__ __int__ __float__ __index__ "
    "__getattr__ __matmul__ __license__ __email__ __copyright__"
)
"""Those that may be defined or bound. A subclass of a tensor is one for `contract`, which sees what a call returns."""
UNREADABLE = names("""
    f_back f_locals f_globals f_builtins f_code f_trace tb_frame tb_next gi_frame gi_code cr_frame cr_code ag_frame
    ag_code func_globals ctypes builtins __builtins__ mro tofile from_address py_impl py_kernels py_functionalize_impl
    get_type_hints attrgetter methodcaller write_bytes write_text
""")
"""Attributes of frames, and those that reach memory, files or dispatch, of whatever object."""
STORABLE = names("requires_grad grad data training weight bias block_shape num_stages num_warps")
"""Attributes that may be stored on something else than a method's own object."""
OWN_PRIVATE = names("_version _replace _asdict _fields _make")
"""Attributes with an underscore that may be read of any object: the version of a tensor, and what named tuples have."""
CLASSES = names("torch.Tensor torch.nn.Module torch.cuda.Event torch.cuda.Stream")
"""Classes that no function is to be given, since it could change them."""
TAKES_CLASSES = names("isinstance issubclass cast as_subclass TypeVar Union Optional _make_subclass")
"""Functions that ordinary modules give those classes to."""

CPP = re.compile(r"#\s*include|__global__|\btorch::|\bat::|PYBIND11|\b(?:void|int|float|extern)\b[^;]{0,200}\(")
"""A string constant that may be C++."""
_C_API = r"""
    PyLong_\w+|PyFloat_\w+|PyBool_\w+|PyComplex_\w+|PyUnicode_(?:As|From)\w+|PyIndex_Check
    |Py(?:Tuple|List)_(?:New|Pack|Size|GET_SIZE|GetItem|GET_ITEM|SetItem|SET_ITEM|GetSlice|Append|Check|CheckExact|AsTuple)
    |PyArg_(?:Parse\w*|VaParse\w*|UnpackTuple)|Py_BuildValue|PyCapsule_(?:New|GetPointer|IsValid|CheckExact)
    |PyErr_(?:SetString|Format|SetNone|Occurred|Clear|NoMemory|BadArgument|ExceptionMatches)|PyExc_\w+
    |PyModule_(?:Create2?|Add\w+)|PyModuleDef_(?:HEAD_INIT|Init)|PyMODINIT_FUNC|(?<=PyMODINIT_FUNC\ )PyInit_\w+
    |PyObject|Py_(?:ssize_t|hash_t|None|True|False|RETURN_\w+|UNUSED|LIMITED_API|BEGIN_ALLOW_THREADS|END_ALLOW_THREADS)
    |Py_(?:X?INCREF|X?DECREF|X?NewRef|CLEAR|IsNone|IsTrue|IsFalse)|THPVariable_(?:Unpack|Wrap|Check|CheckExact)
"""
"""Names of Python's C API that a hand-made binding needs: numbers, containers, arguments, errors and its own module."""
_OF_PYTHON = rf"""
    \b(?!(?:{_C_API})\b)(?:_?Py(?:[A-Z]\w*_\w+|_\w+|\w*Object|ThreadState|InterpreterState)\b | THP\w+) | \bob_type\b
    |\b(?:py|pybind11)\s*::\s*(?:exec|eval\w*|globals|builtins|weakref|function|cpp_function|import|type)\b
    |\bmodule_?\s*::\s*import\b | (?:\.|->|::)\s*attr\s*\( | \b(?:get|set|has|del)attr\s*\(
"""
CPP_OF_PYTHON = re.compile(
    rf"""{_OF_PYTHON} | :: \s* attr\b | \b_*weakref_*\b | \bpyobj_\w+ | \bPyInterpreter\b
      |\busing\s+namespace\s+(?:\w+\s*::\s*)*(?:py|pybind11)\s*;
      |\bnamespace\s+(?!py\b)\w+\s*=\s*[\w:\s]*\b(?:py|pybind11)\s*;
      |\b(?:py|pybind11)\s*::\s*(?:object_api|accessor|handle|reinterpret_(?:borrow|steal)|detail)\b""",
    re.VERBOSE,
)
"""Names of C++ that use the interpreter beyond a binding, in a text whose macros are expanded."""
CPP_BEYOND = re.compile(
    rf"""\b(?:dlopen|dlsym|dlmopen|dlvsym|dl_iterate_phdr|mprotect|pkey_mprotect|mremap|mmap|syscall|ptrace|v?fork|execv\w*
      |process_vm_\w+|system|popen|pthread_create|sigaction|setitimer|timer_create|timerfd_create|atexit|fopen|freopen
      |at_quick_exit|on_exit|__cxa_atexit|setjmp|longjmp|backtrace)\s*\(
      |\bstd::(?:thread|jthread|async|[io]?fstream|system|signal|raise)\b
      |{_OF_PYTHON}
      |\bTORCH_LIBRARY_(?:IMPL|FRAGMENT)\s*\(\s*(?:aten|_)\b | \bDispatcher\b | \bRegisterOperators\b
      |\badd(?:Global|ThreadLocal)Callback\b
      |\b(?:constructor|destructor|ifunc)\b(?=\s*(?:\(\s*\d*\s*\))?\s*\)\s*\))
      |\bcudaLaunchHostFunc\b | \bcudaStreamAddCallback\b | \bcuLaunchHostFunc\b""",
    re.VERBOSE,
)
"""Names of C++ that load or change other code, run beside or behind a call, or use the interpreter beyond a binding."""
