//! Causes of silent errors, of missing settings and of poor messages in an unseen draw of public launch
//! files (twenty-third, November 2026), each with a text of its own.

use crate::folder;
use crate::remarks;
use railwright_launch::{Context, Launch, RemarkKind, read_with};
use remarks::has;

fn is_open(read: &Launch, key: &str) -> bool {
    read.open.iter().any(|open| open.key == key)
}

/// A key of the trainer changes nothing of one for 16-bit states.
#[test]
fn pure_bf16_counts_beside_bf16() {
    let text = "model_name_or_path: meta-llama/Llama-3.1-8B\nstage: sft\ndo_train: true\nfinetuning_type: full\ncutoff_len: 1024\n\
                per_device_train_batch_size: 1\nuse_muon: true\nbf16: true\npure_bf16: true\n";
    let read = folder::read(text, "run.yaml", &[]);
    folder::check(
        &read,
        &[
            ("plan.precision.preset", "\"bf16\""),
            ("plan.precision.master", "\"none\""),
            ("plan.precision.moments", "\"bf16\""),
            ("plan.optimizer", "\"muon\""),
        ],
    );
    let plain = folder::read(&text.replace("pure_bf16: true\n", ""), "run.yaml", &[]);
    folder::check(&plain, &[("plan.precision.preset", "\"bf16\""), ("plan.precision.master", "open")]);
}

/// Every runtime has a variable that makes launches wait, under its own name.
#[test]
fn blocking_launches_of_any_device_are_reported() {
    for name in ["ASCEND_LAUNCH_BLOCKING", "CUDA_LAUNCH_BLOCKING", "MUSA_LAUNCH_BLOCKING"] {
        let run = |value: &str| {
            let text = format!(
                "#!/bin/bash\nexport {name}={value}\ntorchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen3-8B \
                 --per_device_train_batch_size 1 --model_max_length 2048 --bf16 True --do_train True\n"
            );
            folder::read(&text, "run.sh", &[])
        };
        assert!(has(&run("1"), RemarkKind::NotModelled, name), "{name}");
        assert!(!has(&run("0"), RemarkKind::NotModelled, name), "{name}");
    }
}

/// The rank of adapters that a program computes is not PEFT's default.
#[test]
fn computed_shapes_of_adapters_stay_open() {
    let text = "from transformers import AutoModelForCausalLM, TrainingArguments, Trainer\nfrom peft import LoraConfig, get_peft_model\n\
                def main(spec):\n    model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen3-8B\")\n    \
                model = get_peft_model(model, LoraConfig(r=rank_of(spec), target_modules=[\"q_proj\"]))\n    \
                args = TrainingArguments(output_dir=\"out\", per_device_train_batch_size=2, bf16=True)\n    \
                Trainer(model=model, args=args).train()\n";
    let read = folder::read(text, "train.py", &[]);
    assert!(is_open(&read, "plan.lora_rank"), "{:?}", read.open);
    folder::check(&read, &[("plan.lora_rank", "open"), ("plan.lora_targets", "[\"q_proj\"]")]);
}

/// `--config_name` names the model that is trained from the start, by the path of its configuration.
#[test]
fn configurations_of_models_are_read_by_their_path() {
    const MODEL: &str = "{\"model_type\": \"llama\", \"hidden_size\": 1024, \"intermediate_size\": 3072, \"num_hidden_layers\": 24, \
                         \"num_attention_heads\": 16, \"vocab_size\": 32000}";
    let run = |flag: &str| {
        let text = format!(
            "#!/bin/bash\ntorchrun --nproc_per_node 8 run_clm.py {flag} --per_device_train_batch_size 4 --block_size 1024 --do_train \
             --bf16 true --save_steps 100\n"
        );
        folder::read(&text, "run.sh", &[("configs/small.json", MODEL), ("models/own/config.json", MODEL)])
    };
    for flag in ["--config_name /home/me/configs/small.json", "--model_name_or_path ./models/own"] {
        let read = run(flag);
        assert!(read.model_config.is_some(), "{flag}: {:?}", read.remarks);
    }
    let unknown = run("--model_name_or_path ./models/other");
    assert!(unknown.model_config.is_none() && is_open(&unknown, "model.name"));
}

/// A program's own key for the batch excludes the trainer's default.
#[test]
fn own_keys_of_the_batch_exclude_its_default() {
    let text = "model_name_or_path: Qwen/Qwen3-8B\nnum_train_epochs: 1\nnum_generations: 8\nmax_prompt_length: 512\n\
                max_completion_length: 512\nper_device_train_batch_samples: 2\nbf16: true\n";
    let read = folder::read(text, "grpo.yaml", &[]);
    folder::check(&read, &[("plan.micro_batch", "open"), ("plan.sequence_length", "1024")]);
    assert!(is_open(&read, "plan.micro_batch"), "{:?}", read.open);
}

