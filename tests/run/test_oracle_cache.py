"""Audits of one task share its right results; another request, another task or a failed session shares none."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from audit.run.messages.requests import Cases, Sized, Variations, Vary
from audit.run.messages.results import digest_of
from audit.run.processes.oracle_cache import OracleCache
from audit.run.processes.pool import Reply, Workers

REFERENCE = """
import torch
def cost(shape): return {"flops": 1.0, "bytes": 2.0}
def inputs(shape, generator): return [torch.randn(shape["N"], generator=generator)]
def reference(x): return 2 * x
def oracle(x): return 2 * x.double()
"""


class Counted(OracleCache):
    """A cache that counts the sessions behind it."""

    asked = 0

    def _asked(self, request, ask):  # type: ignore[no-untyped-def]
        self.asked += 1
        return super()._asked(request, ask)


@pytest.fixture
def cache() -> Iterator[Counted]:
    with Counted() as opened:
        yield opened


@pytest.fixture
def workers(cache: Counted) -> Iterator[Workers]:
    with Workers(2, cache=cache) as pool:
        yield pool


def claim(tmp_path: Path, name: str, text: str = REFERENCE) -> Path:
    (folder := tmp_path / name).mkdir()
    (folder / "reference.py").write_text(text)
    (folder / "out").mkdir()
    return folder


def cases(folder: Path, *, seed: int = 7) -> Cases:
    sizes = {"N": 5}
    return Cases(reference=folder / "reference.py", shapes=(sizes,), seeds=(seed,), cost_shape=sizes,
                 folder=folder / "out", device="cpu")  # fmt: skip


def right(reply: Reply) -> list[float]:
    assert reply.finished, reply.detail
    found: list[float] = reply.expected(reply.events[1]).tolist()
    return found


def test_the_second_audit_of_a_task_has_the_first_ones_results_and_files(
    workers: Workers, cache: Counted, tmp_path: Path
) -> None:
    first, second = claim(tmp_path, "a"), claim(tmp_path, "b")
    got = [right(workers.call(cases(one), limit_s=60)) for one in (first, second)]
    assert cache.asked == 1
    assert got[0] == got[1]
    assert len(got[0]) == 5
    assert [file.name for file in (second / "out").iterdir()] == ["0.inputs.pt"]
    assert digest_of((first / "out/0.inputs.pt").read_bytes()) == digest_of((second / "out/0.inputs.pt").read_bytes())


def test_variations_are_shared_where_the_inputs_are_the_same(workers: Workers, cache: Counted, tmp_path: Path) -> None:
    names = []
    for name in ("a", "b"):
        folder = claim(tmp_path, name)
        workers.call(cases(folder), limit_s=60)
        vary = Vary(inputs=folder / "out/0.inputs.pt", shape={"N": 5}, groups=("other", "distributions"))
        request = Variations(reference=folder / "reference.py", device="cpu", relative=1e-4, vary=(vary,))
        reply = workers.call(request, limit_s=60)
        assert reply.finished, reply.detail
        made = {vary.beside(event["variation"]).name for event in reply.events[1:]}
        assert "0.other_values.inputs.pt" in made
        names.append({file.name for file in (folder / "out").iterdir()})
        assert made < names[-1]
    assert cache.asked == 2
    assert names[0] == names[1]


@pytest.mark.parametrize("other", ["seed", "reference", "data", "harness"])
def test_another_question_is_asked_again(workers: Workers, cache: Counted, tmp_path: Path, other: str) -> None:
    first = claim(tmp_path, "a")
    second = claim(tmp_path, "b", REFERENCE.replace("2 *", "3 *") if other == "reference" else REFERENCE)
    if other == "data":
        (second / "table.json").write_text("[1]")
    if other == "harness":
        _state(first, "train")
        _state(second, "eval")
    right(workers.call(cases(first), limit_s=60))
    right(workers.call(cases(second, seed=8 if other == "seed" else 7), limit_s=60))
    assert cache.asked == 2


def test_the_source_of_a_variant_makes_no_difference(workers: Workers, cache: Counted, tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder = claim(tmp_path, name)
        _state(folder, "eval")
        (folder / "claimed.cu").write_text(f"// {name}")
        right(workers.call(cases(folder), limit_s=60))
    assert cache.asked == 1


def test_an_exception_is_shared_and_a_crash_is_not(workers: Workers, cache: Counted, tmp_path: Path) -> None:
    raises = REFERENCE.replace("return 2 * x.double()", "raise ValueError('no result')")
    dies = REFERENCE.replace("return 2 * x.double()", "import os; os.kill(os.getpid(), 9)")
    endings = []
    for index, text in enumerate((raises, raises, dies, dies)):
        endings.append(workers.call(cases(claim(tmp_path, str(index), text)), limit_s=60).ending)
    assert endings == ["raised", "raised", "crashed", "crashed"]
    assert cache.asked == 3


def test_the_oldest_reply_goes_first_and_its_files_stay_where_they_were_linked(
    workers: Workers, cache: Counted, tmp_path: Path
) -> None:
    cache._most = 5000
    folder = claim(tmp_path, "a")
    for seed in range(6):
        right(workers.call(cases(folder, seed=seed), limit_s=60))
    assert len(list(cache._scratch.path.iterdir())) < 6
    assert (folder / "out/0.inputs.pt").stat().st_size > 0
    right(workers.call(cases(folder, seed=5), limit_s=60))
    assert cache.asked == 6, "the newest is there"
    right(workers.call(cases(folder, seed=0), limit_s=60))
    assert cache.asked == 7, "the oldest is not"


def test_two_threads_that_ask_the_same_wait_for_one_session(workers: Workers, cache: Counted, tmp_path: Path) -> None:
    found: list[list[float]] = []
    folders = [claim(tmp_path, str(index)) for index in range(4)]

    def ask(folder: Path) -> None:
        found.append(right(workers.call(cases(folder), limit_s=60)))

    threads = [Thread(target=ask, args=(folder,)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.asked == 1
    assert len(found) == 4
    assert all(np.array_equal(one, found[0]) for one in found)


def test_sizes_that_the_task_refuses_are_shared_too(workers: Workers, cache: Counted, tmp_path: Path) -> None:
    raised = []
    for name in ("a", "b"):
        folder = claim(tmp_path, name)
        request = Sized(reference=folder / "reference.py", device="cpu", shapes=({"N": 3}, {"M": 1}), seed=1,
                        most=1 << 20, relative=1e-4, folder=folder / "out")  # fmt: skip
        reply = workers.call(request, limit_s=60)
        raised.append([event["raised"] for event in reply.events])
        assert [file.name for file in (folder / "out").iterdir()] == ["0.inputs.pt"]
    assert cache.asked == 1
    assert raised[0] == raised[1]
    assert raised[0][0] is None
    assert raised[0][1] is not None


def _state(folder: Path, mode: str) -> None:
    (folder / "claimed.cu").write_text("// a")
    text = CLAIM.replace("MODE", mode)
    (folder / "claim.toml").write_text(text)


CLAIM = """
name = "x"
title = "x"
task = "x"
dtype = "float32"
entry = "forward"
baseline = "x"
[source]
title = "x"
authors = "x"
published = "2025-02"
url = "https://example.org"
fidelity = "verbatim"
note = "x"
[protocol]
steps = ["x"]
[harness]
mode = "MODE"
[tolerance]
relative = 0.01
reason = "x"
[shapes]
claimed = { N = 5 }
others = []
emulated = [{ N = 5 }]
[[variant]]
file = "claimed.cu"
role = "claimed"
technique = "x"
"""
