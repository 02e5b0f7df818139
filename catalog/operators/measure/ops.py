"""Operators on one GPU: ops.py SECONDS PART...   Rows to $OUT/ops.jsonl.

Device times come from CUDA graphs that hold several calls (no host time between kernels), replayed; backward times are those of forward
and backward together less the forward alone. Inputs are random; small ones rotate so that the cache does not hold them."""
import math, statistics, sys, time, traceback
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from common import Rows, clean, elapsed, machine, sensors

BF, F32 = torch.bfloat16, torch.float32


def event():
    e = torch.cuda.Event(enable_timing=True)
    e.record()
    return e


def graphed(fn, target_ms=3.0, replays=5):
    """Median seconds of one call of fn(i), in a graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for i in range(2):
            fn(i)
        a = event()
        fn(0)
        b = event()
    torch.cuda.synchronize()
    once = max(a.elapsed_time(b), 1e-3)
    inner = max(1, min(20, math.ceil(target_ms / once)))
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for i in range(inner):
            fn(i)
    g.replay()
    torch.cuda.synchronize()
    marks = [event()]
    for _ in range(replays):
        g.replay()
        marks.append(event())
    torch.cuda.synchronize()
    t = statistics.median(x.elapsed_time(y) for x, y in zip(marks, marks[1:])) / 1e3 / inner
    g.reset()
    del g
    return t


def eager(fn, reps=7):
    for i in range(2):
        fn(i)
    marks = [event()]
    for i in range(reps):
        fn(i)
        marks.append(event())
    torch.cuda.synchronize()
    return statistics.median(x.elapsed_time(y) for x, y in zip(marks, marks[1:])) / 1e3


def copies(bytes_each):
    return max(1, min(8, math.ceil(120e6 / max(bytes_each, 1))))


def rnd(*shape, dtype=BF, grad=False):
    return torch.randn(*shape, device="cuda", dtype=F32 if dtype == torch.float8_e4m3fn else dtype).to(dtype).requires_grad_(grad)


class Run:
    def __init__(self, rows, budget, card):
        self.rows, self.budget, self.card = rows, budget, card
        self.failed = {}

    def row(self, op, measure, **d):
        """One row; `measure` gives a dictionary or seconds."""
        if elapsed() > self.budget:
            return
        try:
            r = measure()
            self.rows.write(kind="op", card=self.card, op=op, **d, **(r if isinstance(r, dict) else dict(us=r * 1e6)))
        except Exception as e:
            n = self.failed[op] = self.failed.get(op, 0) + 1
            self.rows.write(kind="op", card=self.card, op=op, **d, error=repr(e)[:300])
            if n < 3:
                print(f"{elapsed():5.0f}s {op} {d} FAILED {e!r}"[:300], flush=True)
            e = None
            try:
                torch.cuda.synchronize()
            except Exception:
                print("device lost", flush=True)
                sys.exit(1)


# --- products ----------------------------------------------------------------------------------------------------------

TOKENS = [1024, 2048, 4096, 8192, 16384]
LAYERS = [(3072, 2048), (2048, 2048), (8192, 2048), (2048, 8192), (5120, 3072), (8192, 3072), (3072, 8192), (6144, 4096),
          (4096, 4096), (14336, 4096), (4096, 14336), (10240, 8192), (8192, 8192), (28672, 8192), (8192, 28672), (1024, 4096),
          (3072, 1024), (1024, 3072), (2304, 768), (3072, 768), (768, 3072), (128256, 2048), (128256, 4096), (50257, 768),
          (50304, 768), (32000, 4096), (151936, 1024), (4608, 4608), (7168, 2048), (2048, 7168), (16, 4096), (4096, 16), (14336, 16)]


def gemm(run):
    for n, k in LAYERS:
        for m in TOKENS:
            if m * n > 16384 * 33000 or m * k > 16384 * 33000:
                continue
            if 2 * m * n * k > 2.5e13:
                continue
            clean_small()
            c = copies(2 * (m * k + n * k))
            x, w, dy = ([rnd(*s) for _ in range(c)] for s in ((m, k), (n, k), (m, n)))
            for name, fn, mm, nn_, kk in (
                    ("forward", lambda i: x[i % c] @ w[i % c].t(), m, n, k),
                    ("data_gradient", lambda i: dy[i % c] @ w[i % c], m, k, n),
                    ("weight_gradient", lambda i: dy[i % c].t() @ x[i % c], n, k, m)):
                run.row("gemm", lambda: graphed(fn, 2.0), dtype="bf16", pass_=name, m=mm, n=nn_, k=kk)
            del x, w, dy


def clean_small():
    if torch.cuda.memory_reserved() > 50e9:
        torch.cuda.empty_cache()


def gemm_accumulate(run):
    """Weight gradients into fp32, as fused accumulation has them, and products of fp32 and tf32."""
    for m, n, k in ((8192, 4096, 4096), (8192, 14336, 4096), (4096, 8192, 2048), (8192, 8192, 8192)):
        x, dy = rnd(m, k), rnd(m, n)
        acc = torch.zeros(n, k, device="cuda", dtype=F32)

        def to_fp32(i):
            acc.add_(dy.t() @ x)
        run.row("gemm_then_accumulate_fp32", lambda: graphed(to_fp32), m=n, n=k, k=m)
        x32, w32 = rnd(m, k, dtype=F32), rnd(n, k, dtype=F32)
        run.row("gemm", lambda: graphed(lambda i: x32 @ w32.t()), dtype="fp32", pass_="forward", m=m, n=n, k=k)
        torch.backends.cuda.matmul.allow_tf32 = True
        run.row("gemm", lambda: graphed(lambda i: x32 @ w32.t()), dtype="tf32", pass_="forward", m=m, n=n, k=k)
        torch.backends.cuda.matmul.allow_tf32 = False


def sustained(run):
    """Rates of one shape, run for seconds: burst against a hot card."""
    for name, make in (("gemm_8192", lambda: (rnd(8192, 8192), rnd(8192, 8192))), ("gemm_8192x14336x4096", lambda: (rnd(8192, 4096), rnd(14336, 4096)))):
        a, b = make()
        flop = 2 * a.shape[0] * b.shape[0] * a.shape[1]
        time.sleep(3)
        for second in range(5):
            def one():
                marks = [event()]
                for _ in range(max(8, int(0.8 * 650e12 / flop) // 1)):
                    a @ b.t()
                marks.append(event())
                torch.cuda.synchronize()
                t = marks[0].elapsed_time(marks[1]) / 1e3 / max(8, int(0.8 * 650e12 / flop))
                return dict(us=t * 1e6, tflops=flop / t / 1e12, **sensors())
            run.row("sustained", one, name=name, second=second)


def scaled(run):
    one = torch.ones((), device="cuda", dtype=F32)
    for n, k in LAYERS:
        if n % 16 or k % 16 or k < 64 or n > 40000:
            continue
        for m in (1024, 4096, 8192, 16384):
            for name, mm, nn_, kk in (("forward", m, n, k), ("data_gradient", m, k, n), ("weight_gradient", n, k, m)):
                if m != 8192 and name != "forward":
                    continue
                clean_small()
                c = copies(mm * kk + nn_ * kk)
                a = [rnd(mm, kk, dtype=torch.float8_e4m3fn) for _ in range(c)]
                b = [rnd(nn_, kk, dtype=torch.float8_e4m3fn) for _ in range(c)]
                fast = name == "forward"
                run.row("scaled_mm", lambda: graphed(lambda i: torch._scaled_mm(
                    a[i % c], b[i % c].t(), scale_a=one, scale_b=one, out_dtype=BF, use_fast_accum=fast), 1.5),
                    dtype="fp8", pass_=name, scaling="tensor", m=mm, n=nn_, k=kk, fast_accumulation=fast)
                if m == 8192:
                    sa, sb = torch.ones(mm, 1, device="cuda"), torch.ones(1, nn_, device="cuda")
                    run.row("scaled_mm", lambda: graphed(lambda i: torch._scaled_mm(
                        a[i % c], b[i % c].t(), scale_a=sa, scale_b=sb, out_dtype=BF, use_fast_accum=True), 1.5),
                        dtype="fp8", pass_=name, scaling="row", m=mm, n=nn_, k=kk, fast_accumulation=True)
                del a, b
    # The cast in front of a narrow product: greatest magnitude, scale, convert.
    for m, k in ((8192, 4096), (8192, 14336), (16384, 8192)):
        x = rnd(m, k)

        def cast(i):
            s = 448.0 / x.abs().amax().float().clamp(min=1e-12)
            return (x.float() * s).clamp(-448, 448).to(torch.float8_e4m3fn)
        run.row("cast_fp8_eager", lambda: graphed(cast), rows=m, width=k, bytes=m * k * 3)
        comp = torch.compile(cast, dynamic=False)
        run.row("cast_fp8_compiled", lambda: graphed(comp), rows=m, width=k, bytes=m * k * 3)


def grouped(run):
    for groups, n, k in ((8, 1536, 2048), (16, 1536, 2048), (32, 1536, 2048), (64, 1536, 2048), (128, 1536, 2048), (64, 2048, 2048),
                         (64, 2048, 1024), (128, 2048, 768), (8, 28672, 4096), (8, 4096, 14336), (16, 4096, 7168), (32, 4096, 7168),
                         (32, 7168, 2048), (64, 4096, 7168), (1, 4096, 7168), (256, 1536, 2048)):
        for each in (32, 128, 512, 1024, 2048):
            m = groups * each
            if m > 70000 or 2.0 * m * n * k > 1.2e13 or 2.0 * groups * n * k > 12e9 or m * n > 1.5e9:
                continue
            clean_small()
            offs = torch.arange(1, groups + 1, device="cuda", dtype=torch.int32) * each
            x, w, dy = rnd(m, k), rnd(groups, n, k), rnd(m, n)
            mm = torch._grouped_mm
            d = dict(groups=groups, m=each, n=n, k=k, dtype="bf16", balance="even")
            run.row("grouped_mm", lambda: graphed(lambda i: mm(x, w.transpose(-2, -1), offs=offs), 2.0), pass_="forward", **d)
            run.row("grouped_mm", lambda: graphed(lambda i: mm(dy, w, offs=offs), 2.0), pass_="data_gradient", **d)
            run.row("grouped_mm", lambda: graphed(lambda i: mm(dy.t(), x, offs=offs), 2.0), pass_="weight_gradient", **d)
            if each == 512 and groups >= 8:
                # Uneven: one expert in eight has four times the tokens of the rest.
                share = torch.where(torch.arange(groups) % 8 == 0, 4.0, 1.0)
                counts = (share / share.sum() * m / 16).floor().int() * 16
                counts[0] += m - int(counts.sum())
                o = counts.cumsum(0).to("cuda", torch.int32)
                d["balance"] = "one in eight fourfold"
                run.row("grouped_mm", lambda: graphed(lambda i: mm(x, w.transpose(-2, -1), offs=o), 2.0), pass_="forward", **d)
                run.row("grouped_mm", lambda: graphed(lambda i: mm(dy.t(), x, offs=o), 2.0), pass_="weight_gradient", **d)
            del x, w, dy
    # The same work as a loop over experts, by eager products.
    for groups, n, k, each in ((64, 2048, 2048, 256), (128, 1536, 2048, 512), (8, 28672, 4096, 1024)):
        xs, ws = [rnd(each, k) for _ in range(groups)], [rnd(n, k) for _ in range(groups)]
        run.row("grouped_loop", lambda: eager(lambda i: [a @ b.t() for a, b in zip(xs, ws)]), groups=groups, m=each, n=n, k=k)
        del xs, ws


# --- attention ---------------------------------------------------------------------------------------------------------

BACKENDS = {"flash2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION}


def attention(run):
    shapes = []
    for seq in (1024, 2048, 4096, 8192, 16384, 32768):
        batch = max(1, 16384 // seq)
        for d, dv in ((64, 64), (128, 128), (192, 128), (256, 256)):
            h = {64: 32, 128: 16, 192: 16, 256: 8}[d]
            shapes.append((batch, seq, h, h, d, dv, True))
        shapes.append((batch, seq, 32, 8, 128, 128, True))
    shapes += [(1, s, 16, 16, 128, 128, True) for s in (1024, 2048, 4096, 8192)]
    shapes += [(1, s, 32, 32, 64, 64, True) for s in (1024, 2048)]
    shapes += [(max(1, 8192 // s), s, 16, 16, 128, 128, False) for s in (1024, 4096, 16384)]
    shapes += [(4, 512, 16, 16, 128, 128, True), (32, 512, 32, 32, 64, 64, True), (16, 1024, 12, 12, 64, 64, True)]
    for b, s, h, kv, d, dv, causal in shapes:
        q, k = rnd(b, h, s, d, grad=True), rnd(b, kv, s, d, grad=True)
        v = rnd(b, kv, s, dv, grad=True)
        go = rnd(b, h, s, dv)
        for name, backend in BACKENDS.items():
            def forward(i):
                with sdpa_kernel(backend):
                    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=h != kv)

            def both(i):
                torch.autograd.grad(forward(i), (q, k, v), go)

            def one():
                with torch.no_grad():
                    f = graphed(forward, 1.5)
                t = graphed(both, 1.5)
                unit = 4 * b * h * s * s * (d + dv) / 2 * (0.5 if causal else 1)
                return dict(forward_us=f * 1e6, both_us=t * 1e6, backward_us=(t - f) * 1e6, forward_tflops=unit / f / 1e12,
                            backward_tflops=2.5 * unit / (t - f) / 1e12)
            run.row("attention", one, kernel=name, batch=b, seq_q=s, seq_kv=s, heads=h, kv_heads=kv, head_dim=d, head_dim_v=dv,
                    causal=causal)
        clean_small()


# --- streams -----------------------------------------------------------------------------------------------------------


def rms_composite(x, w):
    y = x.float()
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
    return w * y.to(x.dtype)


def rope_composite(q, k, cos, sin):
    turn = lambda x: torch.cat((-x[..., x.shape[-1] // 2:], x[..., :x.shape[-1] // 2]), -1)
    return q * cos + turn(q) * sin, k * cos + turn(k) * sin


def streams(run):
    def fb(name, fn, make, bytes_forward, bytes_backward, **d):
        """Forward, and forward with backward, of fn over one of several sets of inputs."""
        def one():
            first = make()
            c = copies(sum(t.numel() * t.element_size() for t in first))
            sets = [first] + [make() for _ in range(c - 1)]
            outs = fn(*first)
            gos = [torch.randn_like(o) for o in (outs if isinstance(outs, tuple) else (outs,))]
            del outs

            def both(i):
                s = sets[i % c]
                o = fn(*s)
                torch.autograd.grad(o if isinstance(o, tuple) else (o,), [t for t in s if t.requires_grad], gos)
            with torch.no_grad():
                f = graphed(lambda i: fn(*sets[i % c]))
            t = graphed(both)
            return dict(forward_us=f * 1e6, both_us=t * 1e6, backward_us=(t - f) * 1e6)
        run.row(name, one, bytes_forward=bytes_forward, bytes_backward=bytes_backward, **d)

    compiled = {}

    def comp(name, fn):
        import torch._dynamo
        torch._dynamo.reset()
        return torch.compile(fn, dynamic=False)

    for rows, width in ((2048, 2048), (8192, 1024), (8192, 2048), (8192, 4096), (16384, 4096), (8192, 8192), (32768, 4096)):
        n = rows * width
        d = dict(rows=rows, width=width)
        mk = lambda: (rnd(rows, width, grad=True), rnd(width, grad=True))
        fb("rms_norm_fused", lambda x, w: F.rms_norm(x, (width,), w, 1e-6), mk, 4 * n, 6 * n, **d)
        fb("rms_norm_fused_fp32_weight_autocast", lambda x, w: torch.autocast("cuda", BF)(lambda: F.rms_norm(x, (width,), w, 1e-6))(),
           lambda: (rnd(rows, width, grad=True), rnd(width, dtype=F32, grad=True)), 4 * n, 6 * n, **d)
        fb("rms_norm_composite", rms_composite, mk, 4 * n, 6 * n, **d)
        fb("layer_norm", lambda x, w: F.layer_norm(x, (width,), w, None, 1e-5), mk, 4 * n, 6 * n, **d)
        fb("add", lambda x, y: x + y, lambda: (rnd(rows, width, grad=True), rnd(rows, width, grad=True)), 6 * n, 0, **d)
        fb("swiglu_eager", lambda a, b: F.silu(a) * b, lambda: (rnd(rows, width, grad=True), rnd(rows, width, grad=True)),
           6 * n, 10 * n, **d)
        fb("gelu", lambda a: F.gelu(a, approximate="tanh"), lambda: (rnd(rows, width, grad=True),), 4 * n, 6 * n, **d)
        fb("dropout", lambda a: F.dropout(a, 0.1), lambda: (rnd(rows, width, grad=True),), 5 * n, 5 * n, **d)
        fb("cast_fp32_to_bf16", lambda a: a.to(BF), lambda: (rnd(rows, width, dtype=F32, grad=True),), 6 * n, 6 * n, **d)
        src, dst = rnd(rows, width), rnd(rows, width)
        run.row("copy", lambda: graphed(lambda i: dst.copy_(src)), bytes_forward=4 * n, **d)
    for rows, width in ((8192, 4096), (16384, 4096), (8192, 8192)):
        n = rows * width
        d = dict(rows=rows, width=width)
        fb("swiglu_compiled", comp("swiglu", lambda a, b: F.silu(a) * b),
           lambda: (rnd(rows, width, grad=True), rnd(rows, width, grad=True)), 6 * n, 10 * n, **d)
        fb("rms_norm_compiled", comp("rms", rms_composite), lambda: (rnd(rows, width, grad=True), rnd(width, grad=True)), 4 * n, 6 * n, **d)
    for b, h, kv, s, dd in ((4, 32, 8, 2048, 64), (2, 32, 8, 4096, 128), (4, 16, 8, 4096, 128)):
        cos, sin = rnd(1, 1, s, dd), rnd(1, 1, s, dd)
        n = b * (h + kv) * s * dd
        fb("rope_composite", lambda q, k: rope_composite(q, k, cos, sin),
           lambda: (rnd(b, h, s, dd, grad=True), rnd(b, kv, s, dd, grad=True)), 4 * n, 4 * n, batch=b, heads=h, kv_heads=kv, seq=s, head_dim=dd)
    for tokens, vocab in ((2048, 128256), (4096, 128256), (8192, 128256), (8192, 151936), (8192, 50257), (8192, 32000)):
        ids = torch.randint(0, vocab, (tokens,), device="cuda")
        n = tokens * vocab
        d = dict(rows=tokens, width=vocab)
        if torch.cuda.memory_reserved() > 30e9:
            clean()
        mk = lambda: (rnd(tokens, vocab, grad=True),)
        fb("cross_entropy_float", lambda x: F.cross_entropy(x.float(), ids), mk, 2 * n, 4 * n, **d)
        fb("cross_entropy_compiled", comp("ce", lambda x: F.cross_entropy(x.float(), ids)), mk, 2 * n, 4 * n, **d)
        clean()
    for tokens, vocab, width in ((8192, 128256, 2048), (8192, 128256, 4096), (8192, 151936, 1024)):
        ids = torch.randint(0, vocab, (tokens,), device="cuda")
        fb("embedding_fp32", lambda w: F.embedding(ids, w), lambda: (rnd(vocab, width, dtype=F32, grad=True),), 8 * tokens * width,
           4 * vocab * width + 8 * tokens * width, rows=tokens, width=width, vocab=vocab)
        clean()
    for tokens, experts, top, width in ((8192, 64, 8, 2048), (8192, 128, 8, 2048), (8192, 8, 2, 4096)):
        pick = torch.rand(tokens, experts, device="cuda").topk(top, -1).indices.flatten()
        order = pick.argsort()
        x = rnd(tokens, width)
        run.row("sort_choices", lambda: eager(lambda i: pick.argsort()), tokens=tokens, experts=experts, top_k=top)
        run.row("histogram_choices", lambda: eager(lambda i: torch.histc(pick.int().float(), bins=experts, min=0, max=experts - 1)),
                tokens=tokens, experts=experts, top_k=top)
        fb("gather_tokens", lambda x: x[order // top], lambda: (rnd(tokens, width, grad=True),), 4 * tokens * top * width,
           6 * tokens * top * width, rows=tokens * top, width=width)
        fb("index_add_tokens", lambda y: torch.zeros(tokens, width, device="cuda", dtype=BF).index_add(0, order // top, y),
           lambda: (rnd(tokens * top, width, grad=True),), 4 * tokens * top * width, 4 * tokens * top * width, rows=tokens * top, width=width)
        clean()


def optimizers(run):
    """Updates of lists of parameters shaped as a model's."""
    for name, shapes in (("llama-1b", [(128256, 2048)] + [(2048, 2048), (512, 2048), (512, 2048), (2048, 2048), (8192, 2048), (8192, 2048),
                                                         (2048, 8192), (2048,), (2048,)] * 16 + [(2048,)]),
                         ("gpt2", [(50257, 768)] + [(2304, 768), (2304,), (768, 768), (768,), (3072, 768), (3072,), (768, 3072), (768,), (768,),
                                                   (768,)] * 12),
                         ("lora-8b", [(16, 4096), (4096, 16), (16, 4096), (1024, 16), (16, 4096), (14336, 16)] * 32)):
        for dtype in (F32, BF):
            clean()
            ps = [torch.randn(*s, device="cuda", dtype=F32).to(dtype).requires_grad_() for s in shapes]
            for p in ps:
                p.grad = torch.randn_like(p)
            n = sum(p.numel() for p in ps)
            d = dict(list=name, tensors=len(ps), parameters=n, dtype=str(dtype).split(".")[1])
            for kind, kw in (("fused", dict(fused=True)), ("foreach", dict(foreach=True)), ("loop", dict(foreach=False, fused=False))):
                if kind == "loop" and name != "lora-8b":
                    continue

                def one():
                    o = torch.optim.AdamW(ps, lr=1e-5, **kw)
                    for _ in range(2):
                        o.step()
                    torch.cuda.synchronize()
                    base = torch.cuda.memory_allocated()
                    torch.cuda.reset_peak_memory_stats()
                    h = time.perf_counter()
                    o.step()
                    h = time.perf_counter() - h
                    t = eager(lambda i: o.step(), 5)
                    return dict(us=t * 1e6, host_us=h * 1e6, temporary=torch.cuda.max_memory_allocated() - base)
                run.row("adamw_" + kind, one, **d)

            def clip():
                t = eager(lambda i: torch.nn.utils.clip_grad_norm_(ps, 1.0), 5)
                torch.cuda.synchronize()
                h = time.perf_counter()
                torch.nn.utils.clip_grad_norm_(ps, 1.0)
                return dict(us=t * 1e6, host_us=(time.perf_counter() - h) * 1e6)
            run.row("clip_grad_norm", clip, **d)
            del ps


