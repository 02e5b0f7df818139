"""Exact parameter counts of the default configuration of every model type that transformers has.

Instantiates each type on the meta device (no memory, no weights) and writes one JSON line per type: the model class, what the
configuration says (cut down to what a count may depend on) and how many parameters there are, tied ones once.

    python crates/spec/tests/data/families.py > crates/spec/tests/data/families.jsonl      # CPU torch is enough
"""
import collections
import json
import math
import re
import signal
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
import transformers
from transformers.models.auto import configuration_auto, modeling_auto

transformers.logging.set_verbosity_error()

# Keys without effect on any count: generation, tokens, training noise, token ids.
NOISE = re.compile(
    r"^(is_encoder_decoder|pretraining_tp|is_decoder|add_cross_attention|scale_embedding|num_logits_to_keep|head_type|_name_or_path|transformers_version|architectures|torch_dtype|dtype|return_dict|output_.*|use_cache|id2label|label2id|"
    r"problem_type|.*_token_id|.*_token_index|bos_token.*|eos_token.*|initializer_.*|.*_dropout|dropout|.*dropout.*|.*_eps|.*epsilon|rope_.*|"
    r"chunk_size_feed_forward|is_encoder_decoder_|_.*|task_specific_params|finetuning_task|.*_coef|.*init_std|.*_prob|mask_.*|"
    r"gradient_checkpointing|layerdrop|.*layerdrop|embd_pdrop|attn_pdrop|resid_pdrop|begin_suppress_tokens|suppress_tokens)$")

def finite(value):
    return not (isinstance(value, float) and not math.isfinite(value))

def cut(value):
    if isinstance(value, dict):
        return {str(k): cut(v) for k, v in value.items() if not NOISE.match(str(k)) and v is not None and finite(v)}
    if isinstance(value, (list, tuple)):
        return [cut(v) for v in value if finite(v)]
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)

class Timeout(Exception):
    pass

def alarm(*_):
    raise Timeout()

signal.signal(signal.SIGALRM, alarm)

def count(config, auto):
    with torch.device("meta"):
        model = auto.from_config(config)
    # Every tensor once; on the meta device some ties are declared and not made, so both count.
    parameters = dict(model.named_parameters(remove_duplicate=True))
    tied = getattr(model, "all_tied_weights_keys", None) or {}
    for target, source in dict(tied).items():
        if target in parameters and source in parameters:
            del parameters[target]
    shapes = [(name, tuple(p.shape)) for name, p in parameters.items()]
    total = sum(p.numel() for p in parameters.values())
    return model, total, shapes

def dump(path, shapes):
    lines = collections.OrderedDict()
    for name, shape in shapes:
        key = (re.sub(r"\.\d+(?=\.|$)", ".#", name), shape)
        index = re.findall(r"\.(\d+)(?=\.|$)", name)
        lines.setdefault(key, []).append(index[0] if index else "")
    with open(path, "w") as out:
        for (name, shape), where in lines.items():
            out.write(f"{name}\t{'x'.join(map(str, shape))}\t{len(where)}\t{','.join(where[:12])}\n")

GROUPS = [
    ("causal", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES", "AutoModelForCausalLM"),
    ("masked", "MODEL_FOR_MASKED_LM_MAPPING_NAMES", "AutoModelForMaskedLM"),
    ("seq2seq", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES", "AutoModelForSeq2SeqLM"),
    ("speech", "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES", "AutoModelForSpeechSeq2Seq"),
    ("image_text", "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES", "AutoModelForImageTextToText"),
]

def main(only=None, shapes_to=None):
    for group, names, auto_name in GROUPS:
        mapping = getattr(modeling_auto, names)
        auto = getattr(transformers, auto_name)
        for kind in sorted(mapping):
            if only and kind not in only:
                continue
            try:
                signal.alarm(120)
                config = configuration_auto.CONFIG_MAPPING[kind]()
                keys = cut(config.to_dict())
                model, total, shapes = count(config, auto)
                keys["architectures"] = [type(model).__name__]
                word = model.get_input_embeddings()
                embedding = word.weight.numel() if hasattr(word, "weight") else 0
                row = {"group": group, "type": kind, "parameters": total, "embedding": embedding, "config": keys}
                print(json.dumps(row, separators=(",", ":")), flush=True)
                if shapes_to:
                    dump(f"{shapes_to}/{group}.{kind}.txt", shapes)
            except Exception as error:  # A type whose defaults do not make a model has no row.
                print(group, kind, type(error).__name__, str(error)[:120], file=sys.stderr, flush=True)
            finally:
                signal.alarm(0)

if __name__ == "__main__":
    main(set(sys.argv[2:]) or None, sys.argv[1] if len(sys.argv) > 1 else None)