/// A program on TRL whose settings are arguments of its command line has their defaults.
#[test]
fn defaults_of_a_command_line_are_read() {
    let text = "import argparse\nimport transformers\nimport trl\nfrom own import run_training\n\
                def main(args):\n    model = transformers.AutoModelForCausalLM.from_pretrained(args.model)\n    \
                if isinstance(args.loss, str):\n        pass\n    elif isinstance(args.loss, list):\n        pass\n    else:\n        \
                raise ValueError(args.loss)\n    \
                config = trl.DPOConfig(max_length=args.max_length, per_device_train_batch_size=args.batch, \
                gradient_accumulation_steps=args.steps, bf16=True)\n    \
                trainer = trl.DPOTrainer(model=model, args=config)\n    run_training(trainer)\n\
                if __name__ == \"__main__\":\n    parser = argparse.ArgumentParser()\n    \
                parser.add_argument(\"--model\", required=True)\n    \
                parser.add_argument(\"--loss\", nargs=\"+\", default=[\"sigmoid\"])\n    \
                parser.add_argument(\"--max_length\", type=int, default=4096)\n    \
                parser.add_argument(\"--batch\", type=int, default=8)\n    \
                parser.add_argument(\"--steps\", type=int, default=2)\n    main(parser.parse_args())\n";
    let read = folder::read(text, "dpo.py", &[]);
    folder::check(
        &read,
        &[("plan.sequence_length", "4096"), ("plan.micro_batch", "8"), ("plan.micro_batches", "2")],
    );
    assert!(has(&read, RemarkKind::Unresolved, "have their defaults"), "{:?}", read.remarks);
    assert!(has(&read, RemarkKind::Unresolved, "the model is unknown"), "{:?}", read.remarks);
}

/// A command without a configuration starts its program with the default one.
#[test]
fn default_configurations_of_programs_are_read() {
    const PROGRAM: &str =
        "import os\nc = os.path.join(os.path.dirname(__file__), \"configs\", \"grpo.yaml\")\n";
    const CONFIG: &str = "grpo:\n  num_prompts_per_step: 8\npolicy:\n  model_name: Qwen/Qwen3-8B\n  train_global_batch_size: 32\n  \
                          train_micro_batch_size: 1\n  max_total_sequence_length: 2048\n  precision: bfloat16\n  dtensor_cfg:\n    \
                          enabled: true\n    tensor_parallel_size: 1\ncluster:\n  gpus_per_node: 8\n  num_nodes: 1\n";
    let text = "#!/bin/bash\nuv run examples/run_grpo.py policy.model_name=Qwen/Qwen3-0.6B cluster.gpus_per_node=2 \
                policy.train_global_batch_size=4 policy.train_micro_batch_size=1 policy.max_total_sequence_length=1024\n";
    let read = folder::read(text, "run.sh", &[("run_grpo.py", PROGRAM), ("configs/grpo.yaml", CONFIG)]);
    folder::check(
        &read,
        &[
            ("model.name", "\"qwen3-0.6b\""),
            ("plan.global_batch", "4"),
            ("plan.sequence_length", "1024"),
            ("plan.tensor_parallel", "1"),
            ("cluster.devices", "2"),
        ],
    );
    assert!(has(&read, RemarkKind::Assumed, "names no configuration"), "{:?}", read.remarks);
}

/// Hydra composes a configuration of the files in its list of defaults.
#[test]
fn files_of_a_list_of_defaults_are_composed() {
    const MODEL: &str = "model_name_or_path: Qwen/Qwen3-8B\nmax_seq_length: 1024\n";
    let text = "defaults:\n  - model: small\n  - optim: adam\n  - _self_\ntrain:\n  max_seq_length: 4096\n  micro_batch_size: 2\n  lr: 1e-4\n";
    let read = folder::read(text, "train.yaml", &[("model/small.yaml", MODEL)]);
    folder::check(&read, &[("model.name", "\"qwen3-8b\""), ("plan.micro_batch", "2")]);
    assert!(has(&read, RemarkKind::Unresolved, "optim/adam.yaml"), "{:?}", read.remarks);
}

/// DeepSpeed's file that a script makes of a template has the stage that `sed` puts there.
#[test]
fn files_that_sed_makes_are_read() {
    const TEMPLATE: &str =
        "{\n  \"train_batch_size\": GBS,\n  \"zero_optimization\": {\n    \"stage\": ZERO_STAGE\n  }\n}\n";
    let text = "#!/bin/bash\nGLOBAL=256\nstage=1\ntemplate=ds_TEMPLATE.json\nconfig=ds_gbs${GLOBAL}.json\n\
                sed \"s/GBS/${GLOBAL}/\" ${template} \\\n  | sed \"s/ZERO_STAGE/${stage}/\" \\\n  > ${config}\n\
                deepspeed pretrain_gpt.py --deepspeed --deepspeed_config ${config} --num-layers 24 --hidden-size 1024 \
                --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 4 \
                --global-batch-size ${GLOBAL} --fp16 --vocab-size 50257\n";
    let read = folder::read(text, "run.sh", &[("ds_TEMPLATE.json", TEMPLATE)]);
    folder::check(&read, &[("plan.sharding", "\"zero1\"")]);
    // A pattern or an unknown value leaves the file, and so the stage, open.
    for other in [text.replace("s/ZERO_STAGE/", "s/ZERO_STAG./"), text.replace("stage=1\n", "stage=$1\n")] {
        assert!(is_open(&folder::read(&other, "run.sh", &[("ds_TEMPLATE.json", TEMPLATE)]), "plan.sharding"));
    }
}

