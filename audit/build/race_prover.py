"""An independent prover of races in launches: `sentryward`, where it is installed (`pip install .[prover]`).

It reads PTX and one launch with its integers, and covers every schedule of its threads. NVRTC makes the PTX for compute
capability 10.0, for which the prover is written: for older targets it loses track of pointers. Observed for 0.1.1 on 22
kernels with known sources: every reported race was one, or writes of one value; every kernel reported free of races
was. It refuses atomics that decide control flow. It assumes that barriers wait for threads that have ended, so its
answers about barriers are ignored.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from audit.build.cuda import fast_toolchain
from audit.build.cuda.fast_nvrtc import NAMES
from audit.build.dependencies import torch_folder, wheels
from audit.build.device_part import device_text
from audit.build.emulated.rewrite import defines
from audit.model import untrusted
from audit.model.errors import first_error
from audit.model.run_directory import Scratch
from audit.review.cuda_source import parse
from audit.sandbox import command

NAME = "sentryward"
Answer = Literal["race", "equal writes or a race", "free of races", "no answer"]
TARGET = ("--gpu-architecture=compute_100a", "--std=c++17", "-lineinfo", "-default-device")
COMPILE_LIMIT_S, LIMIT_S, MEMORY_MIB = 60.0, 20.0, 2048
MOST_LAUNCHES = 2
SCHEMA = "spverify.kernel-input/v1"
SOURCE, PTX, INPUT = "kernels.cu", "kernels.ptx", "input.json"
_BITS = {f"{kind}{bits}": bits for kind in "usb" for bits in (8, 16, 32, 64)}


@dataclass(frozen=True)
class Proof:
    """The prover's answer about one launch; `lines` are those of the two accesses, `why` a reason for no answer."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    answer: Answer
    lines: tuple[int, ...] = ()
    why: str = ""


def version() -> str | None:
    """Return the prover's version if it and NVRTC are installed, else None."""
    if find_spec(NAME) is None or _nvrtc() is None:
        return None
    return metadata.version(NAME)


def proofs(source: Path, launches: Iterable[Mapping[str, Any]], *, flags: Sequence[str] = ()) -> list[Proof]:
    """Return its answers about the first MOST_LAUNCHES different launches of a `.cu` file, by those of the emulated
    device: `kernel` as written at the launch, `grid`, `block`, `dynamic_shared_bytes`, `arguments` (integers, None for
    others)."""
    different: dict[str, Mapping[str, Any]] = {}
    for launch in launches:
        if not launch.get("refused") and launch.get("arguments") is not None:
            key = json.dumps([launch[name] for name in ("kernel", "grid", "block", "arguments")])
            different.setdefault(key, launch)
    return [_proof(source, launch, defines(flags)) for launch in list(different.values())[:MOST_LAUNCHES]]


def _proof(source: Path, launch: Mapping[str, Any], macros: str) -> Proof:
    of = (launch["kernel"], tuple(launch["grid"]), tuple(launch["block"]))
    with Scratch() as folder:
        entry, refused = _compiled(source, launch["kernel"], folder, macros)
        if entry is None:
            return Proof(*of, "no answer", why=refused)
        ptx = (folder / PTX).read_text(encoding="utf-8", errors="replace").rstrip("\0")
        (folder / PTX).write_text(ptx, encoding="utf-8")
        (folder / INPUT).write_text(json.dumps(_asked(entry, launch, parameters(ptx, entry))), encoding="utf-8")
        answer, lines, why = read(_ran(folder))
        return Proof(*of, answer, lines, why)


def _nvrtc() -> Path | None:
    torch = torch_folder() or Path()
    return fast_toolchain.nvrtc_of(torch) or next(
        (path for folder in wheels() for path in sorted(folder.glob("*/lib/libnvrtc.so.[0-9]*"))), None
    )


