"""Real training steps on one GPU: train.py SECONDS SET...   Rows to $OUT/train.jsonl, traces to $OUT/traces_SET.tar.

A step is: gradients to none, forward with loss, backward, gradient norm clipped to 1, fused AdamW; `ga` micro batches a step.
Times are differences of CUDA events at step boundaries, without a synchronization between steps."""
import contextlib, os, statistics, sys, tarfile, time, traceback
import torch
import torch.nn as nn
import torch.nn.functional as F
from common import OUT, Rows, clean, elapsed, machine, sensors

SHAPES = {
    "llama3.2-1b": dict(kind="llama", hidden=2048, ffn=8192, layers=16, heads=32, kv=8, head_dim=64, vocab=128256, tied=True),
    "llama3.2-3b": dict(kind="llama", hidden=3072, ffn=8192, layers=28, heads=24, kv=8, head_dim=128, vocab=128256, tied=True),
    "llama3.1-8b": dict(kind="llama", hidden=4096, ffn=14336, layers=32, heads=32, kv=8, head_dim=128, vocab=128256, tied=False),
    "llama3-8b-8l": dict(kind="llama", hidden=4096, ffn=14336, layers=8, heads=32, kv=8, head_dim=128, vocab=128256, tied=False),
    "llama3-8b-4l": dict(kind="llama", hidden=4096, ffn=14336, layers=4, heads=32, kv=8, head_dim=128, vocab=128256, tied=False),
    "llama2-7b-8l": dict(kind="llama", hidden=4096, ffn=11008, layers=8, heads=32, kv=32, head_dim=128, vocab=32000, tied=False),
    "qwen3-0.6b": dict(kind="qwen3", hidden=1024, ffn=3072, layers=28, heads=16, kv=8, head_dim=128, vocab=151936, tied=True),
    "qwen3-1.7b": dict(kind="qwen3", hidden=2048, ffn=6144, layers=28, heads=16, kv=8, head_dim=128, vocab=151936, tied=True),
    "gpt2": dict(kind="gpt2", hidden=768, ffn=3072, layers=12, heads=12, kv=12, head_dim=64, vocab=50257, tied=True),
    "gpt2-padded": dict(kind="gpt2", hidden=768, ffn=3072, layers=12, heads=12, kv=12, head_dim=64, vocab=50304, tied=True),
    "gpt2-medium": dict(kind="gpt2", hidden=1024, ffn=4096, layers=24, heads=16, kv=16, head_dim=64, vocab=50257, tied=True),
    "gpt2-xl": dict(kind="gpt2", hidden=1600, ffn=6400, layers=48, heads=25, kv=25, head_dim=64, vocab=50257, tied=True),
    "olmoe-6l": dict(kind="olmoe", hidden=2048, ffn=1024, layers=6, heads=16, kv=16, head_dim=128, vocab=50304, tied=False,
                     experts=64, top_k=8),
    "qwen3-moe-4l": dict(kind="qwen3_moe", hidden=2048, ffn=6144, moe_ffn=768, layers=4, heads=32, kv=4, head_dim=128,
                         vocab=151936, tied=False, experts=128, top_k=8),
    "mixtral-2l": dict(kind="mixtral", hidden=4096, ffn=14336, layers=2, heads=32, kv=8, head_dim=128, vocab=32000, tied=False,
                       experts=8, top_k=2),
}


def case(id, model, stack, mb, seq, ga=1, gc=False, opt="adamw-fused", weights="fp32", lora=None, trace=False, snapshot=False,
         layers=None, experts_impl=None, attn="sdpa", clip=True):
    return dict(locals())


def hf(id, model, mb, seq, **k):
    return case("hf-" + id, model, "hf", mb, seq, **k)


def own(id, model, stack, mb, seq, **k):
    return case(id, model, stack, mb, seq, **k)


