"""Keys that frameworks accept, as facts, for `crates/launch/data/export_keys.csv`.

Usage: table_keys.py SOURCES COMMITS > crates/launch/data/export_keys.csv
SOURCES is the folder of check.sh; COMMITS is a text such as `torchtitan=238fa995 axolotl=067b021c llama-factory=ff6d4d12
maxtext=e591f30c`, put into the table as the version. accelerate and TRL are the installed packages.

Columns: the framework, its version, and a key (`section.key` where a file has sections).
"""

import contextlib
import dataclasses
import os
import re
import sys

import pretend


def sections(config, prefix=""):
    for field in dataclasses.fields(config):
        kind = field.type
        if dataclasses.is_dataclass(kind):
            yield from sections(kind, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name


def main():
    sources = sys.argv[1]
    commits = dict(word.split("=", 1) for word in sys.argv[2].split())
    os.environ["DISABLE_VERSION_CHECK"] = "1"
    rows = []
    with contextlib.redirect_stdout(sys.stderr):
        import accelerate
        import trl
        from accelerate.commands.config.config_args import ClusterConfig

        rows += [("accelerate", accelerate.__version__, key.name) for key in dataclasses.fields(ClusterConfig)]
        from trl import ModelConfig, SFTConfig

        rows += [("trl", trl.__version__, key.name) for kind in (SFTConfig, ModelConfig) for key in dataclasses.fields(kind)]
        from transformers import TrainingArguments

        pretend.modules("torchao", "bitsandbytes", "addict", "art", "colorama", "fire", "torchvision", "datasets", "posthog", "axolotl_contribs_lgpl", "axolotl_contribs_mit", "torchdata", "av", "gradio", "matplotlib", "modelscope", "librosa", "torchaudio")
        sys.path.insert(0, os.path.join(sources, "titan-2026-02"))
        from torchtitan.config.job_config import JobConfig

        rows += [("torchtitan", commits["torchtitan"], key) for key in sections(JobConfig)]
        sys.path.insert(0, os.path.join(sources, "axolotl", "src"))
        from axolotl.utils.schemas.config import AxolotlInputConfig

        rows += [("axolotl", commits["axolotl"], key) for key in AxolotlInputConfig.model_fields]
        sys.path.insert(0, os.path.join(sources, "llamafactory", "src"))
        from llamafactory.hparams import DataArguments, FinetuningArguments, ModelArguments

        kinds = (DataArguments, FinetuningArguments, ModelArguments, TrainingArguments)
        rows += [("llama-factory", commits["llama-factory"], key.name) for kind in kinds for key in dataclasses.fields(kind)]
        with open(os.path.join(sources, "maxtext", "src", "maxtext", "configs", "base.yml")) as file:
            rows += [("maxtext", commits["maxtext"], key) for key in re.findall(r"^(\w+):", file.read(), re.M)]
    print("# Keys that frameworks accept; made by xtask/peers/exports/table_keys.py from their own classes")
    print("framework,version,key")
    for row in sorted(set(rows)):
        print(",".join(row))


if __name__ == "__main__":
    main()
