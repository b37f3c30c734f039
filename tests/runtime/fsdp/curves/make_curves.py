"""Makes curves.txt: the losses of fifty steps in PyTorch, in float64 and in float32, that curve_test.cpp compares with.

    python make_curves.py > curves.txt          (needs torch and numpy; one thread, so that it repeats)

A small GPT with AdamW and a small ResNet with batch norm and SGD, from weights and batches that are pure functions of
names and indices (see `uniform`), so that both sides can make them; four batches come round again and again. The batch
is cut into two halves that run one after the other, each with batch norm of its own, as on two ranks; the loss is the
sum over both divided by their count.
"""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

STEPS = 50
RANKS = 2


def uniform(name, count):
    """Element i of the sequence `name`: splitmix64 of (FNV-1a of the name + i * golden ratio), as 24 bits in [0, 1)."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)


def symmetric(name, count):
    return np.float32(2) * uniform(name, count) - np.float32(1)


def initial(name, shape):
    """Norm scales 1, other vectors 0.02, matrices 1 / sqrt(fan in), all in fp32."""
    count = math.prod(shape)
    if len(shape) == 1 and name.endswith("weight"):
        return np.ones(shape, np.float32)
    fan_in = math.prod(shape[1:]) if len(shape) > 1 else 2500
    return (symmetric(name, count) * np.float32(1 / math.sqrt(fan_in))).reshape(shape)


def set_weights(model):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(initial(name, tuple(parameter.shape))))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    LAYERS, WIDTH, HEADS, CONTEXT, VOCABULARY, BATCH = 2, 32, 2, 24, 61, 6

    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(self.VOCABULARY, self.WIDTH)
        self.pos = nn.Embedding(self.CONTEXT, self.WIDTH)
        self.blocks = nn.ModuleList(Block(self.WIDTH, self.HEADS) for _ in range(self.LAYERS))
        self.norm = nn.LayerNorm(self.WIDTH)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return (self.norm(x) @ self.tok.weight.T).flatten(0, 1)

    def batch(self, step):
        u = uniform(f"ids.{step % 4}", self.BATCH * (self.CONTEXT + 1)).reshape(self.BATCH, self.CONTEXT + 1)
        ids = torch.from_numpy((u * np.float32(self.VOCABULARY)).astype(np.int64) // 2)
        return ids[:, :-1], ids[:, 1:]

    def optimizer(self):
        groups = [
            dict(params=[p for p in self.parameters() if p.ndim > 1], weight_decay=0.1),
            dict(params=[p for p in self.parameters() if p.ndim == 1], weight_decay=0.0),
        ]
        return torch.optim.AdamW(groups, lr=2e-3, betas=(0.9, 0.95), eps=1e-8)


class ConvBlock(nn.Module):
    def __init__(self, i, o, kernel=3, padding=1, pool=1, relu=True):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(i, o, kernel, 1, padding, bias=False), nn.BatchNorm2d(o)
        self.pool, self.relu = pool, relu

    def forward(self, x):
        y = self.bn(self.conv(x))
        y = F.relu(y) if self.relu else y
        return F.max_pool2d(y, self.pool) if self.pool > 1 else y


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(x + self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


class ResNet9(nn.Module):
    WIDTH, CHANNELS, SIDE, CLASSES, BATCH = 4, 3, 16, 10, 16

    def __init__(self):
        super().__init__()
        w = self.WIDTH
        self.stem = ConvBlock(self.CHANNELS, w)
        self.layer1, self.residual1 = ConvBlock(w, 2 * w, pool=2), Residual(2 * w)
        self.layer2 = ConvBlock(2 * w, 4 * w, pool=2)
        self.layer3, self.residual3 = ConvBlock(4 * w, 8 * w, pool=2), Residual(8 * w)
        self.head = nn.Linear(8 * w, self.CLASSES)

    def forward(self, x):
        x = self.residual1(self.layer1(self.stem(x)))
        x = self.residual3(self.layer3(self.layer2(x)))
        return self.head(x.mean((2, 3)))

    def batch(self, step):
        shape = (self.BATCH, self.SIDE, self.SIDE, self.CHANNELS)
        images = torch.from_numpy(symmetric(f"images.{step % 4}", math.prod(shape)).reshape(shape)).permute(0, 3, 1, 2)
        classes = (uniform(f"classes.{step % 4}", self.BATCH) * np.float32(self.CLASSES)).astype(np.int64)
        return images, torch.from_numpy(classes)

    def optimizer(self):
        groups = [
            dict(params=[p for p in self.parameters() if p.ndim > 1], weight_decay=5e-4),
            dict(params=[p for p in self.parameters() if p.ndim == 1], weight_decay=0.0),
        ]
        return torch.optim.SGD(groups, lr=0.002, momentum=0.9, nesterov=True)


def curve(make, dtype):
    model = make()
    set_weights(model)
    model = model.to(dtype)
    optimizer = model.optimizer()
    losses = []
    for step in range(STEPS):
        inputs, targets = model.batch(step)
        inputs = inputs.to(dtype) if inputs.is_floating_point() else inputs
        optimizer.zero_grad()
        total = 0.0
        for x, y in zip(inputs.chunk(RANKS), targets.chunk(RANKS)):
            loss = F.cross_entropy(model(x), y.flatten(), reduction="sum")
            (loss / targets.numel()).backward()
            total += loss.item()
        optimizer.step()
        losses.append(total / targets.numel())
    return losses


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    columns = [curve(make, dtype) for make in (Gpt, ResNet9) for dtype in (torch.float64, torch.float32)]
    print(f"# made by make_curves.py with PyTorch {torch.__version__.split('+')[0]}")
    print("# gpt_float64 gpt_float32 resnet_float64 resnet_float32: mean loss of each step")
    for row in zip(*columns):
        print(" ".join(f"{loss:.15f}" for loss in row))
