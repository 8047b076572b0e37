"""Which results count as torch's own tensors, and which stay what they are."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from audit.run.outputs import own, spanned

X = torch.arange(6.0).reshape(2, 3)


class Empty(torch.Tensor):
    """A class with nothing in it."""


class Named(Empty):
    pass


class Lazy(torch.Tensor):
    """Computes what it holds when it is read."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_function__(func, types, args, kwargs or {})


class Printed(torch.Tensor):
    def __repr__(self) -> str:  # type: ignore[override]
        return "anything"


@pytest.mark.parametrize("kind", [Empty, Named])
def test_a_subclass_that_adds_nothing_is_a_tensor_over_the_same_memory(kind: type[torch.Tensor]) -> None:
    plain = own(X.as_subclass(kind))
    assert type(plain) is torch.Tensor
    assert plain.data_ptr() == X.data_ptr()
    assert torch.equal(plain, X)


def test_a_parameter_is_a_tensor() -> None:
    plain = own(torch.nn.Parameter(X))
    assert type(plain) is torch.Tensor
    assert not plain.requires_grad
    assert plain.data_ptr() == X.data_ptr()


@pytest.mark.parametrize("kind", [Lazy, Printed])
def test_a_subclass_that_defines_anything_stays_one(kind: type[torch.Tensor]) -> None:
    assert type(own(X.as_subclass(kind))) is kind


@pytest.mark.parametrize("other", [None, 3, [X], "Tensor"])
def test_what_is_no_tensor_stays_as_it_is(other: object) -> None:
    assert own(other) is other


def test_a_metaclass_of_its_own_is_not_looked_through() -> None:
    class Meta(type(torch.Tensor)):  # type: ignore[misc]
        def __getattribute__(cls, name: str) -> Any:
            return super().__getattribute__(name)

    class Odd(torch.Tensor, metaclass=Meta):
        pass

    assert type(own(X.as_subclass(Odd))) is Odd


def test_memory_of_any_strides_is_one_vector() -> None:
    assert torch.equal(spanned(X.t()), torch.arange(6.0))
    assert torch.equal(spanned(X[:, 1]), torch.arange(1.0, 5.0))
    assert spanned(torch.ones(1).expand(50)).numel() == 1
    assert spanned(torch.ones(0, 3)).numel() == 0
