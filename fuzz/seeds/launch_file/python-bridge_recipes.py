"""Recipes of a team, on top of those of Megatron-Bridge."""

import torch

from megatron.bridge import AutoBridge
from megatron.bridge.recipes.common import _pretrain_common
from megatron.bridge.recipes.llama import llama3_70b_pretrain_config
from megatron.bridge.training.comm_overlap import CommOverlapConfig
from our.tuning import apply_team_defaults

SEQUENCE = 2 * 4096


def _parallel(cfg, tp, pp=1):
    cfg.model.tensor_model_parallel_size = tp
    cfg.model.pipeline_model_parallel_size = pp
    cfg.model.sequence_parallel = tp > 1


def llama32_3b_pretrain_config():
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Llama-3.2-3B").to_megatron_provider(load_weights=False)
    cfg.dataset.seq_length = SEQUENCE
    _parallel(cfg, tp=2)
    cfg.train.global_batch_size = 512
    cfg.train.micro_batch_size = 1
    cfg.ddp.use_distributed_optimizer = True
    cfg.ddp.overlap_grad_reduce = True
    cfg.optimizer.exp_avg_dtype = torch.float32
    cfg.mixed_precision = "bf16_mixed"
    return cfg


def llama3_70b_pretrain_64gpu_config(fast: bool = False, nodes=None):
    """The recipe that runs on Mondays."""
    cfg = llama3_70b_pretrain_config()
    _parallel(cfg, 4, pp=4)
    cfg.model.virtual_pipeline_model_parallel_size = None if fast else 5
    cfg.model.context_parallel_size = nodes
    cfg.train.global_batch_size = 256
    cfg.train.micro_batch_size = compute_micro_batch()
    if torch.cuda.get_device_capability()[0] >= 10:
        cfg.model.recompute_granularity = "full"
    if fast:
        cfg.train.global_batch_size = 1024
    cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=True)
    cfg.env_vars = {**BASE, "CUDA_DEVICE_MAX_CONNECTIONS": 1}
    return apply_team_defaults(cfg)


def llama3_70b_lora_config():
    cfg = llama3_70b_pretrain_config()
    cfg.peft = LoRA(dim=16, alpha=32)
    _parallel(cfg, 8)
    cfg.train.global_batch_size = 32
    return cfg