# --- host --------------------------------------------------------------------------------------------------------------


def host(run):
    def issue(fn, n=300):
        """Host seconds of one call while the device's queue is far from full."""
        for _ in range(20):
            fn()
        torch.cuda.synchronize()
        best = []
        for _ in range(7):
            t = time.perf_counter()
            for _ in range(n):
                fn()
            best.append((time.perf_counter() - t) / n)
            torch.cuda.synchronize()
        return statistics.median(best)

    x, w = rnd(64, 64), rnd(64, 64)
    xg, wg = rnd(64, 64, grad=True), rnd(64, 64, grad=True)
    w32 = rnd(64, 64, dtype=F32, grad=True)
    lin = torch.nn.Linear(64, 64, bias=False, device="cuda")
    norm = torch.nn.RMSNorm(64, device="cuda")
    q = rnd(1, 4, 64, 64, grad=True)
    run.row("host_add", lambda: issue(lambda: x + w))
    run.row("host_mm", lambda: issue(lambda: x @ w))
    run.row("host_mm_grad", lambda: issue(lambda: xg @ wg))

    def auto(fn):
        def go():
            with torch.autocast("cuda", dtype=BF):
                return fn()
        return go
    run.row("host_linear_autocast_uncached", lambda: issue(auto(lambda: lin(xg))))

    def many():
        with torch.autocast("cuda", dtype=BF):
            y = xg
            for _ in range(20):
                y = lin(y)
            return y
    run.row("host_linear_autocast", lambda: issue(many, 20) / 20)

    def backward():
        many().sum().backward()
    run.row("host_linear_autocast_forward_backward", lambda: issue(backward, 15) / 20)
    run.row("host_rms_norm", lambda: issue(lambda: norm(xg)))
    run.row("host_rms_composite", lambda: issue(lambda: rms_composite(xg, norm.weight)))
    run.row("host_sdpa", lambda: issue(lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True)))

    def chain():
        y = xg
        for _ in range(50):
            y = y * 1.01
        y.sum().backward()
    run.row("host_mul_forward_backward", lambda: issue(chain, 8) / 50)

    def launch():
        # device-side cost of kernel after kernel in a graph
        y = torch.zeros(1024, device="cuda")

        def f(i):
            for _ in range(500):
                y.add_(1.0)
        g = torch.cuda.CUDAGraph()
        f(0)
        torch.cuda.synchronize()
        with torch.cuda.graph(g):
            f(0)
        g.replay()
        torch.cuda.synchronize()
        a = event()
        g.replay()
        b = event()
        torch.cuda.synchronize()
        h = time.perf_counter()
        g.replay()
        h = time.perf_counter() - h
        return dict(us=a.elapsed_time(b) * 1e3 / 500, host_us=h * 1e6 / 500)
    run.row("graph_replay_per_kernel", launch)

    def back_to_back():
        y = torch.zeros(1024, device="cuda")
        torch.cuda.synchronize()
        torch.cuda._sleep(20_000_000)
        a = event()
        for _ in range(500):
            y.add_(1.0)
        b = event()
        torch.cuda.synchronize()
        return a.elapsed_time(b) / 1e3 / 500
    run.row("queued_stream_per_kernel", back_to_back)

    def sync():
        y = torch.zeros(1, device="cuda")
        torch.cuda.synchronize()
        t = []
        for _ in range(50):
            y.add_(1.0)
            h = time.perf_counter()
            y.item()
            t.append(time.perf_counter() - h)
        return statistics.median(t)
    run.row("host_item", sync)


PARTS = dict(host=host, attention=attention, gemm=gemm, grouped=grouped, optimizers=optimizers, streams=streams,
             accumulate=gemm_accumulate, sustained=sustained, scaled=scaled)


def main():
    budget, parts = float(sys.argv[1]), sys.argv[2:] or list(PARTS)
    rows = Rows("ops.jsonl")
    first = machine()
    rows.write(**first)
    torch.backends.cuda.matmul.allow_tf32 = False
    run = Run(rows, budget, first["card"])
    for p in parts:
        t = time.monotonic()
        clean()
        try:
            PARTS[p](run)
        except Exception:
            print(p, traceback.format_exc()[-800:], flush=True)
        print(f"{elapsed():5.0f}s {p} took {time.monotonic()-t:.0f}s {sensors()}", flush=True)
    print("failed", run.failed, flush=True)


main()
