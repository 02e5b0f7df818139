"""DeepSpeed's own configuration class on exported JSON.

Usage: check_deepspeed.py FILE...   Needs the package deepspeed (and torch without a GPU). As many replicas are pretended as the batch of
a file has.
"""

import contextlib
import io
import json
import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")


def main():
    files = sys.argv[1:]
    with contextlib.redirect_stdout(io.StringIO()):
        import deepspeed
        from deepspeed import comm
        from deepspeed.runtime.config import DeepSpeedConfig

    refused = 0
    for path in files:
        with open(path) as file:
            config = json.load(file)
        try:
            replicas = config["train_batch_size"] // (config["train_micro_batch_size_per_gpu"] * config["gradient_accumulation_steps"])
            # The engine hands over the replicas of its mesh, not all ranks.
            comm.get_rank, comm.get_world_size = lambda *_: 0, lambda *_, world=replicas: world
            comm.is_initialized = lambda *_: True
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                DeepSpeedConfig(path)
            print("ok", os.path.basename(path))
        except Exception as error:  # noqa: BLE001
            refused += 1
            print(f"refused {os.path.basename(path)}: {type(error).__name__} {' '.join(str(error).split())[:300]}")
    print(f"{len(files) - refused} of {len(files)} accepted by DeepSpeed {deepspeed.__version__}")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
