"""Mean hinge loss of labels of -1 and 1."""
import torch

batch_size = 128
input_shape = (1,)

def module_fn(predictions, targets):
    return torch.mean(torch.clamp(1 - predictions * targets, min=0))

class Model(torch.nn.Module):
    def forward(self, predictions, targets, fn=module_fn):
        return fn(predictions, targets)

def get_inputs():
    return [torch.randn(batch_size, *input_shape), torch.randint(0, 2, (batch_size, 1)).float() * 2 - 1]

def get_init_inputs():
    return []
