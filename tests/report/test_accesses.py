"""What the report says of an undefined access that another probe than `memory_access` saw."""

from __future__ import annotations

import pytest

from audit.model import Finding, Record
from audit.report import content
from tests.conftest import finding
from tests.report.fixture import judged, triangular
from tests.report.test_content import section

WRITE = {"kind": "out-of-bounds-write", "message": "writes 4 bytes past the end of a block of 1024 bytes", "line": 47,
         "kernel": "scan", "count": 721, "grade": "proved", "proof": "access checker"}  # fmt: skip
BLOCKS = finding("claimed_blocks", "fail", grade="proved", line=47, summary="N=255: out-of-bounds-write in line 47",
                 evidence={"shape": {"N": 255}, "right": True, "access": WRITE})  # fmt: skip
WHERE = "wrong at 1 of 2 sizes asked around N=33; N=3: "
SIZES = finding("sweep", "fail", grade="hint", summary=f"{WHERE}race-shared: writes a word that another thread reads")
VALUES = finding("sweep", "fail", grade="hint", summary=f"{WHERE}3 of 9 elements wrong")
INTACT = "No undefined access to memory was seen"


def with_one(found: Finding) -> Record:
    """The claimed kernel alone, right but for that."""
    right = triangular(defects=False)
    own = [one for one in right.findings if one.target == "claimed"]
    return judged(right.model_copy(update={"findings": (*own, found)}))


@pytest.mark.parametrize(("found", "intact"), [(BLOCKS, False), (SIZES, False), (VALUES, True)])
def test_no_strength_contradicts_an_access_that_any_probe_saw(found: Finding, intact: bool) -> None:
    bullets = section(with_one(found), "strengths").bullets
    assert any(one.startswith(INTACT) for one in bullets) is intact


def test_the_line_of_the_access_is_the_cause_where_no_other_is_known() -> None:
    record = with_one(BLOCKS)
    (cause,) = section(record, "cause").bullets
    assert cause == (
        "claimed.cu, line 47: out-of-bounds-write, seen with every access checked: "
        "writes 4 bytes past the end of a block of 1024 bytes."
    )
    card = content.build(record, ()).sections[0].card
    assert card is not None and ("Root cause", cause) in card.facts
    assert "a memory access that CUDA does not allow" in card.headline
    assert section(with_one(VALUES), "cause").bullets == ()
