"""Many ranks from two: `replicate.py FOLDER RANKS` writes RANKS traces made from the two ranks of the Megatron run in fixtures/traces.

Every pair is a tensor-parallel group of its own, with its ranks renumbered; the group of the whole world holds all of them. Only metadata changes, so
that a trace costs what the real one costs.
"""

import gzip
import json
import pathlib
import sys

folder, ranks = pathlib.Path(sys.argv[1]), int(sys.argv[2])
if ranks < 2 or ranks % 2:
    sys.exit("error: RANKS must be even")
folder.mkdir(parents=True, exist_ok=True)
source = pathlib.Path("fixtures/traces/megatron_tp2_v100")
for shard in (0, 1):
    [path] = source.glob(f"rank{shard}.*.pt.trace.json.gz")
    trace = json.loads(gzip.open(path, "rt").read())
    moved = [event["args"] for event in trace["traceEvents"] if event.get("args", {}).get("Process Group Ranks") == "[0, 1]"]
    about = trace["distributedInfo"]
    for pair in range(ranks // 2):
        members = [2 * pair, 2 * pair + 1]
        for arguments in moved:
            arguments["Process Group Ranks"] = str(members)
        about["rank"], about["world_size"] = members[shard], ranks
        about["pg_config"] = [
            {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cpu:gloo,cuda:nccl", "pg_size": ranks, "ranks": list(range(ranks))},
            {"pg_name": "13", "pg_desc": "undefined", "backend_config": "cpu:gloo,cuda:nccl", "pg_size": 2, "ranks": members},
        ]
        with gzip.open(folder / f"rank{members[shard]}.pt.trace.json.gz", "wt", compresslevel=1) as out:
            json.dump(trace, out)
