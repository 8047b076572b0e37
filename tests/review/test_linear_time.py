"""The time to read a source grows with its length, and not with the square of it, whatever its shape."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from audit.build.cuda.fast_host import host_part
from audit.build.cuda.fast_toolchain import NotFast
from audit.build.device_part import device_text
from audit.build.emulated.rewrite import rewrite
from audit.review import hints
from audit.review.cuda_source import CudaSource, parse
from tests.conftest import part
from tests.review.growing_sources import CUDA, PYTHON, Family

SIZE, FOLD = 1000, 8
LINEAR = 2.5 * FOLD
"""What the time may grow by where the length grows by `FOLD`: a square is 64 times."""
SOON_S = 0.03
"""A source that takes less at its full length says nothing about growth."""


def seconds(read: Callable[[str], object], text: str) -> float:
    """Return processor seconds of this process."""
    began = time.process_time()
    read(text)
    return time.process_time() - began


def grows_in_line(read: Callable[[str], object], family: Family) -> bool:
    """Whether the best of three times of the full length is in line with the best of three of the short one."""
    text, long, short = family(SIZE * FOLD), float("inf"), 0.0
    for _ in range(3):
        long = min(long, seconds(read, text))
        if long < SOON_S:
            return True
        short = short or min(seconds(read, family(SIZE)) for _ in range(3))
        if long < LINEAR * short:
            return True
    return False


def builds(text: str) -> CudaSource:
    """What a build does with a source before a compiler gets it."""
    source = parse(text)
    rewrite(source, name="a.cu")
    device_text(source)
    with suppress(NotFast):
        host_part(source, name="a.cu")
    return source


def python(text: str) -> None:
    try:
        hints.of_python(text)
    except SyntaxError as error:
        assert "\n" not in error.msg


@pytest.mark.parametrize("name", part(CUDA))
def test_cuda_rules(name: str) -> None:
    assert grows_in_line(hints.of_cuda, CUDA[name])


@pytest.mark.parametrize("name", part(CUDA))
def test_builds(name: str) -> None:
    assert grows_in_line(builds, CUDA[name])


@pytest.mark.parametrize("name", part(PYTHON))
def test_python_rules(name: str) -> None:
    assert grows_in_line(python, PYTHON[name])


def test_the_square_of_a_length_is_seen() -> None:
    def squared(text: str) -> list[int]:
        return [len(text[at:].split("a")) for at in range(0, len(text), 8)]

    assert not grows_in_line(squared, lambda size: "a" * size)
