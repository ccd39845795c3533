#!/usr/bin/python3
"""Writes golden/ops.json and golden/lenet.json: values and gradients as PyTorch computes them, in float64.

Run once, with Debian's python3-torch (1.13.1): /usr/bin/python3 tests/ops/make_golden.py
Inputs are not stored: they are fixed numbers that cases.cpp computes too. A case has the name, shapes and ranges of its
entry in cases.cpp. Pictures are [N, H, W, C] and weights [K, R, S, C] there, and are turned around for PyTorch here.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

GOLDEN = pathlib.Path(__file__).parent / 'golden'
COTANGENT = 99


def fixed_number(sequence, i):
    """Number i of a fixed sequence in [0, 1), by integer arithmetic."""
    h = (i * 2654435761 + sequence * 40503) & 0xffffffff
    h = ((h ^ (h >> 16)) * 2246822519) & 0xffffffff
    h = ((h ^ (h >> 13)) * 3266489917) & 0xffffffff
    h ^= h >> 16
    return (h >> 8) * 2.0**-24


def fixed_tensor(sequence, shape, low=-1.5, high=1.5):
    numbers = [low + (high - low) * fixed_number(sequence, i) for i in range(math.prod(shape))]
    return torch.tensor(numbers, dtype=torch.float64).reshape(shape)


def channels_first(x):
    return x.permute(0, 3, 1, 2)


def channels_last(x):
    return x.permute(0, 2, 3, 1)


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return channels_last(F.conv2d(channels_first(x), channels_first(weight), bias, stride, padding, dilation, groups))


def max_pool2d(x, kernel=2, stride=2, padding=0):
    return channels_last(F.max_pool2d(channels_first(x), kernel, stride, padding))


def avg_pool2d(x, kernel=2, stride=2, padding=0):
    return channels_last(F.avg_pool2d(channels_first(x), kernel, stride, padding, count_include_pad=False))


def batch_norm(x, scale, shift, epsilon=1e-5):
    x = channels_first(x) if x.ndim == 4 else x
    y = F.batch_norm(x, None, None, scale, shift, True, 0.1, epsilon)
    return channels_last(y) if x.ndim == 4 else y


def batch_norm_fixed(x, scale, shift):
    channels = x.shape[-1]
    mean, variance = fixed_tensor(7, (channels,)), fixed_tensor(8, (channels,), 0.25, 2)
    return channels_last(F.batch_norm(channels_first(x), mean, variance, scale, shift, False, 0.1, 0.125))


def local_response_norm(x, size):
    return channels_last(F.local_response_norm(channels_first(x), size, alpha=0.5, beta=0.75, k=1.5))


def lstm(x, weight, recurrent_weight, bias, lengths=None):
    """PyTorch's order of gates is ours: its g is our c. Of its two biases one is zero."""
    h = torch.zeros(1, x.shape[0], recurrent_weight.shape[1], dtype=x.dtype)
    weights = [weight, recurrent_weight, bias, torch.zeros_like(bias)]
    options = True, 1, 0.0, False, False  # biases, layers, dropout, training, two directions
    if lengths is None:
        return torch.lstm(x, (h, h), weights, *options, True)[0]
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths), True, enforce_sorted=False)
    y = torch.lstm(packed.data, packed.batch_sizes, (h, h), weights, *options)[0]
    y = torch.nn.utils.rnn.PackedSequence(y, *packed[1:])
    return torch.nn.utils.rnn.pad_packed_sequence(y, True, total_length=x.shape[1])[0]


def lstm_case(name, x, hidden, lengths=None):
    inputs = [(x,), ((4 * hidden, x[2]),), ((4 * hidden, hidden),), ((4 * hidden,),)]
    return f'lstm/{name}', inputs, lambda *t: lstm(*t, lengths)


def cross_entropy(x):
    return F.cross_entropy(x, torch.tensor([(3 * i + 1) % x.shape[1] for i in range(x.shape[0])]))


def ctc_loss(logits, labels, input_lengths, label_lengths):
    """The mean over samples; PyTorch's own mean divides by the labels' lengths."""
    log_y = F.log_softmax(logits, 2).permute(1, 0, 2)
    labels = torch.tensor(labels).reshape(logits.shape[0], -1)
    loss = F.ctc_loss(log_y, labels, torch.tensor(input_lengths), torch.tensor(label_lengths), reduction='sum')
    return loss / logits.shape[0]