/// ms-swift names the model, and a flag its prediction modules.
#[test]
fn prediction_modules_of_named_models_are_left_out() {
    let text = "#!/bin/bash\nNPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-8B --tensor_model_parallel_size 2 --micro_batch_size 1 \
                --global_batch_size 16 --max_length 4096 --mtp_num_layers 1 --tuner_type full --packing true\n";
    let read = folder::read(text, "run.sh", &[]);
    folder::check(&read, &[("model.mtp", "open")]);
    assert!(has(&read, RemarkKind::NotModelled, "prediction modules"), "{:?}", read.remarks);
}

/// Switches for parts of vision models show that an estimate of the language model alone leaves them out.
#[test]
fn vision_towers_that_are_left_out_are_named() {
    let text = "#!/bin/bash\nNPROC_PER_NODE=8 swift sft --model Qwen/Qwen3.5-2B --tuner_type lora --freeze_vit true --max_length 2048 \
                --per_device_train_batch_size 1\n";
    let read = folder::read(text, "run.sh", &[]);
    assert!(has(&read, RemarkKind::NotModelled, "without vision tower"), "{:?}", read.remarks);
}

/// A file of another kind of program is still refused.
#[test]
fn lists_without_training_stay_unknown() {
    let text = "MODEL: gpt\nTP: 1\nBATCH_SIZES:\n  - 8\nMETRICS:\n  - latency\n";
    assert!(read_with(text, "x.yaml", &Context::default()).is_none());
}

/// GPT-NeoX has kinds of layers that are no attention.
#[test]
fn layers_without_attention_are_refused() {
    let of = |kind: &str| {
        let text = format!(
            "{{\n  \"pipe_parallel_size\": 1,\n  \"model_parallel_size\": 1,\n  \"num_layers\": 24,\n  \"hidden_size\": 768,\n  \
             \"num_attention_heads\": 12,\n  \"seq_length\": 2048,\n  \"max_position_embeddings\": 2048,\n  \
             \"attention_config\": [[[\"{kind}\"], 24]],\n  \"train_micro_batch_size_per_gpu\": 4,\n  \
             \"precision\": \"bfloat16\",\n  \"te_fp8_format\": \"hybrid\"\n}}\n"
        );
        read_with(&text, "neox.yml", &Context::default()).expect("a launch file")
    };
    let flash = of("flash").expect("attention");
    assert!(!is_open(&flash, "plan.precision.compute"), "{:?}", flash.open);
    for kind in ["mamba", "rwkv", "gmlp"] {
        let problems = of(kind).expect_err("no attention");
        assert!(problems.iter().any(|problem| problem.to_string().contains(kind)), "{problems:?}");
    }
}

/// A script that exports its model afterwards is read by its training.
#[test]
fn training_comes_before_exports() {
    const RUN: &str = "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\nfinetuning_type: full\ncutoff_len: 1024\n";
    let text = "#!/bin/bash\nllamafactory-cli train conf/run.yaml\nllamafactory-cli export conf/merge.yaml\n";
    let read = folder::read(text, "run.sh", &[("conf/run.yaml", RUN)]);
    folder::check(&read, &[("model.name", "\"qwen3-8b\""), ("plan.sequence_length", "1024")]);
}

/// The commands of a cluster's job file are those of a script.
#[test]
fn commands_of_job_files_are_read() {
    const RUN: &str = "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\nfinetuning_type: full\ncutoff_len: 1024\n";
    let list = "target:\n  service: aml\nsearch:\n  job_template:\n    sku: 1xG8\n    command:\n    - pip install -e .\n    # - pip\n    \
                - torchrun --nproc_per_node=8 src/train.py conf/run.yaml\n    submit_args:\n      env: {}\n";
    let block = "resources:\n  accelerators: H100:8\nrun: |\n  cd work\n  torchrun --nproc_per_node=8 src/train.py conf/run.yaml\n";
    for text in [list, block] {
        let read = folder::read(text, "job.yaml", &[("conf/run.yaml", RUN)]);
        folder::check(&read, &[("model.name", "\"qwen3-8b\""), ("cluster.devices", "8")]);
    }
    let other = "stages:\n  - build\nbuild:\n  script:\n    - make all\n";
    assert!(read_with(other, "ci.yaml", &Context::default()).is_none());
}

/// Dimensions that a named model lacks are those of another one.
#[test]
fn dimensions_beside_a_name_leave_the_model_open() {
    let of = |layers: u64| {
        let text = format!(
            "base_model: Qwen/Qwen3-0.6B\nnum_hidden_layers: {layers}\nmicro_batch_size: 2\nmax_seq_length: 1024\nlr: 1e-4\nown: 1\n"
        );
        folder::read(&text, "own.yaml", &[])
    };
    assert!(is_open(&of(8), "model.name"));
    folder::check(&of(28), &[("model.name", "\"qwen3-0.6b\"")]);
}
