"""A NeMo 2 run of our own."""

import nemo_run as run
from megatron.core.distributed import DistributedDataParallelConfig
from nemo import lightning as nl
from nemo.collections import llm
from nemo.collections.llm.gpt.data.mock import MockDataModule
from nemo.collections.llm.gpt.model.llama import Llama3Config70B, LlamaModel
from nemo.collections.llm.recipes.precision.mixed_precision import bf16_mixed
from nemo.lightning.pytorch.callbacks.megatron_comm_overlap import MegatronCommOverlapCallback


def trainer(tensor_parallelism: int = 4, num_nodes: int = 4, callbacks=None):
    strategy = run.Config(
        nl.MegatronStrategy,
        tensor_model_parallel_size=tensor_parallelism,
        pipeline_model_parallel_size=4,
        virtual_pipeline_model_parallel_size=5,
        sequence_parallel=True,
        ddp=run.Config(DistributedDataParallelConfig, overlap_grad_reduce=True, grad_reduce_in_fp32=True),
    )
    return run.Config(
        nl.Trainer, devices=8, num_nodes=num_nodes, max_steps=100, plugins=bf16_mixed(), strategy=strategy, callbacks=callbacks
    )


def our_recipe(performance_mode: bool = True):
    recipe = run.Partial(
        llm.pretrain,
        model=run.Config(LlamaModel, config=run.Config(Llama3Config70B)),
        trainer=trainer(num_nodes=8, callbacks=[]),
        data=run.Config(MockDataModule, seq_length=8192, global_batch_size=512, micro_batch_size=1),
    )
    if performance_mode:
        recipe.trainer.callbacks.append(run.Config(MegatronCommOverlapCallback, tp_comm_overlap=True))
        recipe.trainer.plugins.grad_reduce_in_fp32 = False
    return recipe


if __name__ == "__main__":
    run.run(our_recipe(), executor=run.LocalExecutor())
