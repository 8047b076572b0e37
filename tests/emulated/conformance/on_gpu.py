"""Ask a real GPU and write down its answers: `python -m tests.emulated.conformance.on_gpu OUT [group ...]`.

Needs nvcc and a GPU; no torch. `--host` asks the toolkit's host code instead, which needs no GPU and knows the group `fp8`. A question that does not compile, or fails, is written down as such, and the rest goes on.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from audit.sandbox import limits
from tests.emulated.conformance.asked import asked
from tests.emulated.conformance.entry import Entry
from tests.emulated.conformance.source import for_gpu, for_host
from tests.emulated.conformance.suite import GROUPS

PART = 24
"""Questions a translation unit: so many are compiled at once."""
COMPILE_S, ASK_S = 400, 120
_HOST = "host"
_ASK = "import sys; from tests.emulated.conformance.on_gpu import answer_part; answer_part(*sys.argv[1:])"


def compiled(entries: dict[int, Entry], library: Path, arch: str) -> str:
    """Build a shared library of these questions; what the compiler said if it refused."""
    source = library.with_suffix(".cu")
    source.write_text((for_host if arch == _HOST else for_gpu)(entries))
    words = [
        "nvcc",
        *([] if arch == _HOST else [f"-arch={arch}"]),
        "-std=c++17",
        "-O3",
        "-w",
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "-o",
        str(library),
        str(source),
    ]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=COMPILE_S)
    except subprocess.TimeoutExpired:
        return "the compiler took too long"
    return "" if done.returncode == 0 else done.stderr or "refused"


def built(
    group: str, entries: dict[int, Entry], folder: Path, arch: str
) -> list[tuple[dict[int, Entry], Path | None, str]]:
    """Libraries for these questions. Those that the compiler names in its errors are left out of a second trial; if it
    names none, halves are tried alone, down to one question."""
    library = folder / f"{group}_{min(entries)}_{len(entries)}.so"
    if not (log := compiled(entries, library, arch)):
        return [(entries, library, "")]
    if len(entries) == 1:
        return [(entries, None, log)]
    refused = named_in(log, library.with_suffix(".cu"))
    numbers = list(entries)
    cut = [i for i in numbers if i in refused] or numbers[: len(numbers) // 2]
    found: list[tuple[dict[int, Entry], Path | None, str]] = []
    if refused:
        found = [({i: entries[i]}, None, refused[i]) for i in cut]
    else:
        found = built(group, {i: entries[i] for i in cut}, folder, arch)
    rest = {i: entries[i] for i in numbers if i not in cut}
    return found + (built(group, rest, folder, arch) if rest else [])


def named_in(log: str, source: Path) -> dict[int, str]:
    """Questions at whose lines the compiler reports an error, with its words."""
    lines = source.read_text().splitlines()
    found: dict[int, str] = {}
    for match in re.finditer(
        rf"{re.escape(source.name)}\((\d+)\): error:? ?(.*)|at line (\d+) of \S*{re.escape(source.name)}", log
    ):
        line = int(match[1] or match[3])
        kernel = next(
            (m for at in range(line - 1, -1, -1) if (m := re.search(r"\b(?:entry|value)_(\d+)\b", lines[at]))), None
        )
        if kernel:
            found.setdefault(int(kernel[1]), match[2] or "error in a header")
    return found


def answer_part(group: str, library: str, numbers: str, target: str) -> None:
    """In a process of its own, since a fault ends its context: ask these questions, keep the answers so far."""
    ask = ctypes.CDLL(library).ask
    ask.restype = ctypes.c_char_p
    answers: dict[str, Any] = {}
    for number in map(int, numbers.split(",")):
        entry = GROUPS[group][number]
        launch = asked(entry)
        out = ctypes.create_string_buffer(launch.out_bytes)
        data = [word for buffer in launch.buffers for word in (buffer, ctypes.c_size_t(len(buffer)))]
        error = ask(number, *data, out, ctypes.c_size_t(launch.out_bytes), launch.n, launch.blocks, launch.threads)
        answers[entry.name] = {"error": error.decode()} if error else {"answer": out.raw.hex()}
        Path(target).write_text(json.dumps(answers))


def asked_of_gpu(group: str, part: dict[int, Entry], library: Path) -> dict[str, Any]:
    """Answers of a part; after a fault the questions that came to nothing are asked again one by one."""
    found: dict[str, Any] = {}
    for numbers in ([*part], *([each] for each in part)):
        open_ = [i for i in numbers if "answer" not in found.get(GROUPS[group][i].name, {})]
        if not open_:
            continue
        target = library.with_name(f"{library.stem}_{open_[0]}_{len(open_)}.json")
        words = [sys.executable, "-c", _ASK, group, str(library), ",".join(map(str, open_)), str(target)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=ASK_S)
            trouble = done.stderr[-500:]
        except subprocess.TimeoutExpired:
            trouble = "no answer in time"
        values = json.loads(target.read_text()) if target.exists() else {}
        found.update({GROUPS[group][i].name: {"error": trouble or "no answer"} for i in open_} | values)
    return found


def main() -> None:
    """Build everything on all cores, ask one part after another, write one file a group and a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("groups", nargs="*")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--host", action="store_const", const=_HOST, dest="arch")
    parser.add_argument("--compile-only", action="store_true")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    chosen = given.groups or list(GROUPS)
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(limits.jobs()) as pool:
        jobs = {
            group: [pool.submit(built, group, part, Path(work), given.arch) for part in _parts(group)]
            for group in chosen
        }
        record = {"device": "" if given.compile_only else _device(given.arch), "groups": {}}
        for group in chosen:
            answers: dict[str, Any] = {}
            for entries, library, log in (one for job in jobs[group] for one in job.result()):
                if library is None:
                    answers |= {each.name: {"error": f"does not compile: {log[-600:]}"} for each in entries.values()}
                elif not given.compile_only:
                    answers |= asked_of_gpu(group, entries, library)
            record["groups"][group] = answers
            bad = {name: one["error"] for name, one in answers.items() if "error" in one}
            print(f"{group}: {len(GROUPS[group])} asked, {len(bad)} without an answer", flush=True)
            for name, error in bad.items():
                print(f"    {name}: {' '.join(error.split())[:300]}", flush=True)
    (given.out / "conformance.json").write_text(json.dumps(record))


def _parts(group: str) -> list[dict[int, Entry]]:
    numbered = dict(enumerate(GROUPS[group]))
    return [{i: numbered[i] for i in list(numbered)[at : at + PART]} for at in range(0, len(numbered), PART)]


def _device(arch: str) -> str:
    words = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=False).stdout.split("\n")
    if arch == _HOST:
        gpu = "no GPU: the toolkit's host code"
    else:
        gpu = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return f"{gpu}; {next((line for line in version if 'release' in line), '')}"


if __name__ == "__main__":
    main()
