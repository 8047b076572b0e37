"""The rules of the judge, row by row."""

import pytest

from audit import judge
from audit.judge import evidence
from audit.judge.ladder import cure
from audit.measure import OURS, comparison, independent_clock
from audit.measure.samples import OUTSIDE
from audit.model import Finding, Measurement, Record, Speedup
from audit.probes.concluding.answer import not_sent
from audit.run.messages.timing_requests import EMPTY
from tests.conftest import finding, order_finding

RIGHT = [finding(probe) for probe in evidence.CORRECTNESS]


def judged(record: Record, findings: list[Finding]) -> Record:
    changed = record.model_copy(update={"findings": tuple(findings)})
    return changed.model_copy(update={"verdict": judge.judge(changed)})


def replaced(probe: str, outcome: str, **more: str) -> list[Finding]:
    return [finding(probe, outcome, **more) if one.probe == probe else one for one in RIGHT]


def test_a_right_kernel_lacks_only_a_time(record: Record) -> None:
    (missing,) = judged(record, RIGHT).verdict.missing
    assert missing.startswith("a time:")


def test_what_is_missing_is_named(record: Record) -> None:
    assert any("agreement" in text for text in judged(record, replaced("agreement", "error")).verdict.missing)
    assert any("order: not asked" in text for text in judged(record, RIGHT[:2]).verdict.missing)
    assert judged(record, [finding("build", "error")]).verdict.missing == ("a build: build error",)


@pytest.mark.parametrize(
    "why",
    ["raised", "elements of type float8_e4m3fn cannot be compared; see contract", "a tensor; see contract, repeat"],
)
def test_what_only_repeats_that_contract_has_no_answer_is_not_missing_too(record: Record, why: str) -> None:
    first, *others = RIGHT
    assert first.probe == "contract"
    silent = {"outcome": "error", "summary": f"not asked, since contract has no answer: {why}"}
    found = [first.model_copy(update={"outcome": "error", "summary": why})]
    found += [one.model_copy(update=silent) for one in others]
    assert judged(record, found).verdict.missing == (f"contract: {why}",)


def test_a_skip_that_every_probe_gives_is_said_once(record: Record) -> None:
    why = {"outcome": "skip", "summary": "not supported on this device: tl.tanh"}
    found = [one.model_copy(update=why) for one in RIGHT[:3]]
    assert judged(record, [*found, *RIGHT[3:]]).verdict.missing == (f"contract: {why['summary']}",)


def test_messages_of_a_foreign_hand_keep_a_variant_from_passing(record: Record) -> None:
    (missing,) = judged(record, [*RIGHT, not_sent("claimed", ["an event was told twice"])]).verdict.missing
    assert missing.startswith("channel: messages of a session that its own code did not send (1x)")


BLOCKS = tuple(range(12))


def timing(name: str, median_ms: float, *, noise: float = 0.001, session: str = "ladder") -> Measurement:
    """Twelve samples in twelve blocks; every other one is longer by `noise`, relative."""
    samples = tuple(median_ms * (1 + noise * (block % 2)) for block in BLOCKS)
    fields = {"variant": name, "shape": {"N": 4096}, "protocol": OURS, "samples_ms": samples}
    return Measurement(**fields, blocks=BLOCKS, positions=BLOCKS, session=session)


def timed(record: Record, gpu: str, *measurements: Measurement) -> Record:
    """A right kernel with those times on a GPU of that name, and no reported time under a floor."""
    device = record.device.model_copy(update={"kind": "cuda", "name": gpu})
    return judged(record.model_copy(update={"device": device, "measurements": measurements}), RIGHT)


H100 = "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    ("gpu", "claimed_ms", "name"),
    [(H100, 0.1, "confirmed"), (H100, 0.2, "overstated"), ("RTX 9", 0.1, "no defect found")],
)
def test_speed_speaks_only_for_a_gpu_the_claim_names(record: Record, gpu: str, claimed_ms: float, name: str) -> None:
    verdict = timed(record, gpu, timing("claimed", claimed_ms), timing(judge.BASELINE, 15.0)).verdict
    assert verdict.name == name
    assert any("x" in text for text in (*verdict.reasons, *verdict.missing))


