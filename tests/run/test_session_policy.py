"""What a request opens of the machine: a pure function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit.build.cuda.device import CudaVariant
from audit.build.settings import (
    CheckedSettings,
    Configuration,
    CudaLibrary,
    CudaPythonSettings,
    DeviceSettings,
    EmulatedSettings,
)
from audit.model import BuildNote
from audit.run.messages.requests import Folders, Session, Variations, Vary
from audit.run.processes.fork_server import policy_of

CONFIGURATION = Configuration(
    allocator="plain",
    thread_order="forward",
    block_order="forward",
    seed=0,
    checker=False,
    compute_capability=75,
    shared_word=0,
    lane_word=0,
    kernel_seconds=1.0,
)
LIBRARY, RUNTIME = Path("/cache/kernels/k-1/kernel.so"), Path("/cache/runtime/r/lib.so")
EMULATED = EmulatedSettings(
    digests={LIBRARY: "1", RUNTIME: "2"},
    library=LIBRARY,
    header_set="h",
    runtime=RUNTIME,
    configuration=CONFIGURATION,
)


def session(device: DeviceSettings = EMULATED, **more: Any) -> Session:
    known = {"limit_s": 10.0, "inputs": (Path("/scratch/0.inputs.pt"),), "folder": Path("/scratch/fixed-1")}
    return Session(**{**known, "device": device, "entry": "f", "output_bytes": (), "steps": (), **more})


def test_a_session_reads_its_inputs_and_its_build_and_writes_its_folder() -> None:
    policy = policy_of(session())
    assert policy.reads == ["/scratch/0.inputs.pt", "/cache/kernels/k-1", "/cache/runtime/r"]
    assert (policy.writes, policy.caches, policy.network) == (["/scratch/fixed-1"], [], False)
    assert policy.processor_s is not None


def test_the_claims_folder_is_open_only_to_who_needs_the_reference() -> None:
    assert "/kernels/claim" not in policy_of(session()).reads
    assert "/kernels/claim" in policy_of(session(reference=Path("/kernels/claim/reference.py"))).reads


def test_other_inputs_are_written_beside_the_first() -> None:
    vary = tuple(Vary(inputs=Path(f"/scratch/{case}.inputs.pt"), shape={}, groups=()) for case in range(2))
    asked = Variations(limit_s=10.0, reference=Path("/c/reference.py"), device="cpu", relative=0.1, vary=vary)
    policy = policy_of(asked)
    assert (policy.writes, policy.home) == (["/scratch"], "/scratch")


def test_a_python_variant_keeps_what_it_compiles_in_its_own_folders() -> None:
    values = {"TRITON_CACHE_DIR": "/cache/python/kept-1/triton", "PATH": "/usr/bin"}
    device = CudaPythonSettings(
        digests={Path("/cache/python/a/k.py"): "1"},
        python=Path("/cache/python/a/k.py"),
        init_inputs=[],
        folder=None,
        extensions=None,
        environment=values,
        memory="plain",
    )
    policy = policy_of(session(device))
    assert policy.caches == ["/cache/python/kept-1/triton"]
    assert policy.reads == ["/scratch/0.inputs.pt", "/cache/python/a"]


def test_a_process_for_several_sessions_opens_what_holds_for_all() -> None:
    folders = Folders(reads=(Path("/p/inputs"), Path("/cache")), results=Path("/p/results"), caches=Path("/p/caches"))
    policy = policy_of(session(keep=True, shared_folders=folders))
    assert policy.reads[:2] == ["/p/inputs", "/cache"] and "/scratch/0.inputs.pt" not in policy.reads
    assert (policy.writes, policy.caches, policy.processor_s) == (["/p/results"], ["/p/caches"], None)


def test_a_session_on_a_gpu_gets_neither_a_network_nor_the_folder_beside_the_kit() -> None:
    note = BuildNote(variant="k", optimisation="fast", outcome="built", header_set="fast",
                     compiler=None, flags=(), seconds=1.0, from_cache=False)  # fmt: skip
    library = Path("/cache/fast/k-1/host.so")
    built = CudaVariant(note=note, loaded=CudaLibrary(library=library, module="", digests={library: "1"}))
    policy = policy_of(session(built.settings(memory="plain", order="forward", check=False)))
    assert (policy.reads, policy.network) == (["/scratch/0.inputs.pt", "/cache/fast/k-1"], False)


def test_the_access_checker_gets_a_network_of_its_own() -> None:
    checker = CheckedSettings(digests={}, library=Path("/c/m.so"), module="m", sanitizer=Path("/toolkit/bin/checker"))
    policy = policy_of(session(checker))
    assert policy.network and "/toolkit" in policy.reads
