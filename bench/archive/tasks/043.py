"""Max pooling over a volume, with dilation."""
import torch

batch_size = 16
channels = 32
dim1 = 64
dim2 = 64
dim3 = 64
kernel_size = 3
stride = 2
padding = 1
dilation = 3

def module_fn(x, kernel_size, stride, padding, dilation, return_indices, ceil_mode):
    return torch.nn.functional.max_pool3d(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)

class Model(torch.nn.Module):
    def forward(self, x, fn=module_fn):
        return fn(x, kernel_size, stride, padding, dilation, False, False)

def get_inputs():
    return [torch.randn(batch_size, channels, dim1, dim2, dim3)]

def get_init_inputs():
    return []
