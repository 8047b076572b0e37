"""Each element clamped to [min_val, max_val]."""
import torch

batch_size = 16
dim = 16384
min_val = -1.0
max_val = 1.0

def module_fn(x, min_val, max_val):
    return torch.nn.functional.hardtanh(x, min_val, max_val)

class Model(torch.nn.Module):
    def forward(self, x, fn=module_fn):
        return fn(x, min_val, max_val)

def get_inputs():
    return [torch.randn(batch_size, dim)]

def get_init_inputs():
    return []
