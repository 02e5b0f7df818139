"""torchtitan's own configuration manager on exported configurations, of versions whose configurations are Python.

Usage: check_torchtitan.py SOURCE FILE...   SOURCE is the folder that holds the package. Loads each file as `--module`, and builds the
configuration `plan` with the manager, which checks it.
"""

import contextlib
import io
import os
import shutil
import sys
import tempfile

import pretend


def main():
    source, files = sys.argv[1], sys.argv[2:]
    sys.path.insert(0, source)
    pretend.modules("torchdata", "grain", "datasets", "torchao", "spmd_types", "fla", "tyro_missing", "tensorboard", "wandb", "torchft", "renderers", "av", "torchcodec", "einops", "tokenizers", "safetensors", "torchvision", "PIL", "deep_ep")
    from torchtitan.config.manager import ConfigManager

    import torchtitan.tools.utils as utils

    # What a machine with GPUs of 2025 answers.
    utils.has_cuda_capability = lambda *_: True
    for module in list(sys.modules.values()):
        if hasattr(module, "has_cuda_capability"):
            module.has_cuda_capability = lambda *_: True

    refused = 0
    folder = tempfile.mkdtemp()
    sys.path.insert(0, folder)
    for index, path in enumerate(files):
        module = f"exported_{index}"
        shutil.copy(path, os.path.join(folder, module + ".py"))
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                ConfigManager().parse_args(["--module", module, "--config", "plan"])
            print("ok", os.path.basename(path))
        except (Exception, SystemExit) as error:
            refused += 1
            print(f"refused {os.path.basename(path)}: {type(error).__name__} {' '.join(str(error).split())[:300]} {' '.join(out.getvalue().split())[-1500:] if isinstance(error, SystemExit) else ''}")
    print(f"{len(files) - refused} of {len(files)} accepted")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