SETS = {}
SETS["smoke"] = [
    hf("smoke-llama", "llama3.2-1b", 1, 512, layers=2, trace=True, snapshot=True),
    hf("smoke-qwen3", "qwen3-0.6b", 1, 512, layers=2, gc=True),
    hf("smoke-gpt2", "gpt2", 1, 512, layers=2),
    hf("smoke-lora", "llama3.2-1b", 1, 512, layers=2, lora="all-linear", weights="bf16", gc=True),
    hf("smoke-olmoe", "olmoe-6l", 1, 512, layers=1),
    hf("smoke-olmoe-eager", "olmoe-6l", 1, 512, layers=1, experts_impl="eager"),
    own("smoke-titan", "llama3.2-1b", "titan-eager", 1, 512, layers=2),
    own("smoke-fsdp2", "llama3.2-1b", "titan-fsdp2-eager", 1, 512, layers=2),
    own("smoke-compile", "llama3.2-1b", "titan-compile", 1, 512, layers=2),
]
SETS["hf"] = [
    hf("llama1b-b4-s2048", "llama3.2-1b", 4, 2048, trace=True),
    hf("llama1b-b1-s2048", "llama3.2-1b", 1, 2048),
    hf("llama1b-b8-s2048-gc", "llama3.2-1b", 8, 2048, gc=True),
    hf("llama1b-b1-s8192", "llama3.2-1b", 1, 8192),
    hf("llama1b-b1-s16384-gc", "llama3.2-1b", 1, 16384, gc=True),
    hf("llama1b-b8-s512", "llama3.2-1b", 8, 512),
    hf("llama1b-b2-s2048-ga4", "llama3.2-1b", 2, 2048, ga=4),
    hf("llama1b-b4-s2048-bf16", "llama3.2-1b", 4, 2048, weights="bf16"),
    hf("llama3b-b1-s2048", "llama3.2-3b", 1, 2048),
    hf("llama3b-b2-s4096-gc", "llama3.2-3b", 2, 4096, gc=True),
    hf("llama3b-b4-s1024", "llama3.2-3b", 4, 1024),
    hf("qwen0.6b-b4-s2048", "qwen3-0.6b", 4, 2048),
    hf("qwen0.6b-b1-s1024", "qwen3-0.6b", 1, 1024),
    hf("qwen0.6b-b8-s1024-gc", "qwen3-0.6b", 8, 1024, gc=True),
    hf("qwen1.7b-b2-s4096", "qwen3-1.7b", 2, 4096),
    hf("qwen1.7b-b4-s4096-gc", "qwen3-1.7b", 4, 4096, gc=True),
    hf("gpt2-b16-s1024", "gpt2", 16, 1024),
    hf("gpt2-b4-s1024", "gpt2", 4, 1024),
    hf("gpt2m-b8-s1024", "gpt2-medium", 8, 1024),
    hf("gpt2xl-b4-s1024", "gpt2-xl", 4, 1024),
    hf("llama8b8l-b1-s4096", "llama3-8b-8l", 1, 4096),
    hf("lora8b-b1-s2048-gc", "llama3.1-8b", 1, 2048, lora="all-linear", weights="bf16", gc=True, trace=True),
    hf("lora8b-b4-s2048-gc", "llama3.1-8b", 4, 2048, lora="all-linear", weights="bf16", gc=True),
    hf("lora8b-b2-s1024", "llama3.1-8b", 2, 1024, lora="all-linear", weights="bf16"),
    hf("lora8b-b1-s8192-gc", "llama3.1-8b", 1, 8192, lora="all-linear", weights="bf16", gc=True),
    hf("lora8b-qv-b2-s2048-gc", "llama3.1-8b", 2, 2048, lora=["q_proj", "v_proj"], weights="bf16", gc=True),
    hf("lora1b-b8-s1024", "llama3.2-1b", 8, 1024, lora="all-linear", weights="bf16"),
    hf("olmoe6l-b2-s4096", "olmoe-6l", 2, 4096, trace=True),
    hf("olmoe6l-b1-s2048", "olmoe-6l", 1, 2048),
    hf("olmoe6l-b2-s4096-loop", "olmoe-6l", 2, 4096, experts_impl="eager"),
    hf("qwen3moe4l-b2-s4096", "qwen3-moe-4l", 2, 4096),
    hf("qwen3moe4l-b1-s2048", "qwen3-moe-4l", 1, 2048),
    hf("qwen3moe4l-b2-s4096-loop", "qwen3-moe-4l", 2, 4096, experts_impl="eager"),
    hf("mixtral2l-b1-s4096", "mixtral-2l", 1, 4096),
    hf("mixtral2l-b1-s4096-loop", "mixtral-2l", 1, 4096, experts_impl="eager"),
    hf("full8b-b1-s2048-bf16-gc", "llama3.1-8b", 1, 2048, weights="bf16", gc=True),
    hf("llama1b-b4-s2048-eagerattn", "llama3.2-1b", 4, 2048, attn="eager"),
    hf("tiny-llama", "llama3.2-1b", 1, 1024, layers=3, trace=True, snapshot=True),
    hf("tiny-olmoe", "olmoe-6l", 1, 1024, layers=2, trace=True),
    hf("tiny-olmoe-loop", "olmoe-6l", 1, 1024, layers=1, trace=True, experts_impl="eager"),
    hf("tiny-lora", "llama3.1-8b", 1, 1024, layers=2, lora="all-linear", weights="bf16", gc=True, trace=True, snapshot=True),
    hf("tiny-gpt2", "gpt2", 2, 1024, layers=3, trace=True),
]
SETS["titan"] = [
    own("titan-compile-8b8l-b1-s8192", "llama3-8b-8l", "titan-compile", 1, 8192, trace=True),
    own("titan-eager-8b8l-b1-s8192", "llama3-8b-8l", "titan-eager", 1, 8192),
    own("titan-fsdp2-compile-8b8l-b1-s8192", "llama3-8b-8l", "titan-fsdp2-compile", 1, 8192, trace=True),
    own("titan-fsdp2-eager-8b8l-b1-s8192", "llama3-8b-8l", "titan-fsdp2-eager", 1, 8192),
    own("titan-compile-1b-b4-s2048", "llama3.2-1b", "titan-compile", 4, 2048),
    own("titan-eager-1b-b4-s2048", "llama3.2-1b", "titan-eager", 4, 2048),
    own("titan-compile-1b-b1-s2048", "llama3.2-1b", "titan-compile", 1, 2048),
    own("titan-fsdp2-compile-3b-b2-s4096", "llama3.2-3b", "titan-fsdp2-compile", 2, 4096),
    own("titan-fsdp2-eager-3b-b2-s4096", "llama3.2-3b", "titan-fsdp2-eager", 2, 4096),
    own("titan-compile-3b-b1-s4096", "llama3.2-3b", "titan-compile", 1, 4096),
    own("titan-compile-8b8l-b2-s4096-gc", "llama3-8b-8l", "titan-compile", 2, 4096, gc=True),
    own("titan-eager-8b8l-b2-s4096-gc", "llama3-8b-8l", "titan-eager", 2, 4096, gc=True),
    own("titan-compile-7b8l-b2-s4096", "llama2-7b-8l", "titan-compile", 2, 4096),
    own("titan-eager-7b8l-b2-s4096", "llama2-7b-8l", "titan-eager", 2, 4096),
    own("titan-compile-1b-b1-s16384", "llama3.2-1b", "titan-compile", 1, 16384),
    own("titan-fsdp2-compile-1b-b2-s2048-ga4", "llama3.2-1b", "titan-fsdp2-compile", 2, 2048, ga=4),
    own("titan-compile-tiny", "llama3.2-1b", "titan-compile", 1, 1024, layers=3, trace=True),
    own("titan-fsdp2-tiny", "llama3.2-1b", "titan-fsdp2-eager", 1, 1024, layers=3, trace=True, snapshot=True),
]

