from torchtitan.components.optimizer import default_adamw
from torchtitan.components.quantization import Float8LinearConverter
from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.trainer import Trainer

from . import model_registry


def llama3_70b_ours() -> Trainer.Config:
    spec = model_registry("70B", converters=[Float8LinearConverter.Config(recipe_name="rowwise")])
    return Trainer.Config(
        model_spec=spec,
        optimizer=default_adamw(lr=1.5e-4),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=2 * 8192,
            max_context_length=8192,
            steps=1000,
        ),
        parallelism=ParallelismConfig(tensor_parallel_degree=8, data_parallel_shard_degree=-1),
        activation_checkpoint=FullAC.Config(),
        compile=CompileConfig(enable=True),
    )
