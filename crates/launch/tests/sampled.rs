//! Mechanisms of a second sample of public launch files, each in a small file of our own.
//!
//! Responsible for: values that a reader once read wrongly or left open. A row has the file, the keys with
//! their values, and a part of a remark.

use railwright_launch::{Context, read_with};
use railwright_spec::run::Value;

const VERL: &str = "python3 -m verl.trainer.main_ppo \\\n  actor_rollout_ref.model.path=$MODEL \\\n  actor_rollout_ref.actor.strategy=fsdp2 \\\n  \
    actor_rollout_ref.actor.optim.lr=1e-6 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2\n";

const NEOX: &str = "{\n  \"pipe_parallel_size\": 1,\n  \"model_parallel_size\": 1,\n  \"num_layers\": 16,\n  \"hidden_size\": 2048,\n  \
    \"num_attention_heads\": 8,\n  \"train_micro_batch_size_per_gpu\": 4\n}\n";

const FACTORY: &str = "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\nfinetuning_type: lora\ncutoff_len: 2048\ntemplate: llama3\n\
    per_device_train_batch_size: 2\nper_device_train_batch_size: 4\n";

const SFT: &str = "torchrun --standalone --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer \\\n  \
    model.partial_pretrain=Qwen/Qwen2.5-0.5B-Instruct data.micro_batch_size_per_gpu=4 data.train_files=$SAVE data.max_length=1024 \\\n  \
    model.lora_rank=$SAVE ulysses_sequence_parallel_size=2 use_remove_padding=true\n";

const NANOTRON: &str = "import torch\nfrom nanotron.config import Config, ParallelismArgs, TokensArgs\nfrom nanotron.models.llama import LlamaConfig\n\
    import os\nSTEPS = int(os.environ.get(\"STEPS\", \"100\"))\nsize = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=24, num_attention_heads=32, \
    num_key_value_heads=32, vocab_size=49152, max_position_embeddings=2048, tie_word_embeddings=True)\n\
    if __name__ == \"__main__\":\n    \
    parallelism = ParallelismArgs(dp=8, pp=1, tp=2, pp_engine=\"1f1b\", tp_mode=\"REDUCE_SCATTER\", tp_linear_async_communication=True)\n    \
    tokens = TokensArgs(batch_accumulation_per_replica=2, micro_batch_size=4, sequence_length=2048, train_steps=STEPS)\n    \
    model = ModelArgs(model_config=size, make_vocab_size_divisible_by=1, dtype=torch.bfloat16)\n    \
    optimizer = OptimizerArgs(zero_stage=0, accumulate_grad_in_fp32=True, optimizer_factory=AdamWOptimizerArgs(adam_eps=1e-8))\n    \
    config = Config(parallelism=parallelism, tokens=tokens, model=model, optimizer=optimizer)\n    \
    if os.environ.get(\"DEBUG\", \"0\") != \"0\":\n        config.parallelism.dp = 2\n    \
    config.save_as_yaml(\"out.yaml\")\n";

type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

