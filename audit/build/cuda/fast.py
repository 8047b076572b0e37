"""Compile a `.cu` source for a real GPU without nvcc: host part by g++, device part by NVRTC.

`audit.build.cuda.fast_load` loads the library in a session. A source that the fast build cannot take raises `NotFast`,
an `Unsupported`: the published build then decides, as it does for every finding about a fast build.
"""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from audit.build.cache import cache_folder, fingerprint, made
from audit.build.cuda import fast_toolchain
from audit.build.cuda.fast_host import KEY, Flags, host_part, operator_includes, translated
from audit.build.cuda.fast_nvrtc import NAMES
from audit.build.cuda.fast_symbols import Symbol, device_variables, offset_of, symbols
from audit.build.cuda.fast_toolchain import FastToolchain, NotFast
from audit.build.dependencies import listed, own_files
from audit.build.device_part import device_text
from audit.build.emulated import toolchain
from audit.build.emulated.edits import Edit, apply, line_marker
from audit.build.settings import FAST_MANIFEST, IMAGE, OPENER
from audit.model import SourceFile, untrusted
from audit.model.errors import Unsupported, first_error
from audit.review.cuda_source import CudaSource, parse

DEVICE_LIMIT_S = 120.0
LIBRARY, DEVICE_SOURCE, RULE = "host.so", "device.cu", "host.d"
_RECIPE = "3"  # part of every cache key; counts changes to the way this module calls the compilers
_BESIDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*"[\w.-]+"[ \t]*')
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[ \t]*$", re.MULTILINE)
_LINK = ("-shared", "-Wl,-z,now")


@dataclass(frozen=True)
class FastBuild:
    """A source compiled by the fast build.

    Attributes:
        library: the host part; its folder has the device part and the table that joins them.
        binding: the library to load before it.
        flags: NVRTC's, in order.
        compiler: that of the host part, and the name of NVRTC's library.
        seconds: the wall time of this call.
        from_cache: whether this call compiled nothing.
        reads: the files of the claim in it: the source, and the headers beside it that it includes.
        left_out: instantiations whose template arguments are torch's types; launching one raises NotImplementedError.
    """

    library: Path
    binding: Path
    flags: tuple[str, ...]
    compiler: str
    seconds: float
    from_cache: bool
    reads: tuple[SourceFile, ...]
    left_out: tuple[str, ...]


def build(source_path: Path, *, flags: tuple[str, ...], compute_capability: int, portable: bool = False) -> FastBuild:
    """Compile an unmodified torch extension, or take it from the cache.

    Args:
        source_path: the `.cu` file.
        flags: nvcc's, in order, as published.
        compute_capability: that of the only target, e.g. 90.
        portable: whether to make PTX, which the driver compiles for newer GPUs too.

    Raises:
        BadInput: the source is missing or is no UTF-8.
        NotFast: this build does not take the source or a flag, or one of the compilers refuses it.
    """
    started = time.monotonic()
    text, reads = joined(source_path)
    source = parse(text)
    if "__global__" not in source.masked:
        raise NotFast("a source that defines no kernel")
    tools = fast_toolchain.find()
    standard = fast_toolchain.standard_of(tools.torch_version)
    given = translated(flags, compute_capability=compute_capability, standard=standard, portable=portable)
    host = (
        operator_includes(source, fast_toolchain.operators(tools.torch))
        + given.defines
        + host_part(source, name=source_path.name)
    )
    job = _FastJob(source, host, given, tools)
    key = fingerprint([_RECIPE, *tools.identity, *given.device, host, job.device])
    target = cache_folder() / "fast" / f"{source_path.stem[:40]}-{key}"
    with ThreadPoolExecutor(max_workers=1) as pool:
        binding = pool.submit(fast_toolchain.binding)
        from_cache = made(target, job.make)
    manifest = json.loads((target / FAST_MANIFEST).read_text(encoding="utf-8"))
    return FastBuild(
        library=target / LIBRARY,
        binding=binding.result(),
        flags=given.device,
        compiler=f"{tools.compiler}; NVRTC {tools.nvrtc.name}",
        seconds=time.monotonic() - started,
        from_cache=from_cache,
        reads=reads,
        left_out=tuple(manifest["left_out"]),
    )


