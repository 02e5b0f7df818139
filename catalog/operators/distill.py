#!/usr/bin/env python3
"""Distil measured operator times into the laws that the calculator embeds.

    distill.py ACCELERATORS.csv GEMM.csv ATTENTION.csv OUT_DIRECTORY [FIXTURE_DIRECTORY]

writes OUT_DIRECTORY/gemm.csv and attention.csv (one row of constants per accelerator and number format or kernel, with the
number of rows, the residuals and the source), and, if asked, a compact sample of the measured rows as test fixtures.

The laws are those in the module comments of crates/calculator/src/operators/{gemm,attention}.rs; keep both in step.
Constants minimize a soft L1 norm of log(predicted / measured), so that a few odd kernels do not pull them. `held_out` is the
mean error over rows that a fit on the other two thirds never saw.

Needs numpy, scipy and pandas. Takes about two minutes.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

warnings.filterwarnings("ignore", category=FutureWarning)

# The tables' names of accelerators and the catalogue's.
NAMES = {
    "A100-80G-SXM": "a100-sxm4-80gb",
    "A100-80G-PCIe": "a100-pcie-80gb",
    "H100-80G-SXM": "h100-sxm5-80gb",
    "H200-141G-SXM": "h200-sxm-141gb",
    "B200": "b200-sxm-180gb",
    "B300": "b300-sxm-288gb",
    "GB200": "gb200-nvl72",
    "GB300": "gb300-nvl72",
    "L40S": "l40s-48gb",
}
ELEMENT = {"bf16": 2.0, "fp8": 1.0, "nvfp4": 0.5625}
PEAK_COLUMN = {"bf16": "bf16_tflops", "fp8": "fp8_tflops", "nvfp4": "fp4_tflops"}
UNKNOWN_UNITS = 148.0  # the calculator's default where a data sheet does not say

TILES = [(256, 128, 0), (128, 256, 0), (128, 128, 1), (128, 64, 2), (64, 128, 2), (64, 64, 3)]
SPLITS = [1, 2, 3, 4, 6, 8]


class Machine:
    def __init__(self, sheet, name, dtype="bf16"):
        row = sheet.loc[NAMES[name]]
        self.architecture = row["arch"]
        self.peak = float(row[PEAK_COLUMN[dtype]]) * 1e12
        self.bandwidth = float(row["mem_bw_gbps"]) * 1e9
        units = row["compute_units"]
        self.units = float(units) if pd.notna(units) else UNKNOWN_UNITS


# --- products ---------------------------------------------------------------------------------------------------------

GEMM_NAMES = ["efficiency", "k_start", "floor", "hbm", "wave", "medium", "small", "tiny", "split", "cast"]
GEMM_START = [0.8, 100, 3, 0.85, 0.3, 0.95, 0.8, 0.8, 1000, 0]
GEMM_LOW = [0.2, 1, 1.5, 0.5, 0, 0.6, 0.4, 0.4, 1, 0]
GEMM_HIGH = [1.0, 3000, 30, 1.0, 1, 1, 1, 1, 5000, 20]
GEMM_SCALE = [0.1, 100, 2, 0.1, 0.2, 0.1, 0.1, 0.1, 300, 2]


def arithmetic(machine, c, groups, m, n, k):
    # Smaller tiles are never faster than larger ones: their rates are products.
    rates = np.cumprod([1.0, c[5], c[6], c[7]])
    best = np.inf
    for rows, columns, rate in TILES:
        waves = groups * np.ceil(m / rows) * np.ceil(n / columns) / machine.units
        tile = 2 * rows * columns * machine.units / (machine.peak * c[0] * rates[rate])
        for split in SPLITS:
            cut = waves * split
            filled = np.maximum(1, c[4] * np.ceil(cut) + (1 - c[4]) * cut) / split
            best = np.minimum(best, filled * tile * (k + c[1] + (split - 1) * c[8]))
    return best


def gemm_time(machine, c, d, element, output=2.0, factor=1.0):
    m, n, k = (d[x].to_numpy(float) for x in "mnk")
    compute = factor * arithmetic(machine, c, 1, m, n, k)
    move = ((m * k + n * k) * element + m * n * output) / (machine.bandwidth * c[3])
    # Narrow formats: the tables' times hold a dynamic cast of the activations, bytes per element at 0.85 of the bandwidth.
    cast = c[9] * m * k / (machine.bandwidth * 0.85)
    return c[2] * 1e-6 + (compute**4 + move**4) ** 0.25 + cast


def fit_gemm(machine, d, dtype, ceiling=None):
    """`ceiling`: the best rate that a sweep of bare products found; where times hold a cast it tells the two apart."""
    measured = d.latency_us.to_numpy() * 1e-6
    low, high, start = list(GEMM_LOW), list(GEMM_HIGH), list(GEMM_START)
    if dtype == "bf16":
        high[9] = 1e-9
    else:
        start[9] = 4
        if ceiling:
            high[0] = ceiling / machine.peak * 1.02
    residual = lambda c: np.log(gemm_time(machine, c, d, ELEMENT[dtype]) / measured)
    best = None
    for wave in (0.3, 0.9):
        start[4] = wave
        r = least_squares(residual, np.clip(start, low, high), bounds=(low, high), loss="soft_l1", f_scale=0.05,
                          x_scale=GEMM_SCALE, diff_step=0.01)
        if best is None or r.cost < best.cost:
            best = r
    return best.x, residual(best.x)


def held_out(machine, d, dtype, ceiling):
    """Mean error over each third of the rows, predicted from the other two."""
    third = np.arange(len(d)) * 2654435761 % 2**32 // 7 % 3
    errors = []
    for part in range(3):
        c, _ = fit_gemm(machine, d[third != part], dtype, ceiling)
        rest = d[third == part]
        errors.append(np.abs(gemm_time(machine, c, rest, ELEMENT[dtype]) / (rest.latency_us.to_numpy() * 1e-6) - 1))
    return np.concatenate(errors).mean()


def passes(machine, table, dtype="bf16"):
    """Time of the gradient products over the law fitted to the forward ones, from one stack that measured all three."""
    forward, _ = fit_gemm(machine, table[table.layout == "TN"], dtype)
    ratio = {}
    for layout, output in (("NN", 2.0), ("NT", 8.0)):
        d = table[table.layout == layout]
        if layout == "NT":
            d = d[d.out_dtype == "fp32"]
        ratio[layout] = np.median(d.latency_us * 1e-6 / gemm_time(machine, forward, d, 2.0, output))
    return forward, ratio["NN"], ratio["NT"]


def fit_grouped(machine, c, data, weight, table, each):
    """Share of a plain product's rate that grouped ones reach, and what each group costs to issue (microseconds; given where
    the rows have no small groups to learn it from)."""
    g, m, n, k = (table[x].to_numpy(float) for x in ("groups", "m", "n", "k"))
    kind = table.layout.to_numpy()
    f32 = (table.out_dtype == "fp32").to_numpy() | (table.accumulate == True).to_numpy()  # noqa: E712
    # m tokens per group, n outputs, k inputs whatever the pass.
    compute = np.where(kind == "fwd", arithmetic(machine, c, g, m, n, k),
                       np.where(kind == "bwd_grad_act", data * arithmetic(machine, c, g, m, k, n),
                                weight * arithmetic(machine, c, g, n, k, m)))
    output = np.where(kind == "fwd", 2 * m * n, np.where(kind == "bwd_grad_act", 2 * m * k,
                                                         np.where(f32, 8, 2) * n * k))
    inputs = np.where(kind == "fwd", m * k + n * k, np.where(kind == "bwd_grad_act", m * n + n * k, m * k + m * n))
    move = g * (inputs * 2.0 + output) / (machine.bandwidth * c[3])
    measured = table.latency_us.to_numpy() * 1e-6

    def predicted(x):
        work = ((compute / x[0]) ** 4 + move**4) ** 0.25
        return c[2] * 1e-6 + np.sqrt(work**2 + (g * x[1] * 1e-6) ** 2)

    r = least_squares(lambda x: np.log(predicted(x) / measured), [0.8, each or 5],
                      bounds=([0.3, each - 1e-6 if each else 0], [1.0, each + 1e-6 if each else 20]),
                      loss="soft_l1", f_scale=0.1, x_scale=[0.1, 2])
    return r.x, np.abs(predicted(r.x) / measured - 1).mean()


def gemm_rows(sheet, table):
    burst = table[(table.op == "gemm") & table.layout.astype(str).str.startswith("TN (")]
    train = table[(table.op == "gemm") & table.software.astype(str).str.startswith("TransformerEngine")]
    grouped = table[(table.op == "grouped_gemm") & table.software.astype(str).str.startswith("TransformerEngine")]
    gradients, groups = {}, {}
    for name in ("B200", "A100-80G-PCIe"):
        machine = Machine(sheet, name)
        each = groups.get("Blackwell", (0, 0))[1]
        forward, data, weight = passes(machine, train[train.gpu == name])
        family = machine.architecture
        gradients[family] = (max(data, 1.0), max(weight, 1.0))
        (share, each), error = fit_grouped(machine, forward, data, weight,
                                             grouped[grouped.gpu == name], each)
        groups[family] = (share, each)
        print(f"{name}: data gradient {data:.3f}, weight gradient {weight:.3f}, grouped share {share:.3f}, "
              f"{each:.2f} us per group, grouped error {error:.3f}", flush=True)
    mean = lambda pairs: tuple(np.mean([p[i] for p in pairs.values()]) for i in (0, 1))
    out, floors = [], {}
    sets = [(n, t, burst[(burst.gpu == n) & (burst.dtype == t)]) for n in NAMES for t in ELEMENT]
    sets += [("A100-80G-PCIe", "bf16", train[(train.gpu == "A100-80G-PCIe") & (train.layout == "TN")])]
    for name, dtype, d in sets:
        if d.empty:
            continue
        machine = Machine(sheet, name, dtype)
        best = table[(table.gpu == name) & (table.dtype == dtype) & table.op.str.startswith("gemm (best")]
        ceiling = best.tflops.max() * 1e12 if len(best) else None
        c, x = fit_gemm(machine, d, dtype, ceiling)
        floors.setdefault(name, c[2])
        # The floor of narrow formats holds the cast's kernels; the product alone starts like a bf16 one.
        floor = min(c[2], floors[name]) if dtype != "bf16" else c[2]
        family = machine.architecture.split()[0]
        data, weight = gradients.get(family, mean(gradients))
        share, each = groups.get(family, mean(groups))
        rates = np.cumprod(c[5:8])
        error = np.abs(np.expm1(x))
        big = (2.0 * d.m * d.n * d.k > 1e11).to_numpy()
        row = dict(accelerator=NAMES[name], architecture=machine.architecture, data_type=dtype, efficiency=c[0], k_start=c[1],
                   floor_us=floor, hbm=c[3], wave=c[4], rate_medium=rates[0], rate_small=rates[1], rate_tiny=rates[2],
                   split_k=c[8], data_gradient=data, weight_gradient=weight, grouped=share, group_us=each, rows=len(d),
                   median_error=np.median(error), mape=error.mean(), mape_large=error[big].mean(),
                   held_out=held_out(machine, d, dtype, ceiling), cast_bytes=c[9],
                   range=f"m {d.m.min()}-{d.m.max()} n {d.n.min()}-{d.n.max()} k {d.k.min()}-{d.k.max()}",
                   source=f"{d.source.iloc[0]} ({d.licence.iloc[0]})")
        print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items() if k not in ("source", "range")},
              flush=True)
        out.append(row)
    newest = tensor_cores_of_a_tpu(sheet, table)
    out += [newest, *(narrow_units_of_a_tpu(name, newest) for name in ("tpu-v5e", "tpu-v5p"))]
    return pd.DataFrame(out)


def tensor_cores_of_a_tpu(sheet, table):
    """Eight square products on one of a chip's two cores; a chip runs a product on both."""
    d = table[table.gpu == "TPUv7x"]
    sheet_row = sheet.loc["tpu-v7x"]
    machine = Machine.__new__(Machine)
    machine.peak = float(sheet_row["bf16_tflops"]) * 1e12 / 2
    machine.bandwidth = float(sheet_row["mem_bw_gbps"]) * 1e9 / 2
    machine.units = 1.0
    fixed = dict(wave=0.0, medium=1.0, small=1.0, tiny=1.0, split=5000.0, cast=0.0)
    free = ["efficiency", "k_start", "floor", "hbm"]

    def constants(x):
        values = dict(zip(free, x)) | fixed
        return [values[name] for name in GEMM_NAMES]

    measured = d.latency_us.to_numpy() * 1e-6
    residual = lambda x: np.log(gemm_time(machine, constants(x), d, 2.0) / measured)
    r = least_squares(residual, [0.83, 300, 1.5, 0.8], bounds=([0.5, 1, 0.5, 0.2], [1, 3000, 5, 1]), loss="soft_l1",
                      f_scale=0.05, x_scale=[0.1, 100, 1, 0.1])
    error = np.abs(np.expm1(residual(r.x)))
    x = r.x
    return dict(accelerator="tpu-v7x", architecture=sheet_row["arch"], data_type="bf16", efficiency=x[0], k_start=x[1],
                floor_us=x[2], hbm=x[3], wave=0.0, rate_medium=1.0, rate_small=1.0, rate_tiny=1.0, split_k=5000.0,
                data_gradient=1.0, weight_gradient=1.03, grouped=0.85, group_us=1.0, rows=len(d),
                median_error=np.median(error), mape=error.mean(), mape_large=error[-3:].mean(), held_out=np.nan,
                cast_bytes=0.0, range="squares 128-32768", source=f"{d.source.iloc[0]} ({d.licence.iloc[0]})")