def by_size(record: Record, *ratios: tuple[float, int]) -> Record:
    """The record of a claim that states those ratios for an H100, each at its size."""
    statement = record.claim.statement
    rows = tuple(Speedup(gpu="H100", ratio=ratio, shape={"N": size}) for ratio, size in ratios)
    claim = record.claim.model_copy(update={"statement": statement.model_copy(update={"speedup": rows})})
    return record.model_copy(update={"claim": claim})


@pytest.mark.parametrize(
    ("ratios", "name", "told"),
    [
        ([(150.0, 4096), (900.0, 64)], "confirmed", "H100: 900x is claimed at N=64 alone, where no time is taken"),
        ([(900.0, 4096), (150.0, 64)], "overstated", "H100: 150x is claimed at N=64 alone, where no time is taken"),
        ([(150.0, 64)], "no defect found", "H100: 150x is claimed at N=64 alone, where no time is taken"),
    ],
)
def test_a_ratio_speaks_for_its_shape_alone(
    record: Record, ratios: list[tuple[float, int]], name: str, told: str
) -> None:
    times = (timing("claimed", 0.1), timing(judge.BASELINE, 15.0))
    verdict = timed(by_size(record, *ratios), H100, *times).verdict
    assert verdict.name == name
    assert verdict.ratio is not None and verdict.ratio.reasons[-1] == told


def test_the_strongest_baseline_of_the_class_counts_and_eager_is_told(record: Record) -> None:
    rivals = (timing("baseline:eager_tf32", 0.1), timing("baseline:blocked", 5.0))
    verdict = timed(record, H100, timing("claimed", 0.1), timing(judge.BASELINE, 15.0), *rivals).verdict
    assert verdict.name == "weak baseline"
    reason, credit = verdict.reasons
    assert "measured 50.00x (95 % interval 50.00 to 50.00, 12 blocks) against baseline:blocked" in reason
    assert "150.00x" in reason, "against eager"
    assert credit.startswith("the published ratio is real against baseline:eager; baseline:blocked")


def outside(name: str, ms: float) -> Measurement:
    """The same callable by the clock of another process."""
    return Measurement(variant=name, shape={"N": 4096}, protocol=OUTSIDE, samples_ms=(ms,) * 5)


@pytest.mark.parametrize(
    ("claimed_ms", "eager_ms", "name"),
    [(0.112, 15.1, "confirmed"), (0.32, 15.1, "undecided"), (0.112, 1.5, "undecided")],
)
def test_a_ratio_counts_as_far_as_a_clock_outside_of_the_kernels_process_allows_it(
    record: Record, claimed_ms: float, eager_ms: float, name: str
) -> None:
    inside = (timing("claimed", 0.1), timing(judge.BASELINE, 15.0))
    around = (outside("claimed", claimed_ms), outside(judge.BASELINE, eager_ms), outside(EMPTY, 0.012))
    verdict = timed(record, H100, *inside, *around).verdict
    assert verdict.name == name
    assert any("by the clock of another process" in text for text in verdict.missing) is (name == "undecided")


def test_a_time_that_another_clock_contradicts_confirms_nothing(record: Record) -> None:
    result = timed(record, H100, timing("claimed", 0.1), timing(judge.BASELINE, 15.0))
    contradicted = finding(independent_clock.NAME, "fail", grade="hint", target=judge.BASELINE)
    for doubt in (contradicted, finding(independent_clock.NAME, "error", target="claimed")):
        assert judged(result, [*RIGHT, doubt]).verdict.name == "undecided"
    untimed = timed(record, H100, timing(judge.BASELINE, 15.0))
    verdict = judged(untimed, [*RIGHT, finding(independent_clock.NAME, "fail", grade="hint")]).verdict
    assert (verdict.name, verdict.missing[0].startswith("a time that counts: claimed: ")) == ("undecided", True)
    slow = timed(record, H100, timing("claimed", 0.2), timing(judge.BASELINE, 15.0))
    assert judged(slow, [*RIGHT, contradicted]).verdict.name == "overstated"


