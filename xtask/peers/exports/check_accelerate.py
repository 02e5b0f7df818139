"""accelerate's own configuration class and TRL's parser on exported YAML.

Usage: check_accelerate.py FILE...   FILEs are accelerate's; TRL's arguments lie beside them. Needs accelerate, trl and peft. What is
checked: no unknown key, a mesh that makes up all processes, arguments that TRL's parser takes.
"""

import contextlib
import io
import os
import sys

os.environ.setdefault("ACCELERATE_USE_CPU", "true")


def check(path):
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.parallelism_config import ParallelismConfig
    from trl import ModelConfig, SFTConfig, TrlParser

    config = load_config_from_file(path)
    mesh = getattr(config, "parallelism_config", None) or {}
    if mesh:
        sizes = {key.removeprefix("parallelism_config_"): value for key, value in mesh.items()}
        sizes.pop("cp_comm_strategy", None)
        total = ParallelismConfig(**sizes).total_size
        assert total == config.num_processes, f"{total} ranks in the mesh, {config.num_processes} processes"
    arguments = path.replace("accelerate.yaml", "trl_arguments.yaml")
    out, model = TrlParser((SFTConfig, ModelConfig)).parse_args_and_config(["--config", arguments, "--use_cpu", "--bf16", "false"])
    assert out.max_length and out.per_device_train_batch_size


def main():
    files = sys.argv[1:]
    import accelerate
    import trl

    refused = 0
    for path in files:
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                check(path)
            print("ok", os.path.basename(path))
        except (Exception, SystemExit) as error:
            refused += 1
            why = " ".join(out.getvalue().split())[-300:] if isinstance(error, SystemExit) else ""
            print(f"refused {os.path.basename(path)}: {type(error).__name__} {' '.join(str(error).split())[:300]} {why}")
    print(f"{len(files) - refused} of {len(files)} accepted by accelerate {accelerate.__version__} and trl {trl.__version__}")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
