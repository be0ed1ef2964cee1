#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of TileGym, NVIDIA's library of cuTile kernels, with its own launches, through the executor; compared with PyTorch.

  samples_test.py TILEIR_RUN [NAME]

Needs the wheels tilegym, torch and cuda-tile. Nothing of them is stored here.
"""
import math
import os
import sys
import warnings

os.environ["TILEGYM_DISABLE_AUTOTUNE"] = "1"
warnings.filterwarnings("ignore")
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import harness  # noqa: E402
import torch_launch  # noqa: E402

SAMPLES = []


def sample(name, bound, off=()):
    def keep(function):
        SAMPLES.append((name, bound, off, function))
        return function
    return keep


def normal(*shape, dtype=torch.float32, scale=1.0):
    return (torch.randn(*shape) * scale).to(dtype)


@sample("softmax", 1e-6)
def _(ops):
    x = normal(9, 100)
    return ops.softmax(x), torch.softmax(x, -1)


@sample("softmax, by tiles", 1e-6)
def _(ops):
    x = normal(9, 100)
    return ops.softmax(x, use_tma=True), torch.softmax(x, -1)


@sample("layer norm", 1e-2)
def _(ops):
    x, w, b = normal(6, 96, dtype=torch.bfloat16), normal(96, dtype=torch.bfloat16), normal(96, dtype=torch.bfloat16)
    return ops.persistent_layer_norm(x, (96,), w, b, 1e-5)[0], F.layer_norm(x.float(), (96,), w.float(), b.float(), 1e-5)


@sample("rms norm", 3e-3)
def _(ops):
    x, w = normal(6, 96, dtype=torch.float16), normal(96, dtype=torch.float16)
    return ops.rms_norm(x, (96,), w, 1e-5), F.rms_norm(x.float(), (96,), w.float(), 1e-5)


@sample("silu and mul", 1e-6)
def _(ops):
    x = normal(5, 128)
    return ops.silu_and_mul(x), F.silu(x[:, :64]) * x[:, 64:]


@sample("swiglu", 1e-6)
def _(ops):
    a, b = normal(5, 64), normal(5, 64)
    return ops.get_swiglu()(a, b), F.silu(a) * b


@sample("rope", 1e-5)
def _(ops):
    q, k = normal(1, 4, 8, 32), normal(1, 2, 8, 32)
    angle = torch.arange(8)[:, None] * (0.5 ** torch.arange(16))[None, :]
    angle = torch.cat([angle, angle], -1)[None]
    cos, sin = angle.cos(), angle.sin()

    def turned(t):
        return t * cos[:, None] + torch.cat([-t[..., 16:], t[..., :16]], -1) * sin[:, None]
    want = torch.cat([turned(q).reshape(-1), turned(k).reshape(-1)])
    got = ops.apply_rope_base(q.clone(), k.clone(), cos, sin)
    return torch.cat([g.reshape(-1) for g in got]), want


@sample("matmul", 3e-3)
def _(ops):
    a, b = normal(70, 96, dtype=torch.float16), normal(96, 50, dtype=torch.float16)
    return ops.matmul(a, b), a.float() @ b.float()


@sample("matmul, not persistent", 3e-3)
def _(ops):
    a, b = normal(70, 96, dtype=torch.float16), normal(96, 50, dtype=torch.float16)
    return ops.matmul(a, b, static_persistent=False), a.float() @ b.float()


@sample("bmm", 3e-3)
def _(ops):
    a, b = normal(2, 40, 64, dtype=torch.float16), normal(2, 64, 48, dtype=torch.float16)
    return ops.bmm(a, b), a.float() @ b.float()


@sample("grouped products", 3e-3)
def _(ops):
    a = [normal(64, 64, dtype=torch.float16) for _ in range(2)]
    b = [normal(64, 64, dtype=torch.float16) for _ in range(2)]
    got = ops.group_gemm(a, b)
    return torch.stack(list(got)), torch.stack([x.float() @ y.float() for x, y in zip(a, b)])


@sample("transpose", 0)
def _(ops):
    x = normal(40, 70)
    return ops.transpose(x), x.T


def attention(q, k, v, causal):
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    s = q.float() @ k.float().transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(s.shape[-1] - s.shape[-2] + 1), -math.inf)
    return s.softmax(-1) @ v.float()


@sample("attention", 3e-3)
def _(ops):
    q, k, v = (normal(1, heads, n, 64, dtype=torch.float16) for heads, n in ((4, 64), (2, 128), (2, 128)))
    return ops.fmha(q, k, v, is_causal=False), attention(q, k, v, False)


@sample("attention, causal", 3e-3)
def _(ops):
    q, k, v = (normal(1, 2, 128, 64, dtype=torch.float16) for _ in range(3))
    return ops.fmha(q, k, v, is_causal=True), attention(q, k, v, True)


@sample("attention of one query", 3e-3)
def _(ops):
    q, k, v = (normal(1, heads, n, 64, dtype=torch.float16) for heads, n in ((4, 1), (2, 256), (2, 256)))
    return ops.fmha_decode(q, k, v, 1 / 8.0), attention(q, k, v, False)


@sample("latent attention of one query", 3e-3)
def _(ops):
    q, qpe, kv, kpe = (normal(*s, dtype=torch.float16) for s in ((1, 16, 128), (1, 16, 64), (1, 128, 128), (1, 128, 64)))
    s = (q.float() @ kv.float().transpose(-1, -2) + qpe.float() @ kpe.float().transpose(-1, -2)) / math.sqrt(192)
    got = ops.mla_decoding(q, qpe, kv, kpe, 1 / math.sqrt(192))
    return got[0] if isinstance(got, tuple) else got, s.softmax(-1) @ kv.float()


@sample("two layers with a gate", 2e-2)
def _(ops):
    x, a, b, w = (normal(*s, dtype=torch.float16, scale=0.2) for s in ((32, 64), (64, 64), (64, 64), (64, 64)))
    hidden = F.silu(x.float() @ a.float().T) * (x.float() @ b.float().T)
    return ops.linear_gluact_linear(x, a, b, w), hidden @ w.float().T


@sample("recurrent gated delta rule", 2e-3)
def _(ops):
    q, k, v = (normal(1, 6, 2, 32, scale=0.3) for _ in range(3))
    g, beta = -torch.rand(1, 6, 2), torch.rand(1, 6, 2)
    got = ops.recurrent_gated_delta_rule(q, k, v, g, beta)
    state, out = torch.zeros(1, 2, 32, 32), []
    for t in range(6):
        state = state * g[:, t].exp()[..., None, None]
        delta = (v[:, t] - torch.einsum("bhkv,bhk->bhv", state, k[:, t])) * beta[:, t][..., None]
        state = state + k[:, t][..., None] * delta[..., None, :]
        out.append(torch.einsum("bhkv,bhk->bhv", state, q[:, t]) / math.sqrt(32))
    return got[0] if isinstance(got, tuple) else got, torch.stack(out, 1)


# It loads the tail without padding, adds -infinity to what it computed of it, and multiplies by the zeros that come of that: the
# view has no value to promise there, so the check of undefined elements reports it.
@sample("attention, a length that no tile divides", 3e-3, off=["undefined"])
def _(ops):
    q, k, v = (normal(1, 2, 100, 64, dtype=torch.float16) for _ in range(3))
    return ops.fmha(q, k, v, is_causal=True), attention(q, k, v, True)


@sample("attention in a window", 3e-3)
def _(ops):
    q, k, v = (normal(1, 2, 128, 64, dtype=torch.float16) for _ in range(3))
    s = q.float() @ k.float().transpose(-1, -2) / 8
    apart = torch.arange(128)[:, None] - torch.arange(128)[None, :]
    s = s.masked_fill((apart < 0) | (apart >= 32), -math.inf)
    return ops.swa_attention(q, k, v, 32), s.softmax(-1) @ v.float()


@sample("product of e4m3 with scales of blocks", 2e-2)
def _(ops):
    a, b = normal(32, 256).to(torch.float8_e4m3fn), normal(128, 256).to(torch.float8_e4m3fn)
    p, q = torch.rand(32, 2) + 0.5, torch.rand(1, 2) + 0.5
    got = ops.w8a8_block_fp8_matmul(a, b, p, q, block_size=[128, 128], output_dtype=torch.float16)
    return got, (a.float() * p.repeat_interleave(128, 1)) @ (b.float() * q.repeat_interleave(128, 0).repeat_interleave(128, 1)).T


@sample("a layer and its cross entropy", 1e-2)
def _(ops):
    x, w = (normal(n, 64, dtype=torch.float16, scale=0.3) for n in (16, 128))
    target = torch.arange(16) * 7
    return ops.fused_linear_cross_entropy(x, w, target).reshape(1), F.cross_entropy(x.float() @ w.float().T, target).reshape(1)


def main():
    runner = harness.Runner(sys.argv[1])
    launched = torch_launch.install(runner)
    import tilegym
    tilegym.set_backend("cutile")
    failures = 0
    for name, bound, off, function in SAMPLES:
        if len(sys.argv) > 2 and sys.argv[2] not in name:
            continue
        torch.manual_seed(1)
        launched.clear()
        runner.options = [word for check in off for word in ("--off", check)]
        try:
            got, want = function(tilegym.ops)
            error = ((got.double() - want.double()).abs() / want.double().abs().clamp(min=1)).max().item()
            if not launched:
                raise AssertionError("nothing was launched")
            if not error <= bound:
                raise AssertionError(f"error {error:.3g}, at most {bound} was expected")
            print(f"{name}: largest error {error:.3g}, {', '.join(sorted(set(launched)))}", flush=True)
        except Exception as e:  # noqa: BLE001  a sample says what went wrong; others still run
            failures += 1
            print(f"FAILED {name}: {type(e).__name__}: {str(e)[:600]}", flush=True)
    print(f"{len(SAMPLES)} samples, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
