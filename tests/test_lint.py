import pytest

from audit import claims
from audit.lint import floors
from audit.model import Finding, Observation, Record, Speedup, gpus
from audit.report.figures import floors as drawn
from tests.conftest import some
from tests.report.fixture import triangular

N = 4096
COST = {"flops": N * (N + 1) * (N + 2) / 3, "bytes": 4.0 * (N * (N + 1) + N * N)}


def test_the_published_t4_time_is_under_both_floors() -> None:
    findings = {finding.target: finding for finding in floors.floors(claims.load("triangular_mm").claim, COST)}
    t4 = findings["T4"]
    assert t4.grade == "proved"
    assert not t4.claimed, "others than the authors took that time"
    assert t4.evidence["compute_floor_ms"] == pytest.approx(2.83, abs=0.01)
    assert t4.evidence["memory_floor_ms"] == pytest.approx(0.42, abs=0.01)
    assert "compute floor (2.83 ms) and the memory floor (0.42 ms)" in t4.summary
    assert {name: finding.outcome for name, finding in findings.items() if name != "T4"} == {
        "A100": "skip",
        "L4": "skip",
        "H100": "skip",
    }


def test_a_time_of_the_authors_is_held_against_the_claim() -> None:
    claim = claims.load("triangular_mm").claim
    for by, held in ((None, True), (claim.source.authors, True), ("a public re-run", False)):
        own = claim.observation[0].model_copy(update={"by": by})
        found = floors.floors(claim.model_copy(update={"observation": (own,)}), COST)
        assert next(one for one in found if one.target == "T4").fails_kernel is held


def test_a_time_over_the_floor_passes_and_an_unknown_gpu_has_no_floor() -> None:
    claim = claims.load("triangular_mm").claim
    seen = (Observation(gpu="L4", kernel_ms=5.0, baseline_ms=10.0, by="a test"),)
    asked = (Speedup(gpu="L4", ratio=2.0), Speedup(gpu="GTX 480", ratio=2.0))
    passed, unknown = floors.floors(claim.model_copy(update={"speedup": asked, "observation": seen}), COST)
    assert passed.outcome == "pass"
    assert unknown.outcome == "skip"
    assert "known: T4, L4, A100, H100" in unknown.summary
    assert not unknown.evidence


def test_without_any_stated_work_there_is_no_floor() -> None:
    found = floors.floors(claims.load("triangular_mm").claim, {"flops": 0.0, "bytes": 0.0})
    assert {finding.outcome for finding in found} == {"skip"}
    assert "T4: reference.py states no least work, so there is no floor" in [finding.summary for finding in found]


def test_bytes_alone_are_no_floor_of_the_arithmetic() -> None:
    claim = claims.load("triangular_mm").claim.model_copy(update={"observation": ()})
    (found, *_) = floors.floors(claim, {"flops": 0.0, "bytes": COST["bytes"]})
    assert found.outcome == "skip"
    assert found.summary.endswith("the stated bytes alone take 0.419 ms, and no arithmetic is stated")
    assert drawn.draw(record([found])) is None
    assert drawn.draw(record(floors.floors(claim, COST)[:1])) is not None


def record(findings: list[Finding]) -> Record:
    return triangular().model_copy(update={"findings": tuple(findings)})


def test_only_a_time_that_no_unit_allows_is_proved_impossible() -> None:
    claim = claims.load("triangular_mm").claim
    asked = (Speedup(gpu="H100", ratio=10.0),)
    outcomes = {}
    for kernel_ms in (0.03, 0.30, 0.40):  # matrix-unit floor 0.040 ms, fp32 floor 0.342 ms
        seen = (Observation(gpu="H100", kernel_ms=kernel_ms, baseline_ms=3.0, by="a test"),)
        (found,) = floors.floors(claim.model_copy(update={"speedup": asked, "observation": seen}), COST)
        outcomes[kernel_ms] = (found.outcome, found.grade)
    assert outcomes == {0.03: ("fail", "proved"), 0.30: ("fail", "hint"), 0.40: ("pass", None)}


def test_every_gpu_of_the_table_names_its_source() -> None:
    for name, gpu in some(gpus.table().items()):
        assert gpu.source, name
        assert gpu.compute_ms(1e12) == pytest.approx(1e3 / gpu.fp32_tflops)
        assert gpu.memory_ms(1e9) == pytest.approx(1e3 / gpu.memory_gb_s)


@pytest.mark.parametrize(
    ("device", "memory_gb_s", "names"),
    [
        ("Tesla T4", 320.0, {"T4"}),
        ("NVIDIA A100-SXM4-40GB", 1555.0, {"A100", "A100 40GB"}),
        ("NVIDIA A100 80GB PCIe", 2039.0, {"A100", "A100 80GB"}),
        ("NVIDIA H100 80GB HBM3", 3350.0, {"H100", "H100 SXM"}),
        ("NVIDIA H100 PCIe", 2039.0, {"H100", "H100 PCIe"}),
        ("NVIDIA GeForce RTX 3090", 936.0, {"RTX 3090"}),
        ("NVIDIA H200", 4800.0, {"H200"}),
        ("NVIDIA L40", 864.0, {"L40"}),
    ],
)
def test_the_gpu_at_hand_is_the_entry_that_fits_its_name_most_closely(
    device: str, memory_gb_s: float, names: set[str]
) -> None:
    found = gpus.at_hand(device)
    assert found is not None
    assert found.memory_gb_s == memory_gb_s
    assert gpus.names_in(device) & set(gpus.table()) == names


@pytest.mark.parametrize("device", ["NVIDIA L40S", "NVIDIA GeForce RTX 3090 Ti", "NVIDIA H100 NVL", "NVIDIA GB200"])
def test_a_gpu_that_only_resembles_an_entry_has_no_floor(device: str) -> None:
    assert gpus.at_hand(device) is None


def test_every_source_names_where_it_can_be_read() -> None:
    for name, gpu in some(gpus.table().items()):
        assert "https://" in gpu.source, name
        assert gpu.l2_bytes >= 4 << 20
