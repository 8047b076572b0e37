"""Mean over a dimension."""
import torch

batch_size = 16
dim1 = 256
dim2 = 256

def module_fn(x, dim):
    return torch.mean(x, dim)

class Model(torch.nn.Module):
    def forward(self, x, fn=module_fn):
        return fn(x, 1)

def get_inputs():
    return [torch.randn(batch_size, dim1, dim2)]

def get_init_inputs():
    return []