def joined(source_path: Path) -> tuple[str, tuple[SourceFile, ...]]:
    """Return a source with each header beside it in place of its first include, and the files read; lines keep their
    numbers. Other quoted includes stay, which `host_part` refuses. Raises BadInput as `build`."""
    source = parse(untrusted.text(source_path))
    read, edits = {source_path.name: source.text}, list[Edit]()
    for include in source.includes:
        plain, header = _BESIDE.fullmatch(source.text, include.start, include.end), source_path.parent / include.header
        if plain and include.header not in read and header.is_file() and not header.is_symlink():
            inner = read[include.header] = untrusted.text(header, empty=True)
            after = line_marker(include.line + 1, source_path.name).rstrip()
            text = f"{line_marker(1, include.header)}{_ONCE.sub('', inner)}\n{after}"
            edits.append(Edit(include.start, include.end, text))
    return apply(source, edits), tuple(SourceFile.of(name, read[name].encode()) for name in sorted(read))


class _FastJob:
    """The compilation of one source by both compilers."""

    def __init__(self, source: CudaSource, host: str, flags: Flags, tools: FastToolchain) -> None:
        self._source, self._host, self._flags, self._tools = source, host, flags, tools
        self.device = device_text(source)

    def make(self, folder: Path) -> None:
        """Fill the folder of a finished build."""
        (folder / DEVICE_SOURCE).write_text(self.device, encoding="utf-8")
        (folder / "host.cpp").write_text(self._host, encoding="utf-8")
        self._compile_host(folder)
        listing = fast_toolchain.listing(folder / LIBRARY)
        found = symbols(listing, key=KEY, variables=device_variables(self._source))
        wanted = [symbol for symbol in found if not symbol.needs_torch]
        names = self._compile_device(folder, wanted)
        joined = [[names[symbol.expression], symbol.is_variable, list(symbol.offsets)] for symbol in wanted]
        left_out = [symbol.expression for symbol in found if symbol.needs_torch]
        manifest = {
            "joined": joined,
            "left_out": left_out,
            "opener": offset_of(OPENER, listing),
        }
        (folder / FAST_MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")

    def _compile_host(self, folder: Path) -> None:
        header = fast_toolchain.header_now(folder)
        flags = self._tools.host_flags
        compile_ = [*flags, "-include", str(header), "-MD", "-MF", RULE, "-c", "host.cpp", "-o", "host.o"]
        for arguments in (compile_, [*_LINK, "host.o", "-o", LIBRARY]):
            succeeded, log = toolchain.compile_file(arguments, folder=folder, reads=[header.parent])
            if not succeeded:
                raise NotFast(f"this host code: {first_error(log)}")
        rule = (folder / RULE).read_text(encoding="utf-8", errors="surrogateescape")
        known = [header.parent, *toolchain.header_folders(flags)]
        try:
            own_files(listed(rule), source=folder / "host.cpp", build=folder, toolchain=known)
        except Unsupported as error:
            raise NotFast(error.construct) from error
        (folder / "host.o").unlink()

    def _compile_device(self, folder: Path, wanted: list[Symbol]) -> dict[str, str]:
        done = fast_toolchain.run_nvrtc(
            folder / DEVICE_SOURCE,
            [symbol.expression for symbol in wanted],
            folder / IMAGE,
            library=self._tools.nvrtc,
            headers=self._tools.cuda_include,
            options=self._flags.device,
            limit_s=DEVICE_LIMIT_S,
        )
        if done.stopped:
            raise NotFast(f"this device code: the compiler {done.stopped.removeprefix('it ')}")
        if done.code:
            raise NotFast(f"this device code: {first_error(done.out + done.err)}")
        names: dict[str, str] = json.loads((folder / NAMES).read_text(encoding="utf-8"))
        return names
