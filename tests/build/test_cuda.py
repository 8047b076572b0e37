"""The GPU device and a variant built for it, as the later stages see them; the GPU itself is described as text."""

import shutil
from pathlib import Path

import pytest

from audit import claims
from audit.build.cache import made
from audit.build.cuda import device as cuda_device
from audit.build.cuda import extension, gpu, toolchain
from audit.build.cuda.device import CudaDevice, CudaVariant
from audit.build.cuda.fast import FastBuild
from audit.build.cuda.toolchain import CudaToolchain
from audit.build.settings import FAST_MANIFEST, IMAGE, CheckedSettings, CudaLibrary, CudaSettings
from audit.model import BuildNote, Claim, Variant
from audit.model.errors import BadInput, CompileError, Unsupported

FOLDER = claims.load("triangular_mm")
CLAIM = FOLDER.claim
T4 = gpu.Gpu("Tesla T4", 75, "580", 15360, (13, 0))
TOOLS = CudaToolchain(Path("/nowhere"), "nvcc 13.0.88", "2.11.0", (13, 0), Path("/nowhere"))
NOTE = BuildNote(variant="claimed", optimisation="published", outcome="built", header_set="published",
                 compiler="nvcc 13.0.88", flags=("-O3",), seconds=52.04, from_cache=False)  # fmt: skip
LOADED = CudaLibrary(library=Path("m.so"), module="m", digests={})


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CudaDevice:
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(gpu, "find", lambda: T4)
    monkeypatch.setattr(toolchain, "find", lambda _: TOOLS)
    return CudaDevice(CLAIM)


def variant(name: str) -> Variant:
    return next(one for one in CLAIM.variant if one.name == name)


def test_the_device_says_what_it_is(device: CudaDevice) -> None:
    result = device.describe()
    assert (result.kind, result.name, result.compute_capability) == ("cuda", "Tesla T4", 75)
    assert "nvcc 13.0.88" in result.note
    assert (device.levels.first, device.levels.confirming, device.levels.published) == ("fast", None, "published")


def test_every_shape_of_the_claim_is_audited(device: CudaDevice) -> None:
    assert [shape["N"] for shape in device.shapes(CLAIM)] == [1, 33, 255, 1000, 4095, 4096]


def test_the_claim_is_compiled_as_published_and_ours_as_ours() -> None:
    flags = {one.role: cuda_device.flags_of(one, CLAIM) for one in CLAIM.variant}
    assert flags["claimed"] == flags["ablation"] == flags["no_op"] == ("-O3", "--use_fast_math")
    assert flags["repair"] == ("-O3",)


def test_published_flags_are_checked_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "find", lambda: T4)
    monkeypatch.setattr(toolchain, "find", lambda _: TOOLS)
    protocol = CLAIM.protocol.model_copy(update={"flags": ("-arch=sm_80",)})
    with pytest.raises(BadInput, match="-arch=sm_80"):
        CudaDevice(CLAIM.model_copy(update={"protocol": protocol}))


def test_a_variant_for_a_newer_gpu_is_a_skip(device: CudaDevice) -> None:
    with pytest.raises(Unsupported, match=r"wmma_tf32\.cu needs compute capability 8\.0; Tesla T4 has 7\.5"):
        device.build(FOLDER.path / "wmma_tf32.cu", variant("wmma_tf32"), optimisation="published")


@pytest.mark.parametrize(("instructions", "needs"), [
    (("wgmma.fence", "setmaxnreg.dec"), r"compute capability 9\.0 exactly \(sm_90a\); Tesla T4 has 7\.5"),
    (("tcgen05.alloc",), r"a GPU with tcgen05; Tesla T4 has 7\.5"),
])  # fmt: skip
def test_instructions_of_other_gpus_are_a_skip(
    device: CudaDevice, monkeypatch: pytest.MonkeyPatch, instructions: tuple[str, ...], needs: str
) -> None:
    line = "ptxas k.ptx, line 20; error   : Instruction '{}' not supported on .target 'sm_100'\n"

    def refuse(*_: object, **__: object) -> None:
        raise CompileError("".join(map(line.format, instructions)), header_set="published")

    monkeypatch.setattr(extension, "build", refuse)
    with pytest.raises(Unsupported, match=rf"claimed\.cu needs {needs}"):
        device.build(FOLDER.path / "claimed.cu", variant("claimed"), optimisation="published")


