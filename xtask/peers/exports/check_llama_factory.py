"""LLaMA-Factory's own parser on exported YAML.

Usage: check_llama_factory.py SOURCE FILE...   SOURCE is LLaMA-Factory's `src` folder. Parses the arguments with the parser of training;
the checks that look for GPUs and for DeepSpeed's file at its place are left out.
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
    pretend.modules("datasets", "trl", "peft", "torchdata", "av", "gradio", "matplotlib", "tyro", "fire", "omegaconf", "modelscope", "librosa", "torchaudio")
    with contextlib.redirect_stdout(io.StringIO()):
        from llamafactory.hparams import DataArguments, FinetuningArguments, GeneratingArguments, ModelArguments
        from transformers import HfArgumentParser, TrainingArguments

    refused = 0
    for path in files:
        try:
            with open(path) as file:
                config = yaml.safe_load(file)
            # DeepSpeed's file is checked by DeepSpeed; number formats need a GPU.
            for key in ("deepspeed", "bf16", "fp16"):
                config.pop(key, None)
            parser = HfArgumentParser((ModelArguments, DataArguments, TrainingArguments, FinetuningArguments, GeneratingArguments))
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                parser.parse_dict(config)
            print("ok", os.path.basename(path))
        except Exception as error:  # noqa: BLE001
            refused += 1
            print(f"refused {os.path.basename(path)}: {type(error).__name__} {' '.join(str(error).split())[:400]}")
    print(f"{len(files) - refused} of {len(files)} accepted")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
