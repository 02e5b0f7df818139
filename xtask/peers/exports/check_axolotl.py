"""Axolotl's own schema on exported YAML.

Usage: check_axolotl.py SOURCE FILE...   SOURCE is Axolotl's `src` folder. Needs torch, transformers, pydantic, accelerate.
"""

import contextlib
import io
import os
import sys

import pretend
import yaml


def main():
    source, files = sys.argv[1], sys.argv[2:]
    sys.path.insert(0, source)
    pretend.modules("torchao", "bitsandbytes", "addict", "art", "colorama", "fire", "torchvision", "datasets", "posthog", "ring_flash_attn", "axolotl_contribs_lgpl", "axolotl_contribs_mit")
    with contextlib.redirect_stdout(io.StringIO()):
        from axolotl.utils.schemas.config import AxolotlInputConfig

    refused = 0
    for path in files:
        try:
            with open(path) as file:
                config = yaml.safe_load(file)
            unknown = set(config) - set(AxolotlInputConfig.model_fields)
            if unknown:
                raise ValueError(f"unknown keys {unknown}")
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                AxolotlInputConfig(**config)
            print("ok", os.path.basename(path))
        except Exception as error:  # noqa: BLE001
            refused += 1
            print(f"refused {os.path.basename(path)}: {type(error).__name__} {' '.join(str(error).split())[:400]}")
    print(f"{len(files) - refused} of {len(files)} accepted")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