def narrow_units_of_a_tpu(name, newest):
    """Without measurements: matrix units of 128 columns in place of 256, so half the ramp; memory as on any other accelerator."""
    return newest | dict(accelerator=name, efficiency=0.95, k_start=224, hbm=0.8, rows=0, median_error=np.nan, mape=np.nan,
                         mape_large=np.nan, range="",
                         source="derived: matrix units of 128 columns in place of 256, so half the ramp of tpu-v7x; the rate from MaxText's "
                                "READMEs of v5e and v5p, whose steps reach 67 to 71% of the peak")


# --- attention --------------------------------------------------------------------------------------------------------

ATT = ["share", "backward", "key_start", "key_start_backward", "wave", "floor", "diagonal", "extra", "single"]
ATT_LOW = dict(share=0.1, backward=0.5, key_start=0, key_start_backward=0, wave=0, floor=0.5, diagonal=0, extra=0, single=0)
ATT_HIGH = dict(share=1, backward=1.2, key_start=1500, key_start_backward=1500, wave=1, floor=100, diagonal=300, extra=20,
                single=1)
ATT_START = dict(share=0.6, backward=0.85, key_start=100, key_start_backward=150, wave=0.3, floor=5, diagonal=60, extra=1,
                 single=0.5)
ATT_SCALE = dict(share=0.1, backward=0.1, key_start=100, key_start_backward=100, wave=0.2, floor=5, diagonal=60, extra=2,
                 single=0.2)