by_id = {c["id"]: c for cs in SETS.values() for c in cs}
SETS["rest"] = [
    hf("olmoe6l-b2-s4096-bf16", "olmoe-6l", 2, 4096, weights="bf16"),
    hf("olmoe6l-b1-s2048-bf16", "olmoe-6l", 1, 2048, weights="bf16"),
    hf("olmoe6l-b4-s4096-bf16-gc", "olmoe-6l", 4, 4096, weights="bf16", gc=True),
    hf("olmoe6l-b2-s4096-bf16-loop", "olmoe-6l", 2, 4096, weights="bf16", experts_impl="eager"),
    hf("qwen3moe4l-b2-s4096-bf16", "qwen3-moe-4l", 2, 4096, weights="bf16"),
    hf("qwen3moe4l-b1-s2048-bf16", "qwen3-moe-4l", 1, 2048, weights="bf16"),
    hf("qwen3moe4l-b2-s4096-bf16-loop", "qwen3-moe-4l", 2, 4096, weights="bf16", experts_impl="eager"),
    hf("mixtral2l-b1-s4096-bf16", "mixtral-2l", 1, 4096, weights="bf16"),
    hf("mixtral2l-b2-s4096-bf16", "mixtral-2l", 2, 4096, weights="bf16"),
    hf("mixtral2l-b1-s4096-bf16-loop", "mixtral-2l", 1, 4096, weights="bf16", experts_impl="eager"),
    hf("qwen0.6b-b4-s2048-bf16", "qwen3-0.6b", 4, 2048, weights="bf16"),
    hf("gpt2-padded-b16-s1024", "gpt2-padded", 16, 1024),
    hf("llama3b-b2-s4096-bf16", "llama3.2-3b", 2, 4096, weights="bf16"),
    by_id["hf-llama1b-b4-s2048-eagerattn"], by_id["hf-tiny-llama"], by_id["hf-tiny-olmoe"], by_id["hf-tiny-olmoe-loop"],
    by_id["hf-tiny-lora"], by_id["hf-tiny-gpt2"],
    hf("tiny-olmoe-bf16", "olmoe-6l", 1, 1024, layers=2, weights="bf16", trace=True),
    hf("llama1b-b4-s2048-noclip", "llama3.2-1b", 4, 2048, clip=False),
]
SETS["h200"] = [by_id[i] for i in (
    "hf-llama1b-b4-s2048", "hf-llama1b-b8-s2048-gc", "hf-llama1b-b1-s2048", "hf-qwen1.7b-b2-s4096", "hf-llama3b-b4-s1024", "hf-gpt2-b16-s1024",
    "hf-lora8b-b4-s2048-gc", "hf-lora8b-b2-s1024", "hf-full8b-b1-s2048-bf16-gc", "hf-qwen0.6b-b1-s1024")] + [
    hf("olmoe6l-b2-s4096-bf16", "olmoe-6l", 2, 4096, weights="bf16"),
    hf("qwen3moe4l-b2-s4096-bf16", "qwen3-moe-4l", 2, 4096, weights="bf16"),
    hf("full8b-b2-s4096-bf16", "llama3.1-8b", 2, 4096, weights="bf16"),
    hf("full3b-b4-s4096", "llama3.2-3b", 4, 4096, gc=True),
] + [by_id[i] for i in (
    "titan-compile-8b8l-b1-s8192", "titan-eager-8b8l-b1-s8192", "titan-compile-1b-b4-s2048", "titan-eager-1b-b4-s2048",
    "titan-fsdp2-compile-8b8l-b1-s8192", "titan-fsdp2-eager-3b-b2-s4096")]


