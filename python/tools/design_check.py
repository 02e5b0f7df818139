"""Compares the recommendations of `network design` with `network simulate`.

For each question: design, then simulate the three networks with the lowest cost per token, and two random
others of the front, each with its own plan and the purchased routing. A recommendation holds if no simulated
network is cheaper than the cheapest contender by more than its interval. Usage:

    python3 python/tools/design_check.py --program target/debug/railwright [--questions 3] [--limit 600]
"""

import argparse
import json
import random
import shlex
import subprocess
import time

QUESTIONS = [
    # Dense models, mixtures of experts and long sequences, sprayed and hashed routes.
    "llama-3-70b --cluster dgx-h100 --gpus 1024",
    "llama-3-70b --cluster dgx-h100 --gpus 1024 --network routing=ecmp",
    "qwen3-235b-a22b --cluster dgx-h100 --gpus 1024 --network routing=ecmp",
    "llama-3-70b --cluster dgx-h100 --gpus 2048 --sequence-length 131072",
    "deepseek-v3 --cluster dgx-h100 --gpus 2048",
    "qwen3-235b-a22b --cluster dgx-h100 --gpus 4096 --network routing=ecmp",
    "deepseek-v3 --cluster dgx-h100 --gpus 8192 --network routing=ecmp",
    "llama-3.1-405b --cluster dgx-h100 --gpus 16384 --network routing=ecmp",
    "llama-3.1-405b --cluster dgx-h100 --gpus 32768",
    "llama-3.1-405b --cluster dgx-h100 --gpus 98304",
]

# As in the second round of `network design`.
SEEDS = 3


def call(program, words, limit):
    """The JSON of a command, and its wall-clock seconds."""
    start = time.time()
    command = [program, "network", *words, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    if not ran.stdout.strip():
        raise RuntimeError(ran.stderr.strip().splitlines()[-1])
    return json.loads(ran.stdout), time.time() - start


def simulated(program, question, row, flags, limit):
    """Median step on a network with its own plan, in seconds."""
    words = shlex.split(question)
    keys, rest = [], []
    while words:
        word = words.pop(0)
        if word == "--network":
            keys.append(words.pop(0))
        else:
            rest.append(word)
    routing = row["simulated"]["routing"] if row.get("simulated") else None
    keys = [key for key in keys if not key.startswith("routing=")]
    if row["topology"] not in ("dragonfly", "slim-fly", "scale-up"):
        keys.append(f"leaf_oversubscription={row['oversubscription']}")
    command = ["simulate", *rest, *shlex.split(flags), "--topology", row["topology"]]
    command += ["--network-bandwidth", f"{row['speed'] * 8 / 1e9}Gbit/s"]
    command += ["--routing", routing] if routing else []
    command += ["--seeds", str(SEEDS)] if routing in ("ecmp", "static") else []
    for key in keys:
        command += ["--network", key]
    answer, _ = call(program, command, limit)
    over = answer.get("over_seeds")
    if over:
        return over["median"]
    return answer["step_time"]


def check(program, question, limit, draw):
    """One line of the table, and true if the recommendation holds."""
    answer, seconds = call(program, ["design", *shlex.split(question), "--domains", "8"], limit)
    rows = answer["rows"]
    costs = {n: row["simulated"]["dollars"] for n, row in enumerate(rows) if row.get("simulated")}
    first = sorted(costs, key=costs.get)[:3]
    others = [n for n in costs if rows[n]["on_front"] and n not in first]
    chosen = first + draw.sample(others, min(2, len(others)))
    contenders = answer["contenders"]
    own = {}
    for n in chosen:
        row = rows[n]
        step = simulated(program, question, row, answer["classes"][row["class"]]["flags"], limit)
        own[n] = row["share"]["cluster"]["dollars_per_million_tokens"] * step / row["step_time"]
    best = min(own, key=own.get)
    margin = rows[first[0]]["simulated"]["dollars_high"]
    holds = best in contenders or own[best] > margin
    worst = max(abs(own[n] / costs[n] - 1) for n in own)
    name = "{topology} {built_oversubscription:g}:1 {speed:.0f} GB/s".format
    shown = {**rows[best], "speed": rows[best]["speed"] / 1e9}
    verdict = "winner" if len(contenders) == 1 else f"{len(contenders)} equal"
    line = f"{question} | {seconds:.0f} s | {verdict} | {name(**shown)} | {worst:.1e} | {'yes' if holds else 'NO'}"
    return line, holds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--limit", type=float, default=1800, help="seconds of one command")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    draw = random.Random(asked.seed)
    print("question | design | answer | cheapest when simulated | largest difference of costs | holds")
    held = []
    for question in QUESTIONS[: asked.questions]:
        try:
            line, holds = check(asked.program, question, asked.limit, draw)
        except (RuntimeError, subprocess.TimeoutExpired, KeyError) as problem:
            line, holds = f"{question} | {type(problem).__name__}: {problem}"[:300], False
        held.append(holds)
        print(line, flush=True)
    print(f"{sum(held)} of {len(held)} hold")


if __name__ == "__main__":
    main()