def attention_time(machine, q, share, d, backward):
    b, h, sq, sk = (d[x].to_numpy(float) for x in ("batch", "heads", "seq_q", "seq_kv"))
    causal = d.causal.to_numpy(float)
    widths = (d.head_dim + d.head_dim_v).to_numpy(float)
    start = q["key_start_backward"] if backward else q["key_start"]
    rate = machine.peak / machine.units * share * (q["backward"] if backward else 1.0)
    blocks = b * h * np.ceil(sq / 128) / machine.units
    filled = np.maximum(1, q["wave"] * np.ceil(blocks) + (1 - q["wave"]) * blocks)
    keys = np.maximum(filled * (np.where(causal == 1, sk / 2, sk) + start + q["diagonal"] * causal),
                      q["single"] * (sk + start))
    compute = (2.5 if backward else 1.0) * 2 * 128 * widths / rate * keys
    move = 2 * widths * b * (sq * h + sk * d.kv_heads.to_numpy(float)) / machine.bandwidth * (2 if backward else 1)
    return q["floor"] * 1e-6 + (compute**4 + (move / 0.85) ** 4) ** 0.25 + q["extra"] * move


def fit_attention(machine, d, fixed):
    """Constants, and the share of peak by head width. `extra` is passes over the operands that some stacks add."""
    widths = sorted(d.head_dim.unique())
    kind = d["pass"].to_numpy()
    low, high, start = dict(ATT_LOW), dict(ATT_HIGH), dict(ATT_START)
    for name, value in fixed.items():
        low[name], high[name], start[name] = value - 1e-6, value + 1e-6, value

    def unpack(x):
        return dict(zip(ATT, x)), dict(zip(widths, x[0] * np.r_[1.0, x[len(ATT):]]))

    def predicted(x):
        q, shares = unpack(x)
        share = d.head_dim.map(shares).to_numpy()
        forward, backward = (attention_time(machine, q, share, d, flag) for flag in (False, True))
        return np.where(kind == "fwd", forward, np.where(kind == "bwd", backward, forward + backward))

    measured = d.latency_us.to_numpy() * 1e-6
    more = len(widths) - 1
    best = None
    for wave in (0.1, 0.8):
        if "wave" not in fixed:
            start["wave"] = wave
        r = least_squares(lambda x: np.log(predicted(x) / measured), [start[k] for k in ATT] + [1.0] * more,
                          bounds=([low[k] for k in ATT] + [0.3] * more, [high[k] for k in ATT] + [3.0] * more),
                          loss="soft_l1", f_scale=0.05, x_scale=[ATT_SCALE[k] for k in ATT] + [0.1] * more, diff_step=0.01)
        if best is None or r.cost < best.cost:
            best = r
    q, shares = unpack(best.x)
    return q, shares, np.abs(predicted(best.x) / measured - 1)


