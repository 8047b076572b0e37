"""Max pooling over a row, with dilation."""
import torch

batch_size = 16
features = 64
sequence_length = 128
kernel_size = 4
stride = 2
padding = 2
dilation = 3
return_indices = False

def module_fn(x, kernel_size, stride, padding, dilation, return_indices):
    return torch.nn.functional.max_pool1d(x, kernel_size, stride, padding, dilation, return_indices=return_indices)

class Model(torch.nn.Module):
    def forward(self, x, fn=module_fn):
        return fn(x, kernel_size, stride, padding, dilation, return_indices)

def get_inputs():
    return [torch.randn(batch_size, features, sequence_length)]

def get_init_inputs():
    return []
