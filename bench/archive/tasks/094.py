"""Mean squared error."""
import torch

batch_size = 128
input_shape = (4096,)

def module_fn(predictions, targets):
    return torch.mean((predictions - targets) ** 2)

class Model(torch.nn.Module):
    def forward(self, predictions, targets, fn=module_fn):
        return fn(predictions, targets)

def get_inputs():
    return [torch.randn(batch_size, *input_shape), torch.randn(batch_size, *input_shape)]

def get_init_inputs():
    return []
