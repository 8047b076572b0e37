"""Which results count as torch's own tensors, and which stay what they are."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from audit.run.calls.outputs import about, outputs_of, own, packed, spanned

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


@pytest.mark.parametrize("other", [None, 3, [3], "Tensor"])
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


Y = torch.tensor([7, 2**40])


class Deferred(tuple[Any, ...]):
    """Gives other values than it holds when it is read."""

    def __iter__(self) -> Any:
        return iter((X + 1, X + 1))


@pytest.mark.parametrize("result", [(X, Y), [X, Y], {"x": X, "y": Y}, (X, None, [Y]), Deferred((X, Y))])
def test_several_tensors_are_outputs_in_their_order(result: Any) -> None:
    first, second = outputs_of(own(result))
    assert first is X
    assert second is Y


@pytest.mark.parametrize("result", [(X,), [X], {"x": X}, (X, None)])
def test_a_tensor_alone_in_a_container_is_that_tensor(result: Any) -> None:
    assert own(result) is X


@pytest.mark.parametrize("result", [[], (X, 3), 3, None])
def test_what_is_not_several_tensors_stays_as_it_is(result: Any) -> None:
    assert own(result) is result
    assert outputs_of(own(result)) == ()


def test_an_output_that_is_left_out_counts_as_none() -> None:
    assert own((X, None)) is X


def test_several_outputs_are_told_and_packed_as_one_vector() -> None:
    each = [{"shape": [2, 3], "dtype": "float32"}, {"shape": [2], "dtype": "int64"}]
    assert about((X, Y)) == {"shape": [8], "dtype": "float32 and int64", "outputs": each}
    assert about((X,)) == each[0]
    assert packed((X, Y)).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, float(2**40)]
    assert packed((X, X)).dtype == torch.float32
    assert packed(X) is X


def test_an_output_that_may_compute_when_it_is_read_is_not_packed() -> None:
    lazy = X.as_subclass(Lazy)
    assert packed((X, lazy)) == (X, lazy)
