"""What the report says of undefined behaviour beside right values, and of changes of which none is enough."""

from __future__ import annotations

import pytest

from audit.model import Finding, Record
from audit.model.finding import Change, GeneratedRepair
from tests.conftest import finding
from tests.report.fixture import judged, triangular
from tests.report.test_content import section

RACE = finding("memory_access", "fail", grade="undefined", summary="N=255: race-shared: two threads")
SAID = "undefined: the values came out right in every order asked (3 orders of threads)"


def racing(orders: int, *, generated: int = 0, cured: bool = False) -> Record:
    """A claimed kernel with a race and right values, and changes that leave the race; `cured`: but for the first."""
    right = triangular(defects=False)
    own = [one for one in right.findings if one.target == "claimed" and one.probe != "memory_access"]
    asked = [
        one.model_copy(update={"evidence": {"orders": orders}}) if one.probe == "agreement" else one for one in own
    ]
    claimed = right.claim.statement.claimed
    assert claimed is not None
    changes: list[GeneratedRepair] = []
    others: list[Finding] = []
    for index in range(generated):
        name = f"generated_{index + 1}"
        variant = claimed.model_copy(update={"name": name, "file": f"{name}.cu", "role": "repair"})
        change = Change(what=f"barrier before line {index + 1}", line=1, removed=(), added=("__syncthreads();",))
        changes.append(GeneratedRepair(variant=variant, change=change))
        found = (*asked, RACE.model_copy(update={"outcome": "pass", "grade": None}) if cured and not index else RACE)
        others += [one.model_copy(update={"target": name}) for one in found]
    return judged(right.model_copy(update={"findings": (*asked, RACE, *others), "generated": tuple(changes)}))


@pytest.mark.parametrize(("orders", "said"), [(3, True), (1, False)])
def test_page_one_says_that_the_values_are_right_in_every_order(orders: int, said: bool) -> None:
    card = section(racing(orders), "verdict").card
    assert card is not None and card.name == "undefined"
    assert dict(card.facts)["Is the result right"].startswith(SAID) is said


@pytest.mark.parametrize(("generated", "cured", "said"), [(2, False, True), (1, False, False), (2, True, False)])
def test_changes_of_which_none_is_enough_were_tried_alone(generated: int, cured: bool, said: bool) -> None:
    bullets = section(racing(3, generated=generated, cured=cured), "cause").bullets
    assert any("was tried alone" in one for one in bullets) is said


@pytest.mark.parametrize(("decides", "said"), [(True, "depends on the order"), (False, "has undefined behaviour")])
def test_a_result_of_the_order_alone_has_a_headline_of_its_own(decides: bool, said: str) -> None:
    worst = {"shape": {"N": 255}, "order_decides": decides}
    late = finding("agreement", "fail", grade="undefined", summary="N=255: wrong", evidence={"worst": worst})
    right = triangular(defects=False)
    others = [one for one in right.findings if (one.target, one.probe) != ("claimed", "agreement")]
    card = section(judged(right.model_copy(update={"findings": (*others, late)})), "verdict").card
    assert card is not None and card.name == "undefined"
    assert said in card.headline
