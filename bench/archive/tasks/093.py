"""Cumulative sum of the elements under a mask."""
import torch

batch_size = 128
input_shape = (4000,)
dim = 1

def module_fn(x, mask, dim):
    return torch.cumsum(x * mask, dim)

class Model(torch.nn.Module):
    def forward(self, x, mask, fn=module_fn):
        return fn(x, mask, dim)

def get_inputs():
    x = torch.randn(batch_size, *input_shape)
    return [x, torch.randint(0, 2, x.shape).bool()]

def get_init_inputs():
    return []