#[test]
fn values_that_were_wrong_or_open() {
    let rows: &[Row] = &[
        (
            "of several commands of ms-swift the one that trains is read",
            "CUDA_VISIBLE_DEVICES=0 \\\nswift sft --model Qwen/Qwen2.5-7B --max_length 2048\n\nswift infer --model out/checkpoint-x --stream true\n",
            &[("model.name", "\"qwen2.5-7b\""), ("plan.sequence_length", "2048")],
            "",
        ),
        (
            "weights in another form are the same model",
            "base_model: axolotl-quants/Llama-4-Scout-17B-16E-Linearized-bnb-nf4-bf16\nmicro_batch_size: 1\nsequence_len: 4096\nadapter: lora\ndatasets:\n",
            &[("model.name", "\"llama-4-scout-17b-16e\"")],
            "-nf4",
        ),
        (
            "Megatron's adapters under NeMo-RL",
            "policy:\n  model_name: Qwen/Qwen3-8B\n  train_micro_batch_size: 1\n  megatron_cfg:\n    enabled: true\n    peft:\n      enabled: true\n      dim: 128\n      target_modules: []\n",
            &[
                ("plan.optimizer", "\"lora\""),
                ("plan.lora_rank", "128"),
                ("plan.lora_targets", "[\"all-linear\"]"),
            ],
            "",
        ),
        (
            "verl's own defaults",
            VERL,
            &[("plan.global_batch", "256"), ("plan.recompute", "\"full\"")],
            "did not before",
        ),
        (
            "verl's Megatron by the name of its configuration",
            "python3 -m verl.trainer.main_ppo --config-path=./config --config-name='ppo_megatron_trainer'\\\n actor_rollout_ref.model.path=Qwen/Qwen3-8B \
             actor_rollout_ref.actor.optim.lr=1e-6 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 actor_rollout_ref.rollout.n=2\n",
            &[
                ("plan.sharding", "\"zero1\""),
                ("plan.software", "\"megatron-core-2025\""),
                ("plan.global_batch", "512"),
                ("plan.recompute", "\"none\""),
            ],
            "",
        ),
        (
            "one accumulation step of GPT-NeoX",
            NEOX,
            &[("plan.micro_batch", "4"), ("plan.micro_batches", "1")],
            "",
        ),
        (
            "verl's fine-tuning",
            SFT,
            &[
                ("model.name", "\"qwen2.5-0.5b\""),
                ("cluster.devices", "8"),
                ("plan.global_batch", "256"),
                ("plan.micro_batch", "4"),
                ("plan.sequence_length", "1024"),
                ("plan.context_parallel", "2"),
                ("plan.context_kind", "\"ulysses\""),
                ("plan.sharding", "\"fsdp\""),
                ("plan.recompute", "\"full\""),
                ("plan.software", "\"torchtitan-2024-eager\""),
            ],
            "SAVE",
        ),
        (
            "verl's fine-tuning on Megatron packs by tokens",
            "torchrun --nnodes=2 --nproc-per-node=8 -m verl.trainer.sft_trainer data.train_batch_size=96 data.max_length=2048 \\\n  \
             model.path=Qwen/Qwen3-8B engine=megatron engine.tensor_model_parallel_size=2\n",
            &[
                ("cluster.devices", "16"),
                ("plan.global_batch", "96"),
                ("plan.micro_batch", "4"),
                ("plan.tensor_parallel", "2"),
                ("plan.sharding", "\"zero1\""),
                ("plan.recompute", "\"none\""),
            ],
            "",
        ),
        (
            "verl's fine-tuning packs the tokens of all ranks that share a sequence",
            "torchrun --nnodes=1 --nproc-per-node=8 -m verl.trainer.sft_trainer data.train_batch_size=96 data.max_length=4096 \\\n  \
             data.max_token_len_per_gpu=16384 model.path=Qwen/Qwen3-8B engine=fsdp engine.strategy=fsdp2 engine.ulysses_sequence_parallel_size=2\n",
            &[
                ("plan.micro_batch", "8"),
                ("plan.context_parallel", "2"),
                ("plan.software", "\"torchtitan-2024-eager\""),
            ],
            "",
        ),
        (
            "the precision of GPT-NeoX by its word",
            "{\n  \"pipe_parallel_size\": 1,\n  \"model_parallel_size\": 1,\n  \"num_layers\": 16,\n  \"hidden_size\": 2048,\n  \
             \"num_attention_heads\": 8,\n  \"precision\": \"fp16\",\n  \"global_num_gpus\": 16\n}\n",
            &[("plan.precision.preset", "\"fp16\""), ("cluster.devices", "16")],
            "",
        ),
        (
            "a loop with a test is stated, whatever is started before it",
            "pip install -e .\nMBS=1\nwhile [ $MBS -le 8 ]; do\n  torchrun --nproc_per_node=8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 \
             --num-attention-heads 32 --micro-batch-size $MBS --seq-length 4096\n  MBS=$((MBS*2))\ndone\n",
            &[("plan.micro_batch", "1")],
            "the first of 4 iterations is used",
        ),
        (
            "replicas of shards over the remaining devices stay open",
            "python3 -m MaxText.train MaxText/configs/base.yml model_name=llama2-7b per_device_batch_size=1 ici_fsdp_parallelism=-1 \
             dcn_data_parallelism=4\n",
            &[("plan.sharding", "-")],
            "set --sharding hsdp:N",
        ),
        (
            "a loop over overrides is stated",
            "for B in 1 2 4; do\n  python3 -m MaxText.train MaxText/configs/base.yml model_name=llama2-7b per_device_batch_size=$B steps=10 \
             ici_fsdp_parallelism=8\ndone\n",
            &[("plan.micro_batch", "1"), ("plan.sequence_length", "2048")],
            "the first of 3 iterations is used",
        ),
        (
            "what MaxText's base file sets, scaled",
            "python3 -m MaxText.train MaxText/configs/base.yml steps=10 ici_fsdp_parallelism=8 global_parameter_scale=8\n",
            &[
                ("model.hidden", "4096"),
                ("model.heads", "32"),
                ("model.ffn", "14336"),
                ("model.layers", "32"),
                ("plan.micro_batch", "12"),
                ("plan.sequence_length", "2048"),
            ],
            "",
        ),
        (
            "the axis that takes the rest is the one that is named",
            "model_name: mixtral-8x7b\nper_device_batch_size: 2\nmax_target_length: 4096\nici_tensor_parallelism: 4\ndcn_tensor_parallelism: -1\n",
            &[("plan.tensor_parallel", "-")],
            "dcn_tensor_parallelism = -1",
        ),
        (
            "a distilled student of MaxText",
            "base_config: base.yml\nstudent_overrides:\n  model_name: llama3.1-8b\nteacher_overrides:\n  model_name: llama3.1-70b\nper_device_batch_size: 2\nmax_target_length: 4096\n",
            &[("model.name", "\"llama-3-8b\"")],
            "the teacher",
        ),
        (
            "defaults of variables inside of each other",
            "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n    model: llama3.1_70B.yaml\n    overrides:\n      \
             micro_batch_size: 2\n      pipeline_model_parallel_size: ${PP:${STAGES:4}}\n",
            &[("plan.pipeline_parallel", "4")],
            "`PP` is assumed unset: 4",
        ),
        (
            "of a key that occurs twice the last applies",
            FACTORY,
            &[("plan.micro_batch", "4")],
            "per_device_train_batch_size: occurs twice",
        ),
        (
            "nanotron in Python",
            NANOTRON,
            &[
                ("model.layers", "24"),
                ("model.hidden", "2048"),
                ("cluster.devices", "16"),
                ("plan.tensor_parallel", "2"),
                ("plan.sequence_parallel", "true"),
                ("plan.micro_batch", "4"),
                ("plan.micro_batches", "2"),
                ("plan.precision.preset", "\"bf16\""),
                ("plan.sharding", "\"none\""),
                ("plan.schedule", "\"1f1b\""),
            ],
            "os.environ[\"DEBUG\"]: is assumed unset",
        ),
    ];
    for (name, text, values, remark) in rows {
        let launch = match read_with(text, "f", &Context::default()) {
            Some(Ok(launch)) => launch,
            other => panic!("{name}: {other:?}"),
        };
        for (key, expected) in *values {
            let value = launch.spec.get(key).as_ref().map_or_else(|| "-".to_owned(), Value::to_toml);
            assert_eq!(value, *expected, "{name}: {key}");
        }
        let remarks: Vec<String> =
            launch.remarks.iter().map(|r| format!("{}: {}", r.source, r.message)).collect();
        assert!(remark.is_empty() || remarks.iter().any(|r| r.contains(remark)), "{name}: {remarks:?}");
    }
}