def convolutions():
    for stride, padding, kernel, channels in [(1, 0, 3, 3), (2, 1, 3, 1), (3, 2, 2, 3), (2, 0, 1, 3), (1, 2, 3, 1)]:
        yield (f'conv2d/stride {stride} padding {padding} kernel {kernel} channels {channels}',
               [((2, 5, 4, channels),), ((2, kernel, kernel, channels),), ((2,),)],
               lambda x, w, b, s=stride, p=padding: conv2d(x, w, b, s, p))


def pow_cases():
    for e in [2, 3, -1, 0]:
        yield f'pow/negative base {e}', [((3, 4), -2, -0.5)], lambda x, e=e: x**e


# Name, inputs as (shape, low, high), function.
CASES = [
    ('add/both spread', [((2, 1, 3),), ((4, 1),)], lambda a, b: a + b),
    ('subtract/row', [((3, 4),), ((4,),)], lambda a, b: a - b),
    ('multiply/middle axis', [((2, 3, 4),), ((2, 1, 4),)], lambda a, b: a * b),
    ('divide/negative', [((3, 4),), ((4,), -2, -0.5)], lambda a, b: a / b),
    ('add_number/plus', [((3, 4),)], lambda x: 0.75 + x),
    ('subtract_from_number/matrix', [((3, 4),)], lambda x: 0.75 - x),
    ('multiply_number/matrix', [((3, 4),)], lambda x: -1.25 * x),
    ('divide_by_number/matrix', [((3, 4),)], lambda x: x / 3),
    ('divide_number/negative', [((3, 4), -2, -0.5)], lambda x: 3 / x),
    ('negate/matrix', [((3, 5),)], lambda x: -x),
    ('relu/matrix', [((3, 5),)], torch.relu),
    ('exp/matrix', [((3, 5),)], torch.exp),
    ('log/matrix', [((3, 5), 0.25, 3)], torch.log),
    ('sqrt/matrix', [((3, 5), 0.25, 3)], torch.sqrt),
    ('tanh/matrix', [((3, 5),)], torch.tanh),
    ('sigmoid/matrix', [((3, 5), -3, 3)], torch.sigmoid),
    ('pow/2.5', [((3, 4), 0.5, 2)], lambda x: x**2.5),
    *pow_cases(),
    ('sum/outer two', [((2, 3, 4),)], lambda x: x.sum((0, 2))),
    ('mean/middle, kept', [((2, 3, 4),)], lambda x: x.mean(1, keepdim=True)),
    ('max/all', [((3, 4),)], torch.max),
    ('max/three of four', [((2, 3, 2, 3),)], lambda x: x.amax((0, 1, 3))),
    ('matmul/general', [((3, 4),), ((4, 5),)], torch.matmul),
    ('matmul/both transposed', [((4, 3),), ((5, 4),)], lambda a, b: a.T @ b.T),
    ('linear/bias', [((3, 4),), ((5, 4),), ((5,),)], F.linear),
    ('linear/bias, relu', [((3, 4),), ((5, 4),), ((5,),)], lambda x, w, b: torch.relu(F.linear(x, w, b))),
    ('reshape/of a transpose', [((2, 3),)], lambda x: x.T.reshape(-1)),
    ('transpose/cycle', [((2, 3, 4),)], lambda x: x.permute(2, 0, 1)),
    ('slice/columns', [((3, 5),)], lambda x: x[:, 2:5]),
    ('to_type/there and back', [((3, 4), -2, 2)], lambda x: x.float().double()),
    ('to_device/there and back', [((3, 4),)], lambda x: 2 * x),
    *convolutions(),
    ('conv2d/relu', [((2, 4, 4, 2),), ((3, 3, 3, 2),), ((3,),)], lambda x, w, b: torch.relu(conv2d(x, w, b))),
    ('conv2d/stride past the kernel', [((1, 7, 7, 1),), ((1, 2, 2, 1),), ((1,),)],
     lambda x, w, b: conv2d(x, w, b, 4)),
    ('max_pool2d/kernel 2 stride 2 padding 0', [((2, 5, 4, 3),)], max_pool2d),
    ('max_pool2d/kernel 3 stride 2 padding 1', [((2, 5, 4, 3),)], lambda x: max_pool2d(x, 3, 2, 1)),
    ('max_pool2d/relu', [((2, 4, 4, 3), -1.5, 0.75)], lambda x: torch.relu(max_pool2d(x))),
    ('conv2d/dilation 2', [((2, 6, 5, 2),), ((3, 3, 2, 2),), ((3,),)], lambda x, w, b: conv2d(x, w, b, 1, 1, 2)),
    ('conv2d/dilation 3, stride 2', [((1, 9, 8, 1),), ((2, 3, 3, 1),), ((2,),)],
     lambda x, w, b: conv2d(x, w, b, 2, 2, 3)),
    ('conv2d/2 groups', [((2, 5, 4, 4),), ((6, 3, 3, 2),), ((6,),)], lambda x, w, b: conv2d(x, w, b, 1, 1, 1, 2)),
    ('conv2d/a group per channel', [((2, 4, 5, 3),), ((3, 3, 3, 1),)],
     lambda x, w: conv2d(x, w, None, 2, 1, 1, 3)),
    ('avg_pool2d/kernel 3 stride 2 padding 1', [((2, 5, 4, 3),)], lambda x: avg_pool2d(x, 3, 2, 1)),
    ('avg_pool2d/kernel 2 stride 2 padding 0', [((2, 5, 4, 3),)], avg_pool2d),
    ('batch_norm/[4, 3]', [((4, 3),), ((3,), 0.5, 1.5), ((3,),)], batch_norm),
    ('batch_norm/[2, 3, 2, 4], relu', [((2, 3, 2, 4),), ((4,), 0.5, 1.5), ((4,),)],
     lambda x, s, b: torch.relu(batch_norm(x, s, b))),
    ('batch_norm/large epsilon', [((4, 3),), ((3,),), ((3,),)], lambda x, s, b: batch_norm(x, s, b, 0.5)),
    ('batch_norm_fixed/[2, 3, 2, 4]', [((2, 3, 2, 4),), ((4,), 0.5, 1.5), ((4,),)], batch_norm_fixed),
    ('batch_norm_fixed/[2, 3, 2, 4], relu', [((2, 3, 2, 4),), ((4,), 0.5, 1.5), ((4,),)],
     lambda x, s, b: torch.relu(batch_norm_fixed(x, s, b))),
    ('layer_norm/[2, 3, 5]', [((2, 3, 5),), ((5,),), ((5,),)], lambda x, s, b: F.layer_norm(x, (5,), s, b, 1e-3)),
    ('local_response_norm/size 5', [((2, 2, 2, 7),)], lambda x: local_response_norm(x, 5)),
    ('local_response_norm/size 2', [((2, 2, 2, 7),)], lambda x: local_response_norm(x, 2)),
    ('add_relu/pictures', [((2, 3, 2, 2),), ((2, 3, 2, 2),)], lambda a, b: torch.relu(a + b)),
    ('concat/axis 1', [((2, 3, 4),)] * 3, lambda *x: torch.cat(x, 1)),
    ('pad/rows', [((2, 3),)], lambda x: F.pad(x, (0, 0, 1, 2), value=0.5)),
    ('gather/rows, one twice', [((4, 3),)], lambda x: x[[2, 0, 2]]),
    ('gather/embedding', [((5, 2),)], lambda w: F.embedding(torch.tensor([[4, 0, 1], [1, 4, 4]]), w).reshape(12)),
    lstm_case('[2, 3, 4] to 3', (2, 3, 4), 3),
    lstm_case('wide', (2, 2, 3), 17),
    lstm_case('lengths 2, 4, 1, 4', (4, 4, 3), 2, [2, 4, 1, 4]),
    lstm_case('all shorter than the batch', (2, 4, 1), 3, [2, 2]),
    ('cross_entropy/label smoothing', [((4, 5),)],
     lambda x: F.cross_entropy(x, torch.tensor([1, 0, 4, 2]), label_smoothing=0.25)),
    ('cross_entropy/ignored rows', [((4, 5),)],
     lambda x: F.cross_entropy(x, torch.tensor([1, 0, 4, 2]), label_smoothing=0.1, ignore_index=4)),
    ('ctc_loss/different lengths', [((3, 6, 4), -3, 3)],
     lambda x: ctc_loss(x, [1, 2, 3, 2, 9, 9, 3, 1, 9], [6, 4, 5], [3, 1, 2])),
    ('ctc_loss/repeats', [((2, 7, 3), -3, 3)], lambda x: ctc_loss(x, [1, 1, 1, 2, 2, 1], [7, 6], [3, 3])),
    ('ctc_loss/just enough steps', [((2, 3, 3), -3, 3)], lambda x: ctc_loss(x, [1, 1, 1, 2], [3, 2], [2, 2])),
    ('ctc_loss/blanks alone', [((2, 4, 3), -3, 3)], lambda x: ctc_loss(x, [9, 2], [3, 4], [0, 1])),
    ('mean/squared difference', [((3, 4),)] * 2, F.mse_loss),
    ('log_softmax/[4, 5]', [((4, 5),)], lambda x: F.log_softmax(x, 1)),
    ('cross_entropy/[4, 5]', [((4, 5),)], cross_entropy),
]