# --- models ------------------------------------------------------------------------------------------------------------


def hugging_face(c, s, layers):
    import transformers as t
    common = dict(vocab_size=s["vocab"], hidden_size=s["hidden"], intermediate_size=s["ffn"], num_hidden_layers=layers,
                  num_attention_heads=s["heads"], num_key_value_heads=s["kv"], tie_word_embeddings=s["tied"],
                  max_position_embeddings=32768, use_cache=False)
    kind = s["kind"]
    if kind == "llama":
        cfg = t.LlamaConfig(head_dim=s["head_dim"], **common)
    elif kind == "qwen3":
        cfg = t.Qwen3Config(head_dim=s["head_dim"], **common)
    elif kind == "olmoe":
        cfg = t.OlmoeConfig(num_experts=s["experts"], num_experts_per_tok=s["top_k"], **common)
    elif kind == "qwen3_moe":
        cfg = t.Qwen3MoeConfig(head_dim=s["head_dim"], num_experts=s["experts"], num_experts_per_tok=s["top_k"],
                               moe_intermediate_size=s["moe_ffn"], **common)
    elif kind == "mixtral":
        cfg = t.MixtralConfig(num_local_experts=s["experts"], num_experts_per_tok=s["top_k"], **common)
    else:
        cfg = t.GPT2Config(n_embd=s["hidden"], n_layer=layers, n_head=s["heads"], vocab_size=s["vocab"], n_positions=1024,
                           use_cache=False)
    kw = dict(attn_implementation=c["attn"])
    if c["experts_impl"]:
        kw["experts_implementation"] = c["experts_impl"]
    dtype = torch.bfloat16 if c["weights"] == "bf16" else torch.float32
    def create(**kw):
        try:
            with torch.device("cuda"):
                return t.AutoModelForCausalLM.from_config(cfg, dtype=dtype, **kw)
        except NotImplementedError:
            return t.AutoModelForCausalLM.from_config(cfg, dtype=dtype, **kw)
    try:
        model = create(**kw)
    except TypeError:
        kw.pop("experts_implementation", None)
        model = create(**kw)
        model.set_experts_implementation(c["experts_impl"])
    model = model.cuda()
    model.train()
    if c["gc"]:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if c["lora"]:
        import peft
        if c["gc"]:
            model.enable_input_require_grads()
        model = peft.get_peft_model(model, peft.LoraConfig(r=16, lora_alpha=32, lora_dropout=0.0, target_modules=c["lora"],
                                                           task_type="CAUSAL_LM"))
        model.train()
    experts = getattr(cfg, "_experts_implementation", None)
    return model, (lambda ids: model(input_ids=ids, labels=ids).loss), dict(experts_implementation=str(experts))


