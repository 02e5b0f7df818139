"""Exact parameter counts of diffusion transformers, for their default and some published configurations.

Instantiates each class on the meta device and writes one JSON line: the configuration as diffusers saves it, and the number of parameters.

    python crates/spec/tests/data/diffusion.py > crates/spec/tests/data/diffusion.jsonl      # CPU torch is enough
"""
import json

import diffusers
import torch

# The published sizes: keys that differ from the class's defaults.
CONFIGURATIONS = [
    ("DiTTransformer2DModel", {}),  # DiT-XL/2
    ("FluxTransformer2DModel", {}),  # FLUX.1 schnell
    ("FluxTransformer2DModel", {"guidance_embeds": True}),  # FLUX.1 dev
    ("SD3Transformer2DModel", {}),
    ("SD3Transformer2DModel", {"num_layers": 24, "num_attention_heads": 24, "caption_projection_dim": 1536, "pos_embed_max_size": 192}),
    ("SD3Transformer2DModel", {"num_layers": 38, "num_attention_heads": 38, "caption_projection_dim": 2432, "qk_norm": "rms_norm"}),
    ("SD3Transformer2DModel", {"num_layers": 24, "num_attention_heads": 24, "caption_projection_dim": 1536, "qk_norm": "rms_norm",
                               "dual_attention_layers": list(range(13))}),
    ("QwenImageTransformer2DModel", {}),
    ("HunyuanVideoTransformer3DModel", {}),
    ("CogVideoXTransformer3DModel", {}),  # 2b
    ("CogVideoXTransformer3DModel", {"num_layers": 42, "num_attention_heads": 48, "use_rotary_positional_embeddings": True}),  # 5b
    ("WanTransformer3DModel", {}),  # 2.1, 14B
    ("WanTransformer3DModel", {"num_layers": 30, "num_attention_heads": 12, "ffn_dim": 8960}),  # 2.1, 1.3B
    ("WanTransformer3DModel", {"in_channels": 36, "image_dim": 1280, "added_kv_proj_dim": 5120}),  # 2.1, image to video
    ("PixArtTransformer2DModel", {"caption_channels": 4096}),
    ("PixArtTransformer2DModel", {"caption_channels": 4096, "sample_size": 64}),
    ("LTXVideoTransformer3DModel", {}),
]

for name, changes in CONFIGURATIONS:
    with torch.device("meta"):
        model = getattr(diffusers, name)(**changes)
    config = {key: value for key, value in model.config.items() if not key.startswith("_")}
    config = {"_class_name": name, "_diffusers_version": diffusers.__version__, **config}
    print(json.dumps({"config": config, "parameters": sum(p.numel() for p in model.parameters())}))
