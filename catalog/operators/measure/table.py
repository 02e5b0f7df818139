"""Rows of own runs in the columns of `catalog/evidence/measured_runs.csv`, and of operators: table.py OUT_DIRECTORY CALL_DIRECTORY..."""
import csv, json, os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
text = open(os.path.join(HERE, "train.py")).read()
names = {}
exec(text[text.index("SHAPES = {"):text.index("def case(")], names)
SHAPES = names["SHAPES"]
CARDS = {"NVIDIA H100 80GB HBM3": ("H100-80G-SXM", "h100"), "NVIDIA H200": ("H200-141G-SXM", "h200")}
MODELS = {"llama3.2-1b": "Llama-3.2-1B", "llama3.2-3b": "Llama-3.2-3B", "llama3.1-8b": "Llama-3.1-8B", "qwen3-0.6b": "Qwen3-0.6B",
          "qwen3-1.7b": "Qwen3-1.7B"}


def rows(paths):
    for path in paths:
        for line in open(path):
            yield json.loads(line)


def run(r, header):
    s = SHAPES[r["model"]]
    gpu, card = CARDS[r["card"]]
    hf = r["stack"] == "hf"
    eager = "compile" not in r["stack"]
    notes = [f"head dim {s['head_dim']}"]
    if s["tied"] and hf:
        notes.append("tied embeddings")
    if not s["tied"] or not hf:
        notes.append("untied")
    if r["lora"]:
        targets = ["all-linear"] if r["lora"] == "all-linear" else r["lora"]
        notes += ["lora rank 16", "adapters on " + " and ".join(targets)]
    elif r["weights"] == "bf16":
        notes.append("pure bf16")
    if r.get("experts_impl") == "eager":
        notes.append("experts in a loop")
    if not r["clip"]:
        notes.append("gradients not clipped")
    if "fsdp2" in r["stack"]:
        notes.append("FSDP2 on one rank")
    elif not hf:
        notes.append("autocast over fp32 weights")
    if s["kind"] == "gpt2":
        notes.append("dropout 0.1")
    name = MODELS.get(r["model"], r["model"])
    if r["layers"] or (not hf and s["tied"]) or r["model"] not in MODELS:
        name = f"{r['model']} ({r['layers'] or s['layers']} layers)"
    framework = ("Hugging Face transformers 5.17, torch 2.11, eager" if hf else
                 f"torchtitan 2026 {'eager' if eager else 'compiled'} style, torch 2.11")
    row = dict.fromkeys(header, "")
    row.update(
        id=f"own-{card}-{r['id']}", source="measured here", url="", provenance="measured", model_name=name,
        arch="moe" if "experts" in s else "dense", n_layers=r["layers"] or s["layers"], hidden=s["hidden"], ffn_hidden=s["ffn"],
        n_heads=s["heads"], n_kv_heads=s["kv"], vocab=s["vocab"], n_experts=s.get("experts", ""), top_k=s.get("top_k", ""),
        moe_ffn_hidden=s.get("moe_ffn", s["ffn"]) if "experts" in s else "", seq_len=r["seq"], gated_mlp=0 if s["kind"] == "gpt2" else 1,
        gpu=gpu, gpus_per_node=8, n_gpus=1, framework=framework, dtype="bf16", dp=1, tp=1, pp=1, cp=1, ep=1, vpp=1, sequence_parallel=0,
        zero_stage=3 if "fsdp2" in r["stack"] else 0, recompute="full" if r["gc"] else "none", optimizer_offload=0, micro_batch=r["mb"],
        global_batch_seqs=r["mb"] * r["ga"], measured_step_time_s=f"{r['step_s']:.6g}", measured_tokens_per_s_per_gpu=f"{r['tokens_per_s']:.6g}",
        measured_peak_mem_gb=f"{r['allocated'] / 2**30:.4f}", peak_mem_kind="allocated", peak_mem_unit="GiB",
        peak_reserved_gb=f"{r['reserved'] / 2**30:.4f}", notes="; ".join(notes), status="ok", trust="A", complete=1)
    return row, dict(id=row["id"], date="2026-11-26", card=r["card"], steps=r["steps"], step_min_s=r["step_min"], step_max_s=r["step_max"],
                     step_sd_s=r["step_sd"], synchronised_step_s=r["synced_s"], busy_ms=r.get("profile", {}).get("busy_ms", ""),
                     kernels=r.get("profile", {}).get("kernels", ""), forward_ms=r["parts_ms"]["forward_first"],
                     backward_ms=r["parts_ms"]["backward_and_rest"], clip_ms=r["parts_ms"]["clip"], optimizer_ms=r["parts_ms"]["optimizer"],
                     sm_mhz=r.get("sm_mhz", ""), watts=r.get("watts", ""), experts=r.get("experts_implementation", ""))


def main():
    out, calls = sys.argv[1], sys.argv[2:]
    header = open(os.path.join(out, "measured_runs.csv")).readline().strip().split(",")
    table, details, seen = [], [], set()
    for r in rows(os.path.join(c, "train.jsonl") for c in calls if os.path.exists(os.path.join(c, "train.jsonl"))):
        if r.get("kind") != "train" or "step_s" not in r or "smoke" in r["id"]:
            continue
        row, detail = run(r, header)
        if row["id"] not in seen:
            seen.add(row["id"])
            table.append(row)
            details.append({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in detail.items()})
    for name, lines in (("own_runs.csv", table), ("own_runs_details.csv", details)):
        with open(os.path.join(out, name), "w", newline="") as f:
            w = csv.DictWriter(f, lines[0].keys(), lineterminator="\n")
            w.writeheader()
            w.writerows(lines)
    keep = ["card", "op", "pass_", "kernel", "dtype", "scaling", "groups", "m", "n", "k", "balance", "batch", "seq_q", "heads", "kv_heads", "head_dim",
            "head_dim_v", "causal", "rows", "width", "list", "parameters", "us", "forward_us", "backward_us", "host_us", "tflops", "sm_mhz", "watts"]
    with open(os.path.join(out, "..", "operators", "measured.csv"), "w", newline="") as f:
        w = csv.DictWriter(f, keep, extrasaction="ignore", lineterminator="\n")
        w.writeheader()
        for r in rows(os.path.join(c, "ops.jsonl") for c in calls if os.path.exists(os.path.join(c, "ops.jsonl"))):
            if r.get("kind") == "op" and "error" not in r:
                w.writerow({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in r.items()})


if __name__ == "__main__":
    main()
