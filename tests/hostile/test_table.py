from __future__ import annotations

from tests.hostile.header import attacks
from tests.hostile.table import PAGE, markdown, stored


def test_the_page_is_what_the_headers_and_the_last_run_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), "make hostile"


def test_every_attack_was_seen_and_there_are_as_many_as_promised() -> None:
    seen = {row["attack"] for row in stored() if row["device"] == "emulated"}
    assert seen == {attack.name for attack in attacks()}
    assert len(seen) >= 40
