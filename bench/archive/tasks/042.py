"""Max pooling over an image, with dilation."""
import torch

batch_size = 16
channels = 32
height = 128
width = 128
kernel_size = 2
stride = 2
padding = 1
dilation = 3

def module_fn(x, kernel_size, stride, padding, dilation):
    return torch.nn.functional.max_pool2d(x, kernel_size, stride, padding, dilation)

class Model(torch.nn.Module):
    def forward(self, x, fn=module_fn):
        return fn(x, kernel_size, stride, padding, dilation)

def get_inputs():
    return [torch.randn(batch_size, channels, height, width)]

def get_init_inputs():
    return []