def attention_row(machine, name, kernel, q, shares, error, d, floor, note=""):
    # Widths that a kernel was not measured at follow the nearest ones.
    known = {64: None, 128: None, 192: None, 256: None} | {int(w): s for w, s in shares.items()}
    known[64] = known[64] or known[128] * 0.72
    known[192] = known[192] or (known[128] + (known[256] or 0.95 * known[128])) / 2
    known[256] = known[256] or 0.95 * known[128]
    row = dict(accelerator=NAMES[name], architecture=machine.architecture, kernel=kernel)
    row |= {f"share_{w}": known[w] for w in (64, 128, 192, 256)}
    row |= {k: q[k] for k in ("backward", "key_start", "key_start_backward", "diagonal", "wave", "single")}
    row |= dict(floor_us=floor, rows=len(d), median_error=np.median(error), mape=error.mean(),
                range=f"keys {int(d.seq_kv.min())}-{int(d.seq_kv.max())} widths {'/'.join(str(int(w)) for w in shares)}",
                source=f"{d.source.iloc[0]} ({d.licence.iloc[0]}){note}")
    print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items() if k != "source"}, flush=True)
    return row


def attention_rows(sheet, table):
    table = table[(table.op == "attention") & table.seq_q.notna()]
    part = lambda name, kernel: table[(table.gpu == name) & (table.kernel == kernel)]
    out = []
    # A kernel's own floor is 5 us throughout; what a library's host path adds is not an operator's.
    # Its rows have 4096 keys only; what starting a block costs is as on the SXM card below.
    machine = Machine(sheet, "A100-80G-PCIe")
    d = part("A100-80G-PCIe", "TransformerEngine fused attention")
    pcie, pcie_shares, error = fit_attention(machine, d, dict(extra=0, floor=5, key_start=120, diagonal=96,
                                                              key_start_backward=172))
    out.append(attention_row(machine, "A100-80G-PCIe", "flash2", pcie, pcie_shares, error, d, 5.0))
    # Charts: forward and backward together leave their ratio open, taken from the library's.
    machine = Machine(sheet, "A100-80G-SXM")
    d = part("A100-80G-SXM", "FlashAttention-2")
    q, shares, error = fit_attention(machine, d, dict(extra=0, floor=5, backward=0.87, key_start=120, single=0.7))
    shares = dict(shares) | {192: shares[128] * pcie_shares[192] / pcie_shares[128]}
    out.append(attention_row(machine, "A100-80G-SXM", "flash2", q, shares, error, d, 5.0,
                             "; width 192 from the PCIe card"))
    machine = Machine(sheet, "H100-80G-SXM")
    for kernel, name in (("flash2", "FlashAttention-2"), ("flash3", "FlashAttention-3"), ("cudnn", "cuDNN")):
        d = part("H100-80G-SXM", name)
        fixed = dict(extra=0, floor=5, single=0.7)
        note = ""
        if set(d["pass"]) == {"fwd"}:
            fixed |= dict(backward=0.82, key_start_backward=250)
            note = "; backward from the published range 0.75-0.9 of forward"
        q, shares, error = fit_attention(machine, d, fixed)
        out.append(attention_row(machine, "H100-80G-SXM", kernel, q, shares, error, d, 5.0, note))
    machine = Machine(sheet, "B200")
    d = part("B200", "TransformerEngine fused attention")
    # Below 120 us the forward rows no longer depend on the shape: the library's host path.
    d = d[d.latency_us > 120]
    # All but three shapes have 4096 keys, which leaves the cost of starting a block open: the fall of the forward rate
    # from 32k to 4k keys (1352 to 1121 TFLOP/s on full machines) is worth about 400 keys.
    base, base_shares, error = fit_attention(machine, d, dict(extra=0, floor=5, key_start=250, diagonal=150,
                                                              key_start_backward=250))
    # Other widths and the other Blackwells: ratios of forward-only tables that all of them have.
    ratios = {}
    for name in ("B200", "GB200", "GB300"):
        e = part(name, "torch_flow")
        _, shares, _ = fit_attention(Machine(sheet, name), e, dict(backward=0.8, key_start_backward=100))
        ratios[name] = shares
    for name in ("B200", "GB200", "GB300"):
        scale = ratios[name][128] / ratios["B200"][128]
        shares = {w: s * scale for w, s in base_shares.items()}
        shares[64] = shares[128] * ratios[name][64] / ratios[name][128]
        note = "; width 64 from forward tables" + ("" if name == "B200" else " and scaled from B200 by them")
        out.append(attention_row(Machine(sheet, name), name, "cudnn", base, shares, error, d, 5.0, note))
    return pd.DataFrame(out)