class Attention(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.h, self.kv, self.d = s["heads"], s["kv"], s["head_dim"]
        self.wq = nn.Linear(s["hidden"], self.h * self.d, bias=False)
        self.wk = nn.Linear(s["hidden"], self.kv * self.d, bias=False)
        self.wv = nn.Linear(s["hidden"], self.kv * self.d, bias=False)
        self.wo = nn.Linear(self.h * self.d, s["hidden"], bias=False)

    def forward(self, x, cos, sin):
        b, n, _ = x.shape
        q = self.wq(x).view(b, n, self.h, self.d)
        k = self.wk(x).view(b, n, self.kv, self.d)
        v = self.wv(x).view(b, n, self.kv, self.d)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.h != self.kv)
        return self.wo(y.transpose(1, 2).reshape(b, n, -1))


def rotate(x, cos, sin):
    y = x.float()
    a, b = y.chunk(2, dim=-1)
    return (y * cos + torch.cat((-b, a), dim=-1) * sin).type_as(x)


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(s["hidden"], eps=1e-5), nn.RMSNorm(s["hidden"], eps=1e-5)
        self.attention = Attention(s)
        self.w1 = nn.Linear(s["hidden"], s["ffn"], bias=False)
        self.w3 = nn.Linear(s["hidden"], s["ffn"], bias=False)
        self.w2 = nn.Linear(s["ffn"], s["hidden"], bias=False)

    def forward(self, x, cos, sin):
        h = x + self.attention(self.attention_norm(x), cos, sin)
        y = self.ffn_norm(h)
        return h + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self, s, layers, gc):
        super().__init__()
        self.gc = gc
        self.d = s["head_dim"]
        self.tok_embeddings = nn.Embedding(s["vocab"], s["hidden"])
        self.layers = nn.ModuleList(Block(s) for _ in range(layers))
        self.norm = nn.RMSNorm(s["hidden"], eps=1e-5)
        self.output = nn.Linear(s["hidden"], s["vocab"], bias=False)

    def forward(self, ids):
        n = ids.shape[1]
        f = torch.outer(torch.arange(n, device="cuda").float(), 5e5 ** (-torch.arange(0, self.d, 2, device="cuda").float() / self.d))
        f = torch.cat((f, f), -1)[None, :, None, :]
        cos, sin = f.cos(), f.sin()
        x = self.tok_embeddings(ids)
        for layer in self.layers:
            if self.gc:
                x = torch.utils.checkpoint.checkpoint(layer, x, cos, sin, use_reentrant=False)
            else:
                x = layer(x, cos, sin)
        return self.output(self.norm(x))


def cross_entropy(logits, ids):
    return F.cross_entropy(logits.flatten(0, 1).float(), ids.flatten())


