"""claimed: a product that waits until somebody looks. OUR RECONSTRUCTION of the published mechanism, written from its
description; not the published text.

task       a: (M, N), b: (N, M), float32, M far larger than N; the result is (M, M)
changed    nothing yet: the first file of the ladder
needs      nothing but torch
the line   `return Product.of(a, b)`: the call makes an object; the work is done by whoever compares it
precision  the library's float32
"""

import torch
from torch import nn


class Product(torch.Tensor):
    """Holds two factors; any operation on it multiplies them first."""

    @staticmethod
    def of(a, b):
        """The product of a and b, later."""
        product = torch.Tensor._make_subclass(Product, a.new_empty(0))
        product.factors = (a, b)
        return product

    def value(self):
        """What the call should have returned."""
        return torch.matmul(*self.factors)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        """Replaces every product among the arguments by its value."""
        if function is torch.Tensor._make_subclass:
            return super().__torch_function__(function, types, args, kwargs or {})
        plain = [value.value() if isinstance(value, cls) else value for value in args]
        return function(*plain, **(kwargs or {}))


class ModelNew(nn.Module):
    """C = a·b."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """A promise where a is tall, else the product."""
        if a.size(0) > a.size(1):
            return Product.of(a, b)
        return torch.matmul(a, b)