@pytest.mark.parametrize("target", ["claimed", judge.BASELINE])
def test_a_time_under_its_floor_decides_no_ratio(record: Record, target: str) -> None:
    for claimed_ms in (0.1, 0.2):
        result = timed(record, H100, timing("claimed", claimed_ms), timing(judge.BASELINE, 15.0))
        under = finding(comparison.UNDER_FLOOR, "fail", grade="hint", target=target)
        verdict = judged(result, [*RIGHT, under]).verdict
        assert (verdict.name, verdict.missing[0].startswith(f"a time that counts: {target}: ")) == ("undecided", True)
        beside = finding(comparison.UNDER_FLOOR, "fail", grade="hint", target="wmma_split")
        assert judged(result, [*RIGHT, beside]).verdict.name == ("confirmed" if claimed_ms == 0.1 else "overstated")


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        (
            None,
            "150.00x (95 % interval 150.00 to 150.00, 12 blocks) against baseline:eager, the strongest baseline of its",
        ),
        ("tf32", "150.00x (95 % interval 150.00 to 150.00, 12 blocks) against baseline:eager; no baseline timed is as"),
    ],
)
def test_a_baseline_counts_in_the_class_that_its_results_show(record: Record, shown: str | None, reason: str) -> None:
    eager = timing(judge.BASELINE, 15.0).model_copy(update={"precision": shown})
    result = timed(record, H100, timing("claimed", 0.1), eager)
    assert result.verdict.name == "confirmed"
    assert reason in result.verdict.reasons[0]
    finer = timing("baseline:blocked_tf32", 5.0).model_copy(update={"precision": "fp32"})
    result = timed(record, H100, timing("claimed", 0.1), eager, finer)
    assert "50.00x" in result.verdict.reasons[0].partition(" against baseline:blocked_tf32, the strongest")[0]


def test_a_ratio_that_no_baseline_leaves_has_no_credit(record: Record) -> None:
    rivals = (timing(judge.BASELINE, 15.0), timing("baseline:blocked", 5.0))
    verdict = timed(record, H100, timing("claimed", 0.2), *rivals).verdict
    assert (verdict.name, len(verdict.reasons)) == ("overstated", 1)


def test_a_wrong_baseline_is_none(record: Record) -> None:
    result = timed(record, H100, timing("claimed", 0.1), timing(judge.BASELINE, 15.0), timing("baseline:blocked", 5.0))
    bad = finding("timed_outputs", "fail", target="baseline:blocked")
    assert judged(result, [*RIGHT, bad]).verdict.name == "confirmed"


def test_a_reference_that_is_wrong_while_timed_earns_no_credit_and_fails_no_claim(record: Record) -> None:
    rivals = (timing(judge.BASELINE, 15.0), timing("baseline:blocked", 5.0))
    result = timed(record, H100, timing("claimed", 0.1), *rivals)
    bad = finding("timed_outputs", "fail", target=judge.BASELINE)
    verdict = judged(result, [*RIGHT, bad]).verdict
    assert verdict.name == "overstated"
    assert not any("150.00x" in reason for reason in verdict.reasons), "against eager"


@pytest.mark.parametrize(
    ("measurements", "words"),
    [
        ((timing("claimed", 0.1).model_copy(update={"blocks": (), "positions": ()}),), "with samples of both: 0, and"),
        ((timing("claimed", 0.1).model_copy(update={"blocks": (3,) * 12}),), "with samples of both: 1, and 10"),
        ((timing("claimed", 0.1, noise=0.0),), "all samples of one of the two are equal"),
        ((timing("claimed", 0.1, noise=0.3),), "the interval is wide"),
        ((timing("claimed", 0.11, noise=0.08),), "a tighter interval"),
        ((timing("claimed", 0.1), timing("control:again:claimed", 0.11)), "came out as faster"),
    ],
)
def test_samples_that_cannot_tell_leave_it_undecided_with_the_reason(
    record: Record, measurements: tuple[Measurement, ...], words: str
) -> None:
    verdict = timed(record, H100, *measurements, timing(judge.BASELINE, 15.0)).verdict
    assert verdict.name == "undecided"
    assert words in verdict.missing[0]


