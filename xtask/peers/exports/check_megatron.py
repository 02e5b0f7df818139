"""Megatron-LM's own parser and checks on exported scripts.

Usage: megatron.py SOURCE SCRIPT...   SOURCE is a checkout of Megatron-LM. Needs torch (without a GPU) and numpy.

Prints one line a script: `ok NAME`, or `refused NAME: why`. Exit code 1 when one is refused. Runs `parse_args`, `validate_args` and
`core_transformer_config_from_args`; nothing is trained. Refuses to judge what needs a GPU or Transformer Engine: a device of
compute capability 9.0 and a new Transformer Engine are pretended.
"""

import contextlib
import io
import os
import subprocess
import sys
import traceback
import types
from unittest import mock


def command_of(script):
    """The words of the last command and what the script exports; torchrun is replaced by a function that prints."""
    prelude = 'torchrun() { printf "%s\\0" "CUDA_DEVICE_MAX_CONNECTIONS=${CUDA_DEVICE_MAX_CONNECTIONS:-}" "NVTE_CPU_OFFLOAD_V1=${NVTE_CPU_OFFLOAD_V1:-}" "$@"; }\n'
    with open(script) as file:
        text = prelude + file.read()
    out = subprocess.run(["bash", "-c", text, script], capture_output=True, check=True).stdout
    words = out.decode().split("\0")[:-1]
    settings = dict(word.split("=", 1) for word in words[:2])
    words = words[2:]
    entry = next(i for i, word in enumerate(words) if word.endswith(".py"))
    launcher = dict(zip(words[:entry:2], words[1:entry:2]))
    world = int(launcher["--nproc_per_node"]) * int(launcher["--nnodes"])
    return settings, world, words[entry], words[entry + 1 :]


def check(script):
    from megatron.training import arguments

    settings, world, entry, flags = command_of(script)
    environment = {**os.environ, "RANK": "1", "WORLD_SIZE": str(world), "LOCAL_RANK": "1"}
    for name, value in settings.items():
        environment.pop(name, None)
        if value:
            environment[name] = value
    with mock.patch.dict(os.environ, environment, clear=True), mock.patch.object(sys, "argv", [entry, *flags]):
        args = arguments.parse_args()
        arguments.validate_args(args, {"tokenizer_type": "GPT2BPETokenizer"})
        args.padded_vocab_size = 128
        config_class = None
        if args.multi_latent_attention:
            from megatron.core.transformer.transformer_config import MLATransformerConfig as config_class
        arguments.core_transformer_config_from_args(args, *([config_class] if config_class else []))


def pretend():
    """What a machine with GPUs and Transformer Engine would answer."""
    import typing

    import torch
    import typing_extensions

    if not hasattr(typing, "override"):  # Megatron-LM asks for Python 3.12; nothing else in the way of its checks does.
        typing.override = typing_extensions.override
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(major=9, minor=0, total_memory=80 << 30, multi_processor_count=132)
    from megatron.core import utils
    import megatron.core.transformer.transformer_config as transformer_config
    import megatron.training.arguments as arguments
    import megatron.core.models.common.embeddings.rope_utils as rope
    import megatron.core.transformer.moe.moe_utils as moe

    for module in (utils, transformer_config, arguments):
        if hasattr(module, "is_te_min_version"):
            module.is_te_min_version = lambda *_, **__: True
    for module in (rope, moe):
        for name in vars(module).copy():
            if name.startswith("fused_") and getattr(module, name) is None:
                setattr(module, name, lambda *_, **__: None)
    for name in vars(moe).copy():
        if name.startswith("te_") and getattr(moe, name) is None:
            setattr(moe, name, lambda *_, **__: None)
    # Releases until 2026-05 leave these names out where Transformer Engine is missing.
    for name in ("fused_permute", "fused_permute_with_probs", "fused_sort_chunks_by_index", "fused_sort_chunks_by_index_with_probs", "fused_unpermute", "fused_topk_with_score_function", "fused_moe_aux_loss", "fused_compute_score_for_moe_aux_loss"):
        if not hasattr(moe, name):
            setattr(moe, name, lambda *_, **__: None)
    arguments.get_device_arch_version = lambda: 9


def main():
    source, scripts = sys.argv[1], sys.argv[2:]
    sys.path.insert(0, source)
    pretend()
    refused = 0
    for script in scripts:
        name = os.path.basename(script)
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                check(script)
            print("ok", name)
        except (Exception, SystemExit) as error:
            refused += 1
            if isinstance(error, SystemExit):
                why = out.getvalue().strip().splitlines()[-1:]
            else:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                why = f"{type(error).__name__} {' '.join(str(error).split())} ({os.path.basename(frame.filename)}:{frame.lineno})"
            print(f"refused {name}: {why}")
    print(f"{len(scripts) - refused} of {len(scripts)} accepted")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