def as_json(t):
    return {'shape': list(t.shape), 'numbers': t.detach().reshape(-1).tolist()}


def case(name, ranges, f):
    inputs = [fixed_tensor(i, *r).requires_grad_() for i, r in enumerate(ranges)]
    value = f(*inputs)
    value.backward(fixed_tensor(COTANGENT, value.shape, 0.5, 1.5).to(value.dtype))
    return {'name': name, 'value': as_json(value), 'gradients': [as_json(x.grad) for x in inputs]}


def lenet():
    """Two steps of plain gradient descent on one batch of 4, rate 0.1."""
    shapes = {
        'conv1.weight': (32, 5, 5, 1), 'conv1.bias': (32,),
        'conv2.weight': (64, 5, 5, 32), 'conv2.bias': (64,),
        'fc1.weight': (128, 1024), 'fc1.bias': (128,),
        'fc2.weight': (10, 128), 'fc2.bias': (10,),
    }
    weights = {}
    for sequence, (name, shape) in enumerate(shapes.items()):
        bound = math.sqrt(6 / math.prod(shape[1:])) if name.endswith('weight') else 0.1
        weights[name] = fixed_tensor(sequence, shape, -bound, bound).requires_grad_()
    x = fixed_tensor(COTANGENT, (4, 28, 28, 1), 0, 1)
    labels = torch.tensor([3, 0, 7, 9])
    steps = []
    for _ in range(2):
        h = max_pool2d(torch.relu(conv2d(x, weights['conv1.weight'], weights['conv1.bias'])))
        h = max_pool2d(torch.relu(conv2d(h, weights['conv2.weight'], weights['conv2.bias'])))
        h = torch.relu(F.linear(h.reshape(4, -1), weights['fc1.weight'], weights['fc1.bias']))
        loss = F.cross_entropy(F.linear(h, weights['fc2.weight'], weights['fc2.bias']), labels)
        gradients = torch.autograd.grad(loss, list(weights.values()))
        steps.append({
            'loss': loss.item(),
            'gradients': [{'name': name, 'shape': list(g.shape), 'norm': g.norm().item(),
                           'first': g.reshape(-1)[:32].tolist()} for name, g in zip(weights, gradients)],
        })
        weights = {name: (w - 0.1 * g).detach().requires_grad_() for (name, w), g in zip(weights.items(), gradients)}
    return steps


def write(name, key, entries):
    """One entry a line, so that a difference can be read."""
    head = {'made_with': f'torch {torch.__version__}'}
    lines = ',\n'.join(json.dumps(e) for e in entries)
    text = json.dumps(head)[:-1] + f', "{key}": [\n{lines}\n]}}\n'
    GOLDEN.mkdir(exist_ok=True)
    (GOLDEN / name).write_text(text)


def main():
    write('ops.json', 'cases', [case(*c) for c in CASES])
    write('lenet.json', 'steps', lenet())


if __name__ == '__main__':
    main()