def test_an_unknown_level_lists_the_known_one(device: CudaDevice) -> None:
    with pytest.raises(ValueError, match="known: fast, published"):
        device.build(FOLDER.path / "claimed.cu", variant("claimed"), optimisation="O2")


def test_a_built_variant_tells_a_session_what_to_load() -> None:
    built = CudaVariant(note=NOTE, loaded=LOADED)
    asked = built.settings(memory="reuse", order="forward", check=False)
    assert asked == CudaSettings(digests={}, library=Path("m.so"), module="m", memory="reuse")
    assert (built.tensor_device, built.checks_accesses, built.orders) == ("cuda", False, ("forward",))
    with pytest.raises(ValueError, match="no thread order reverse"):
        built.settings(memory="plain", order="reverse", check=False)


def test_accesses_are_checked_where_the_checker_works() -> None:
    checked = CudaVariant(note=NOTE, loaded=LOADED, sanitizer=Path("/opt/compute-sanitizer"), checks_accesses=True)
    asked = checked.settings(memory="plain", order="forward", check=True)
    assert checked.checks_accesses
    assert isinstance(asked, CheckedSettings) and asked.sanitizer == Path("/opt/compute-sanitizer")
    assert isinstance(checked.settings(memory="plain", order="forward", check=False), CudaSettings)


@pytest.mark.parametrize(("probe", "optimisation", "checked"), [
    ("memory_access", "fast", True), ("memory_access", "oldest GPU", False), ("coverage", "fast", False),
    (None, "fast", False)])  # fmt: skip
def test_the_fast_build_of_a_control_for_the_checks_is_checked(
    device: CudaDevice,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    probe: str | None,
    optimisation: str,
    checked: bool,
) -> None:
    folder = tmp_path / "fast"
    names = ("host.so", "binding.so", FAST_MANIFEST, IMAGE)
    made(folder, lambda entry: [(entry / name).write_bytes(b"x") for name in names])

    def build(_: Path, *, flags: tuple[str, ...], **__: object) -> FastBuild:
        return FastBuild(folder / "host.so", folder / "binding.so", flags, "g++", 1.0, False, (), ())

    monkeypatch.setattr(cuda_device.fast, "build", build)
    monkeypatch.setattr(cuda_device, "working_sanitizer", lambda _: Path("/opt/bin/compute-sanitizer"))
    control = variant("claimed").model_copy(update={"role": "known_bad", "probe": probe, "compute_capability": 70})
    result = device.build(FOLDER.path / "claimed.cu", control, optimisation=optimisation)
    assert (result.checks_accesses, "-lineinfo" in result.note.flags) == (checked, checked)
    asked = result.settings(memory="plain", order="forward", check=True)
    assert isinstance(asked, CheckedSettings) is checked
    assert (asked.library, asked.binding, len(asked.digests)) == (folder / "host.so", folder / "binding.so", 4)


def test_poisons_are_those_of_the_emulated_device() -> None:
    built = CudaVariant(note=NOTE, loaded=LOADED)
    assert built.poisons == {"poison_nan": b"\xf5\xff\xf5\xff", "poison_number": b"\xa5\xa5\xa5\xa5"}
    asked = [built.settings(memory=memory, order="forward", check=False) for memory in ("poison_nan", built.nan_memory)]
    assert [one.pattern for one in asked if isinstance(one, CudaSettings)] == [0xFFF5FFF5, None]


def machine_lacks() -> str | None:
    return toolchain.missing()


@pytest.mark.skipif(machine_lacks() is not None, reason=str(machine_lacks()))
def test_a_source_that_does_not_compile_is_told_in_the_compilers_words(tmp_path: Path) -> None:
    source = tmp_path / "broken.cu"
    source.write_text("__global__ void k(float* x) { x[0] = undeclared; }\n")
    found = gpu.find()
    with pytest.raises(CompileError, match="undeclared") as caught:
        extension.build(source, ("-O3",), gpu=found, toolchain=toolchain.find(found))
    assert str(tmp_path) not in caught.value.log
    shutil.rmtree(tmp_path / "cuda")


def test_claims_without_flags_build_with_none() -> None:
    bare: Claim = CLAIM.model_copy(update={"protocol": CLAIM.protocol.model_copy(update={"flags": ()})})
    assert cuda_device.flags_of(variant("claimed"), bare) == ()