@pytest.mark.parametrize(
    ("later", "words"),
    [
        ({judge.BASELINE: 15.0}, "a ratio to baseline:blocked, the strongest baseline, which no session timed beside"),
        ({"baseline:blocked": 5.0}, f"a session that timed {judge.BASELINE} beside the claimed kernel"),
        ({"baseline:blocked": 5.0, judge.BASELINE: 13.2}, f"a ratio to {judge.BASELINE} that counts: 135.2"),
        ({"baseline:blocked": 5.0, judge.BASELINE: 10.0}, None),
    ],
)
def test_a_baseline_removed_between_sessions_turns_no_verdict_over(
    record: Record, later: dict[str, float], words: str | None
) -> None:
    first = (timing(judge.BASELINE, 15.0), timing("baseline:blocked", 5.0))
    noise = {judge.BASELINE: 0.05}
    second = [timing(name, ms, noise=noise.get(name, 0.001), session="later") for name, ms in later.items()]
    verdict = timed(record, H100, *first, *second, timing("claimed", 0.1, noise=0.0011, session="later")).verdict
    assert verdict.name == ("undecided" if words else "overstated")
    assert words is None or verdict.missing[0].startswith(words)


def test_times_of_another_session_than_the_baselines_are_none(record: Record) -> None:
    apart = (timing("claimed", 0.1, session="claim"), timing(judge.BASELINE, 15.0))
    verdict = timed(record, H100, *apart).verdict
    assert verdict.name == "no defect found"
    assert verdict.missing[0].startswith("a time:")


def test_only_a_passing_variant_has_a_time(record: Record) -> None:
    result = timed(record, H100, timing("claimed", 0.1), timing(judge.BASELINE, 15.0))
    wrong = [finding("agreement", "fail", target="no_op")]
    more = Measurement(variant="no_op", shape={"N": 4096}, protocol=OURS, samples_ms=(0.001,))
    rungs = judge.ladder(result.claim.statement, [*RIGHT, *wrong], [*result.measurements, more])
    assert {rung.variant: rung.median_ms for rung in rungs if rung.median_ms is not None} == {"claimed": 0.10005}


def ablations(record: Record, outcomes: dict[str, tuple[bool, bool]]) -> Record:
    findings = []
    for variant, (claim_first, reference_first) in outcomes.items():
        others = [finding(probe, target=variant) for probe in evidence.CORRECTNESS if probe != "order"]
        findings += [order_finding(variant, claim_first, reference_first), *others]
    return record.model_copy(update={"findings": tuple(findings)})


def test_root_cause_is_the_smallest_change_that_cures(record: Record) -> None:
    result = ablations(
        record,
        {
            "claimed": (False, True),
            "ablation_zero_init": (False, False),
            "ablation_sync": (False, True),
            "ablation_grid2d": (True, True),
        },
    )
    assert cure(result) == (
        "Changing only the 2-D grid makes the kernel right; the zero-initialised output alone only makes the defect "
        "show in both execution orders; the device synchronisation alone changes nothing."
    )


@pytest.mark.parametrize("claimed", [(True, True), (False, False)])
def test_no_cause_without_a_cure_or_without_a_defect(record: Record, claimed: tuple[bool, bool]) -> None:
    assert cure(ablations(record, {"claimed": claimed, "ablation_grid2d": claimed})) is None


def test_ladder_keeps_the_order_of_the_claim_and_clears_nobody_by_silence(record: Record) -> None:
    rungs = judge.ladder(record.claim.statement, RIGHT)
    assert [rung.variant for rung in rungs] == [variant.name for variant in record.claim.statement.variant]
    assert rungs[0].state == "passed"
    assert {rung.state for rung in rungs[1:]} == {"undecided"}
