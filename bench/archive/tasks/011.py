"""Product of a 4D tensor, along its last dimension, and a matrix."""
import torch

b = 16
i = 256
j = 512
l = 256
k = 768

def module_fn(a, b):
    return torch.einsum("bijl,lk->bijk", a, b)

class Model(torch.nn.Module):
    def forward(self, a, b, fn=module_fn):
        return fn(a, b)

def get_inputs():
    return [torch.randn(b, i, j, l), torch.randn(l, k)]

def get_init_inputs():
    return []