def _compiled(source: Path, kernel: str, folder: Path, macros: str) -> tuple[str | None, str]:
    """Return the kernel's name in the PTX, or None and the reason."""
    (folder / SOURCE).write_text(macros + device_text(parse(untrusted.text(source))), encoding="utf-8")
    library, headers = _nvrtc(), fast_toolchain.cuda_include_of(torch_folder() or Path())
    assert library is not None  # `version` is asked first
    done = fast_toolchain.run_nvrtc(
        folder / SOURCE,
        [kernel],
        folder / PTX,
        library=library,
        headers=headers,
        options=TARGET,
        limit_s=COMPILE_LIMIT_S,
    )
    if done.code or done.stopped:
        return None, f"NVRTC: {done.stopped or first_error(done.out + done.err)}"
    names: dict[str, str] = json.loads((folder / NAMES).read_text(encoding="utf-8"))
    return names[kernel], ""


def parameters(ptx: str, entry: str) -> list[str]:
    """Return the PTX types of a kernel's parameters, in order; `b8` for an array of bytes."""
    _, _, behind = ptx.partition(f".entry {entry}(")
    listed, _, _ = behind.partition(")")
    declared = [part.split() for part in listed.split(",") if ".param" in part]
    return [next(word[1:] for word in words[1:] if word.startswith(".") and word != ".align") for words in declared]


def _asked(entry: str, launch: Mapping[str, Any], types: list[str]) -> dict[str, Any]:
    """Return the prover's input: the launch, and the kernel's integer arguments."""
    found = [
        {"parameter": index, "type": f"u{_BITS[kind]}", "value": value % 2 ** _BITS[kind]}
        for index, (kind, value) in enumerate(zip(types, launch["arguments"], strict=False))
        if value is not None and kind in _BITS
    ]
    dims = {"grid_dim": list(launch["grid"]), "block_dim": list(launch["block"])}
    shared = {"dynamic_shared_bytes": launch.get("dynamic_shared_bytes") or 0}
    return {"schema": SCHEMA, "entry": entry, "launch": {**dims, **shared}, "arguments": found}


def _ran(folder: Path) -> str:
    spec = find_spec(NAME)
    assert spec is not None  # `version` is asked first
    assert spec.origin is not None
    package = Path(spec.origin).parent
    words = [sys.executable, "-m", NAME, PTX, "--input", INPUT, "--timeout", f"{LIMIT_S:g}"]
    words += ["--memory-limit-mib", str(MEMORY_MIB)]
    path = os.pathsep.join([str(package.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    reads = [package, package.with_name(f"{NAME}.libs")]
    environment = {**os.environ, "PYTHONPATH": path}
    return command.run(words, folder=folder, limit_s=LIMIT_S + 10, reads=reads, environment=environment).out


def read(text: str) -> tuple[Answer, tuple[int, ...], str]:
    """Return the answer in the prover's JSON, the lines of the two accesses, and the reason for no answer. Two writes
    of one word may write the same value, which it does not check. Its answers about barriers are ignored."""
    try:
        report = json.loads(text)
        result, checks = str(report["result"]), report.get("checks", {})
        witnesses = [one for one in report.get("races", []) if "constant" in str(one.get("overlap"))]
        first: dict[str, Any] = next(iter(report.get("diagnostics", [])), {})
        if result == "race_free" and checks.get("memory") == "passed":
            return "free of races", (), ""
        if result == "potential_race" and witnesses:
            mixed = [one for one in witnesses if "read" in (one["first"]["mode"], one["second"]["mode"])]
            return ("race" if mixed else "equal writes or a race"), _lines((mixed or witnesses)[0]), ""
        return "no answer", (), f"{result}: {first.get('code', 'no reason text')}"
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return "no answer", (), f"its report cannot be read: {error}"


def _lines(witness: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the lines of both accesses, if they are in the source."""
    locations = [one.get("location") or {} for one in (witness["first"], witness["second"])]
    return tuple(int(one["line"]) for one in locations if Path(str(one.get("file", ""))).name == SOURCE)