# --- fixtures ---------------------------------------------------------------------------------------------------------


def fixtures(gemm, attention, directory):
    """Every n-th row of each set: enough to hold the laws to account, small enough to read."""
    columns = ["id", "gpu", "dtype", "layout", "groups", "m", "n", "k", "latency_us", "software"]
    keep = gemm[gemm.gpu.isin(NAMES) & gemm.op.isin(["gemm", "grouped_gemm"])]
    keep = keep[~keep.software.astype(str).str.startswith("torch")]
    parts = [d.iloc[:: max(1, len(d) // 24)] for _, d in keep.groupby(["gpu", "op", "dtype", "layout", "software"])]
    sample = pd.concat(parts)[columns + ["out_dtype", "accumulate"]]
    sample["gpu"] = sample.gpu.map(NAMES)
    sample.to_csv(f"{directory}/gemm_measured.csv", index=False)
    columns = ["id", "gpu", "kernel", "pass", "causal", "batch", "seq_q", "seq_kv", "heads", "kv_heads", "head_dim",
               "head_dim_v", "latency_us"]
    keep = attention[(attention.op == "attention") & attention.seq_q.notna() & attention.gpu.isin(NAMES)]
    keep = keep[keep.kernel.isin(["FlashAttention-2", "FlashAttention-3", "cuDNN", "TransformerEngine fused attention"])]
    keep = keep[~keep.notes.astype(str).str.startswith("non-contiguous")][columns].copy()
    keep["gpu"] = keep.gpu.map(NAMES)
    keep.to_csv(f"{directory}/attention_measured.csv", index=False)


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    sheet = pd.read_csv(sys.argv[1], low_memory=False).set_index("id")
    gemm = pd.read_csv(sys.argv[2], low_memory=False)
    attention = pd.read_csv(sys.argv[3], low_memory=False)
    if len(sys.argv) == 6:
        fixtures(gemm, attention, sys.argv[5])
    write = lambda rows, name: rows.to_csv(f"{sys.argv[4]}/{name}", index=False, float_format="%.5g")
    write(attention_rows(sheet, attention), "attention.csv")
    write(gemm_rows(sheet, gemm), "gemm.csv")


if __name__ == "__main__":
    main()
