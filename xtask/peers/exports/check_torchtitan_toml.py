"""torchtitan's own configuration manager on exported TOML, of versions whose configurations are TOML (until February 2026).

Usage: check_torchtitan_toml.py SOURCE FILE...   SOURCE is a checkout of 238fa995 or older. Parses each file as `--job.config_file`, and
looks up name and flavour of the model and every converter.
"""

import contextlib
import importlib
import io
import os
import sys

import pretend


def main():
    source, files = sys.argv[1], sys.argv[2:]
    sys.path.insert(0, source)
    pretend.modules("torchdata", "grain", "datasets", "torchao", "tensorboard", "wandb", "torchft", "einops", "tokenizers", "safetensors", "torchvision", "PIL", "deep_ep")
    from torchtitan.config.manager import ConfigManager

    refused = 0
    for path in files:
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                config = ConfigManager().parse_args([f"--job.config_file={path}"])
                models = importlib.import_module(f"torchtitan.models.{config.model.name}").get_train_spec().model_args
            if config.model.flavor not in models:
                raise ValueError(f"{config.model.name} has no flavour {config.model.flavor}: {sorted(models)}")
            for name in config.model.converters:
                with open(os.path.join(source, "torchtitan", "components", "quantization", "__init__.py")) as file:
                    known = file.read()
                if name not in known + "".join(open(os.path.join(source, "torchtitan", "components", "quantization", f)).read() for f in ("float8.py", "mx.py")):
                    raise ValueError(f"no converter {name}")
            print("ok", os.path.basename(path))
        except (Exception, SystemExit) as error:
            refused += 1
            why = " ".join(out.getvalue().split())[-600:] if isinstance(error, SystemExit) else ""
            print(f"refused {os.path.basename(path)}: {type(error).__name__} {' '.join(str(error).split())[:300]} {why}")
    print(f"{len(files) - refused} of {len(files)} accepted")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