def titan(c, s, layers):
    import torch.utils.checkpoint
    with torch.device("cuda"):
        model = Llama(s, layers, c["gc"])
    loss = cross_entropy
    if "compile" in c["stack"]:
        import torch._dynamo
        torch._dynamo.reset()
        for layer in model.layers:
            layer.compile(fullgraph=True, dynamic=False)
        loss = torch.compile(cross_entropy, dynamic=False)
    if "fsdp2" in c["stack"]:
        import torch.distributed as dist
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
        if not dist.is_initialized():
            dist.init_process_group("nccl", rank=0, world_size=1, init_method="tcp://127.0.0.1:29511")
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for layer in model.layers:
            fully_shard(layer, mp_policy=policy)
        fully_shard(model, mp_policy=policy)
    return model, (lambda ids: loss(model(ids), ids)), {}


# --- measurement -------------------------------------------------------------------------------------------------------


def kernels_of(prof):
    """Device time by kernel name: (microseconds, count), and the busy and spanned time of the device."""
    names, spans = {}, []
    for e in prof.profiler.kineto_results.events():
        if str(e.device_type()).endswith("CUDA"):
            n = e.name()
            if n.startswith("ProfilerStep") or "Optimizer." in n:
                continue
            a = names.setdefault(n[:160], [0.0, 0])
            a[0] += e.duration_ns() / 1e3
            a[1] += 1
            spans.append((e.start_ns(), e.start_ns() + e.duration_ns()))
    spans.sort()
    busy, end = 0, 0
    for a, b in spans:
        if b > end:
            busy += b - max(a, end)
            end = b
    top = sorted(([k, round(v[0], 1), v[1]] for k, v in names.items()), key=lambda r: -r[1])
    return dict(kernels=len(spans), busy_ms=busy / 1e6, span_ms=(max(b for _, b in spans) - spans[0][0]) / 1e6 if spans else 0,
                top=top[:45])


def measure(c, tar):
    s = SHAPES[c["model"]]
    layers = c["layers"] or s["layers"]
    t0 = time.monotonic()
    build = hugging_face if c["stack"] == "hf" else titan
    model, loss_of, notes = build(c, s, layers)
    trained = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(trained, lr=1e-5, fused=True)
    # FSDP2 casts by itself; everything else runs under autocast, as the frameworks do.
    amp = (lambda: contextlib.nullcontext()) if "fsdp2" in c["stack"] or (c["weights"] == "bf16" and not c["lora"]) \
        else (lambda: torch.autocast("cuda", dtype=torch.bfloat16))
    batch = [torch.randint(0, s["vocab"], (c["mb"], c["seq"]), device="cuda") for _ in range(4)]

    def step(i, marks=None):
        mark = (lambda: None) if marks is None else (lambda: marks.append(event()))
        opt.zero_grad(set_to_none=True)
        mark()
        for j in range(c["ga"]):
            with amp():
                loss = loss_of(batch[(i + j) % 4]) / c["ga"]
            if j == 0:
                mark()
            loss.backward()
        mark()
        if c["clip"]:
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
        mark()
        opt.step()
        mark()
        return loss

    def event():
        e = torch.cuda.Event(enable_timing=True)
        e.record()
        return e

    step(0)
    torch.cuda.synchronize()
    built = time.monotonic() - t0
    t1 = time.monotonic()
    step(1)
    torch.cuda.synchronize()
    one = time.monotonic() - t1
    step(2)
    torch.cuda.synchronize()
    peak_first = torch.cuda.max_memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    count = 16 if one < 0.3 else 10
    marks, host = [event()], []
    for i in range(count):
        h = time.perf_counter()
        loss = step(i)
        host.append(time.perf_counter() - h)
        marks.append(event())
        if i == count // 2:
            now = sensors()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) / 1e3 for a, b in zip(marks, marks[1:])][1:]
    peak, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    # Steps that end in a synchronization, as loops do that read the loss each step.
    synced, parts = [], []
    for i in range(5):
        t1 = time.perf_counter()
        m = []
        step(i, m)
        torch.cuda.synchronize()
        synced.append(time.perf_counter() - t1)
        parts.append([a.elapsed_time(b) for a, b in zip(m, m[1:])])
    row = dict(notes, parameters=sum(p.numel() for p in model.parameters()), trained=sum(p.numel() for p in trained),
               step_s=statistics.median(times), step_min=min(times), step_max=max(times),
               step_sd=statistics.pstdev(times), steps=len(times), synced_s=statistics.median(synced),
               host_issue_s=statistics.median(host), tokens_per_s=c["ga"] * c["mb"] * c["seq"] / statistics.median(times),
               allocated=max(peak, peak_first), allocated_steady=peak, reserved=reserved, loss=float(loss), build_s=built,
               parts_ms=dict(zip(("forward_first", "backward_and_rest", "clip", "optimizer"),
                                 [statistics.median(p) for p in zip(*parts)])), **now)
    from torch.profiler import ProfilerActivity, profile, schedule
    try:
        with profile(activities=[ProfilerActivity.CUDA]) as prof:
            step(0)
            torch.cuda.synchronize()
        row["profile"] = kernels_of(prof)
        del prof
    except Exception as e:
        row["profile_error"] = repr(e)[:200]
    if c["trace"]:
        try:
            path = f"/tmp/{c['id']}.json.gz"
            small = "tiny" in c["id"] or "smoke" in c["id"]
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, with_stack=False,
                         schedule=schedule(wait=0, warmup=1, active=2, repeat=1),
                         on_trace_ready=lambda p: p.export_chrome_trace(path)) as prof:
                for i in range(3):
                    step(i)
                    prof.step()
            torch.cuda.synchronize()
            row["trace_bytes"] = os.path.getsize(path)
            if row["trace_bytes"] < 5_000_000:
                tar.add(path, os.path.basename(path))
            del prof
        except Exception as e:
            row["trace_error"] = repr(e)[:200]
    if c["snapshot"]:
        try:
            path = f"/tmp/{c['id']}.pickle"
            torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
            step(0)
            torch.cuda.synchronize()
            torch.cuda.memory._dump_snapshot(path)
            torch.cuda.memory._record_memory_history(enabled=None)
            import gzip, shutil
            with open(path, "rb") as a, gzip.open(path + ".gz", "wb") as b:
                shutil.copyfileobj(a, b)
            row["snapshot_bytes"] = os.path.getsize(path + ".gz")
            if row["snapshot_bytes"] < 3_000_000:
                tar.add(path + ".gz", os.path.basename(path) + ".gz")
        except Exception as e:
            row["snapshot_error"] = repr(e)[:200]
    return row


