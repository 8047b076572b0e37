"""What a request opens of the machine: a pure function."""

from __future__ import annotations

from typing import Any

from audit.build.cuda.device import CudaVariant
from audit.model import BuildNote
from audit.run.allowed import walls

SESSION: dict[str, Any] = {
    "keep": False,
    "limit_s": 10.0,
    "inputs": ["/scratch/0.inputs.pt"],
    "folder": "/scratch/fixed-1",
    "reference": None,
    "device": {"library": "/cache/kernels/k-1/kernel.so", "runtime": "/cache/runtime/r/lib.so", "configuration": {}},
}


def test_a_session_reads_its_inputs_and_its_build_and_writes_its_folder() -> None:
    around = walls(SESSION)
    assert around.reads == ["/scratch/0.inputs.pt", "/cache/kernels/k-1", "/cache/runtime/r"]
    assert (around.writes, around.caches, around.network) == (["/scratch/fixed-1"], [], False)
    assert around.processor_s is not None


def test_the_claims_folder_is_open_only_to_who_needs_the_reference() -> None:
    assert "/kernels/claim" not in walls(SESSION).reads
    assert "/kernels/claim" in walls({**SESSION, "reference": "/kernels/claim/reference.py"}).reads


def test_other_inputs_are_written_beside_the_first() -> None:
    vary = [{"inputs": "/scratch/0.inputs.pt"}, {"inputs": "/scratch/1.inputs.pt"}]
    around = walls({"keep": False, "limit_s": 10.0, "reference": "/c/reference.py", "device": "cpu", "vary": vary})
    assert (around.writes, around.home) == (["/scratch"], "/scratch")


def test_a_python_variant_keeps_what_it_compiles_in_its_own_folders() -> None:
    told = {"TRITON_CACHE_DIR": "/cache/python/kept-1/triton", "PATH": "/usr/bin"}
    device = {"python": "/cache/python/a/k.py", "folder": "None", "environment": told}
    around = walls({**SESSION, "device": device})
    assert around.caches == ["/cache/python/kept-1/triton"]
    assert around.reads == ["/scratch/0.inputs.pt", "/cache/python/a"]


def test_a_process_for_several_sessions_opens_what_holds_for_all() -> None:
    place = {"reads": ["/p/inputs", "/cache"], "results": "/p/results", "caches": "/p/caches"}
    around = walls({**SESSION, "keep": True, "place": place})
    assert around.reads[:2] == ["/p/inputs", "/cache"] and "/scratch/0.inputs.pt" not in around.reads
    assert (around.writes, around.caches, around.processor_s) == (["/p/results"], ["/p/caches"], None)


def test_a_session_on_a_gpu_gets_neither_a_network_nor_the_folder_beside_the_kit() -> None:
    note = BuildNote(variant="k", optimisation="fast", outcome="built", header_set="fast",
                     compiler=None, flags=(), seconds=1.0, from_cache=False)  # fmt: skip
    built = CudaVariant(note, {"library": "/cache/fast/k-1/host.so", "module": "", "binding": None})
    around = walls({**SESSION, **built.session_request(memory="plain", order="forward", check=False)})
    assert (around.reads, around.network) == (["/scratch/0.inputs.pt", "/cache/fast/k-1"], False)


def test_the_access_checker_gets_a_network_of_its_own() -> None:
    assert walls({**SESSION, "device": {**SESSION["device"], "sanitizer": "/usr/local/cuda/bin/checker"}}).network
