"""The emulated device answers as a GPU did, or as near as the question states; the GPU's answers are committed."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from audit.build.emulated.build import build
from tests.conftest import part
from tests.emulated.child import run
from tests.emulated.conformance import answers
from tests.emulated.conformance.asked import asked
from tests.emulated.conformance.compared import differences
from tests.emulated.conformance.entry import Bound, Entry
from tests.emulated.conformance.source import for_emulator
from tests.emulated.conformance.suite import GROUPS

_ASK = """
import base64
def tensor(text):
    data = base64.b64decode(text)
    return torch.frombuffer(bytearray(data or b"\\0"), dtype=torch.uint8).clone()
for number, buffers, *launch in LAUNCHES:
    runtime.configure(allocator="poison_nan", checker=True, compute_capability=90)
    out = functions["ask"](number, *map(tensor, buffers), *launch)
    kinds = sorted({report["kind"] for report in runtime.reports()})
    answer[number] = [base64.b64encode(bytes(out.tolist())).decode(), kinds]
    runtime.reset()
    runtime.recover()
"""


def launches(group: str) -> list[list[object]]:
    found = []
    for number, entry in enumerate(GROUPS[group]):
        one = asked(entry)
        texts = [base64.b64encode(buffer).decode() for buffer in one.buffers]
        found.append([number, texts, one.out_bytes, one.n, one.blocks, one.threads])
    return found


@pytest.mark.parametrize("group", part(GROUPS))
def test_the_emulated_device_answers_as_a_gpu_does(group: str, tmp_path: Path) -> None:
    source = tmp_path / f"{group}.cu"
    source.write_text(for_emulator(dict(enumerate(GROUPS[group]))))
    result = run(build(source, compute_capability=90), _ASK.replace("LAUNCHES", repr(launches(group))))
    want = answers.of(group)
    wrong = {}
    for number, entry in enumerate(GROUPS[group]):
        bits, kinds = result[str(number)]
        assert (entry.name, kinds) == (entry.name, [])
        places = differences(entry, want[entry.name], base64.b64decode(bits))
        if bool(places) != bool(entry.differs):
            wrong[entry.name] = places[:5]
    assert wrong == {}


def test_every_question_has_an_answer_to_itself() -> None:
    for group, entries in GROUPS.items():
        assert {entry.name for entry in entries} - answers.of(group).keys() == set()


def test_the_page_counts_the_questions() -> None:
    page = (Path(__file__).parents[2] / "docs/emulated_device.md").read_text(encoding="utf-8")
    every = [entry for entries in GROUPS.values() for entry in entries]
    assert f"{len(every):,} questions in {len(GROUPS)} groups" in page
    assert sum(bool(entry.differs) for entry in every) == 8
    assert "Eight questions state a difference" in page


def test_what_counts_as_agreement() -> None:
    exact = Entry("x", "each", "a", ("f32",), "f32")
    near = Entry("x", "each", "a", ("f32",), "f32", Bound(ulps=1))
    one, next_, nan, other_nan, zero, minus = (
        bytes.fromhex(text) for text in ("0000803f", "0100803f", "0000c07f", "ffffff7f", "00000000", "00000080")
    )
    assert differences(exact, one, one) == differences(exact, nan, other_nan) == differences(near, one, next_) == []
    assert differences(exact, one, next_) == differences(exact, zero, minus) == differences(exact, one, nan) == [0]
    assert differences(near, zero, minus) == []
    assert differences(Entry("x", "each", "a", ("i32",), "i32"), nan, other_nan) == [0]