def main():
    budget, sets = float(sys.argv[1]), sys.argv[2:]
    rows = Rows("train.jsonl")
    torch.backends.cuda.matmul.allow_tf32 = False
    first = machine()
    rows.write(**first)
    print(first, flush=True)
    tar = tarfile.open(os.path.join(OUT, f"traces_{sets[0]}.tar"), "w")
    longest = 0.0
    for c in [c for name in sets for c in SETS[name]]:
        if elapsed() > budget - 15:
            print("no time for", c["id"], flush=True)
            continue
        t0 = time.monotonic()
        clean()
        try:
            row = measure(c, tar)
            rows.write(kind="train", card=first["card"], **c, **row)
            print(f"{elapsed():6.0f}s {c['id']:38s} {row['step_s']*1e3:9.2f} ms  sd {row['step_sd']*1e3:6.2f}  "
                  f"alloc {row['allocated']/2**30:6.2f}  res {row['reserved']/2**30:6.2f} GiB  "
                  f"busy {row.get('profile',{}).get('busy_ms',0):8.2f} ms  {row.get('profile',{}).get('kernels',0)} kernels "
                  f"{row.get('profile_error','')}{row.get('trace_error','')}{row.get('snapshot_error','')}", flush=True)
        except torch.cuda.OutOfMemoryError as e:
            rows.write(kind="train", card=first["card"], **c, oom=True, error=str(e)[:300],
                       allocated=torch.cuda.max_memory_allocated())
            print(f"{elapsed():6.0f}s {c['id']} OUT OF MEMORY", flush=True)
        except Exception as e:
            rows.write(kind="train", card=first["card"], **c, error=traceback.format_exc()[-1500:])
            print(f"{elapsed():6.0f}s {c['id']} FAILED {e!r}"[:400], flush=True)
        # a traceback keeps tensors alive
        sys.last_traceback = None
    tar.close()


main()
