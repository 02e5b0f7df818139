//! Structural causes of partial answers in all draws so far, and in an unseen draw of public launch files
//! (twenty-fourth, December 2026), each with a text of its own.

use crate::folder;
use crate::remarks;
use railwright_launch::{Context, Format, Launch, RemarkKind, detect, read_with};
use remarks::has;

fn is_open(read: &Launch, key: &str) -> bool {
    read.open.iter().any(|open| open.key == key)
}

/// A trainer of one's own, with the defaults of its command line.
const PROGRAM: &str = "import argparse\nimport torch\n\ndef parse():\n    p = argparse.ArgumentParser()\n    p.add_argument(\"--model_name\", default=\"Qwen/Qwen3-8B\")\n    p.add_argument(\"--micro_batch_size\", type=int, default=2)\n    p.add_argument(\"--seq-length\", type=int, default=2048)\n    p.add_argument(\"--lr\", type=float, default=1e-4)\n    p.add_argument(\"--bf16\", action=\"store_true\")\n    return p.parse_args()\n\ndef main():\n    args = parse()\n\nif __name__ == \"__main__\":\n    main()\n";

#[test]
fn a_program_of_ones_own_has_the_defaults_of_its_arguments() {
    let read = folder::read(PROGRAM, "train.py", &[]);
    folder::check(
        &read,
        &[
            ("model.name", "\"qwen3-8b\""),
            ("plan.micro_batch", "2"),
            ("plan.sequence_length", "2048"),
            ("plan.sharding", "open"),
        ],
    );
    let origin = read.origins.iter().find(|origin| origin.key == "plan.micro_batch").expect("an origin");
    assert_eq!(origin.line, Some(7));
}

#[test]
fn arguments_of_a_command_replace_the_programs_defaults() {
    let script = "#!/bin/bash\ntorchrun --nproc_per_node 8 train.py --bf16 --seq_length 4096\n";
    let read = folder::read(script, "run.sh", &[("train.py", PROGRAM)]);
    folder::check(
        &read,
        &[
            ("model.name", "\"qwen3-8b\""),
            ("plan.micro_batch", "2"),
            ("plan.sequence_length", "4096"),
            ("plan.precision.preset", "\"bf16\""),
            ("cluster.devices", "8"),
        ],
    );
    let place = |key: &str| {
        let origin = read.origins.iter().find(|origin| origin.key == key).expect("an origin");
        (origin.file.as_deref().unwrap_or_default().to_owned(), origin.line)
    };
    assert_eq!(place("plan.sequence_length"), (String::new(), Some(2)));
    assert_eq!(place("plan.micro_batch"), ("train.py".to_owned(), Some(7)));
}

/// A variable of another file may set any argument.
#[test]
fn defaults_are_not_stated_beside_unknown_arguments() {
    let script = "#!/bin/bash\nsource flags.sh\ntorchrun --nproc_per_node 8 train.py --seq_length 4096 --lr 1e-5 ${MODEL_ARGS}\n";
    let read = folder::read(script, "run.sh", &[("train.py", PROGRAM)]);
    folder::check(
        &read,
        &[("model.name", "open"), ("plan.micro_batch", "open"), ("plan.sequence_length", "4096")],
    );
}

#[test]
fn a_program_on_transformers_has_the_arguments_of_its_command() {
    const PROGRAM: &str = "import argparse\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n\ndef main():\n    p = argparse.ArgumentParser()\n    p.add_argument(\"--model\", default=\"Qwen/Qwen2.5-7B\")\n    p.add_argument(\"--bs\", type=int, default=1)\n    p.add_argument(\"--accumulate\", type=int, default=4)\n    args = p.parse_args()\n    model = AutoModelForCausalLM.from_pretrained(args.model)\n    targs = TrainingArguments(output_dir=\"o\", per_device_train_batch_size=args.bs, gradient_accumulation_steps=args.accumulate, bf16=True)\n    trainer = Trainer(model=model, args=targs)\n    trainer.train()\n\nmain()\n";
    let script = "#!/bin/bash\ntorchrun --nproc_per_node 4 train.py --bs 8 --model Qwen/Qwen2.5-14B\n";
    let read = folder::read(script, "run.sh", &[("train.py", PROGRAM)]);
    folder::check(
        &read,
        &[
            ("model.name", "\"qwen2.5-14b\""),
            ("plan.micro_batch", "8"),
            ("plan.micro_batches", "4"),
            ("cluster.devices", "4"),
        ],
    );
    // An argument without a declaration may set anything.
    let files = folder::Folder(&[("train.py", PROGRAM)]);
    let context = Context { files: Some(&files), ..Context::default() };
    let other = script.replace("--bs", "--batch");
    let refused = read_with(&other, "run.sh", &context).expect("a script").expect_err("unknown argument");
    assert!(refused[0].to_string().contains("--batch"), "{refused:?}");
}

/// The batch may be a default of the program: a command that starts it shows that it trains.
#[test]
fn a_started_configuration_of_an_unknown_program_needs_no_batch() {
    const YAML: &str = "model:\n  model_id: gpt_oss\ndata:\n  cutoff_len: 4096\nparallel:\n  recompute: True\n  cp_size: 1\ntraining:\n  lr: 1.0e-5\n  optimizer: adamw\n";
    let script = "#!/bin/bash\ntorchrun --nproc_per_node 16 train_fsdp2.py tune.yaml\n";
    let read = folder::read(script, "run.sh", &[("tune.yaml", YAML)]);
    folder::check(
        &read,
        &[
            ("plan.sequence_length", "4096"),
            ("plan.context_parallel", "1"),
            ("plan.recompute", "\"full\""),
            ("plan.micro_batch", "open"),
            ("cluster.devices", "16"),
        ],
    );
    assert!(is_open(&read, "plan.micro_batch"));
    assert!(detect(YAML).is_empty(), "without a command it may be anything");
}

/// Programs on other hosts start from texts that the script builds.
#[test]
fn the_only_training_configuration_that_a_script_names_is_read() {
    const YAML: &str = "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\nfinetuning_type: full\ncutoff_len: 8192\nper_device_train_batch_size: 2\nbf16: true\n";
    let script = "#!/bin/bash\n# trains on two hosts\nCONFIG=${CONFIG:-conf/run.yaml}\nfor host in a b; do\n  ssh \"${host}\" \"cd /w && ./start.py ${CONFIG}\" &\ndone\nwait\necho training ended\n";
    assert_eq!(detect(script).first().map(|seen| seen.format), Some(Format::Script));
    let read = folder::read(script, "run.sh", &[("conf/run.yaml", YAML)]);
    folder::check(&read, &[("model.name", "\"qwen3-8b\""), ("plan.micro_batch", "2")]);
    assert!(has(&read, RemarkKind::Unresolved, "the only training configuration that this script names"));
    let refused = read_with(script, "run.sh", &Context::default()).expect("a script").expect_err("no files");
    assert!(refused[0].to_string().contains("conf/run.yaml"), "{refused:?}");
}

#[test]
fn nodes_of_the_batch_system_may_be_counted_by_the_script() {
    let script = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gpus-per-node=4\nexport COUNT=`scontrol show hostnames \"$SLURM_JOB_NODELIST\" | wc -l`\ntorchrun --nnodes $COUNT --nproc_per_node 4 run_clm.py --model_name_or_path Qwen/Qwen3-8B --do_train --per_device_train_batch_size 2 --block_size 2048 --bf16\n";
    folder::check(&folder::read(script, "run.sh", &[]), &[("cluster.devices", "8")]);
}

#[test]
fn missing_arguments_of_a_script_are_asked_for_with_the_option() {
    let script = "#!/bin/bash\nMODEL=$1\nBATCH=${2:-4}\nswift sft --model Qwen/Qwen3-8B --dataset $MODEL --per_device_train_batch_size $BATCH --max_length 2048\n";
    let read = folder::read(script, "run.sh", &[]);
    assert!(has(&read, RemarkKind::Assumed, "--launch-args"), "{:?}", read.remarks);
}

/// torchtitan's own script for a batch system, without overrides.
#[test]
fn a_configuration_of_torchtitans_registry_is_found_by_module_and_name() {
    const REGISTRY: &str = "from torchtitan.trainer import Trainer\nfrom torchtitan.config import TrainingConfig, ParallelismConfig\nfrom . import model_registry\n\ndef small():\n    return Trainer.Config(model_spec=model_registry(\"8B\"), training=TrainingConfig(local_batch_size=3, seq_len=4096), parallelism=ParallelismConfig(tensor_parallel_degree=2))\n\ndef other():\n    return Trainer.Config(model_spec=model_registry(\"8B\"), training=TrainingConfig(local_batch_size=5, seq_len=1024), parallelism=ParallelismConfig(tensor_parallel_degree=4))\n";
    let script = "#!/bin/bash\nMODULE=${MODULE:-\"llama3\"}\nCONFIG=${CONFIG:-\"small\"}\nsrun torchrun --nnodes 4 --nproc_per_node 8 -m torchtitan.train --module ${MODULE} --config ${CONFIG} \"$@\"\n";
    let read =
        folder::read(script, "run.slurm", &[("torchtitan/models/llama3/config_registry.py", REGISTRY)]);
    folder::check(
        &read,
        &[
            ("plan.micro_batch", "3"),
            ("plan.sequence_length", "4096"),
            ("plan.tensor_parallel", "2"),
            ("cluster.devices", "32"),
        ],
    );
}

/// Early versions of torchtitan and forks of them have a separate output layer.
#[test]
fn a_shared_output_layer_of_a_flavour_is_an_assumption() {
    let toml = |flavour: &str| {
        format!(
            "[job]\ndump_folder = \"o\"\n[model]\nname = \"llama3\"\nflavor = \"{flavour}\"\n[training]\nbatch_size = 4\nseq_len = 2048\n"
        )
    };
    let said = |flavour: &str| {
        has(&folder::read(&toml(flavour), "run.toml", &[]), RemarkKind::Assumed, "enable_weight_tying")
    };
    assert!(said("1B"));
    assert!(!said("8B"));
}

#[test]
fn transformer_engines_loss_replaces_its_logits() {
    let software = |flags: &str| {
        let script = format!(
            "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --use-mcore-models --num-layers 4 --hidden-size 512 --num-attention-heads 8 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 --global-batch-size 8 --vocab-size 32000 --bf16 {flags}\n"
        );
        folder::value(&folder::read(&script, "run.sh", &[]), "plan.software")
    };
    assert!(software("--cross-entropy-loss-fusion --cross-entropy-fusion-impl te").contains("in-place-loss"));
    assert!(!software("--cross-entropy-loss-fusion").contains("in-place-loss"));
    assert!(!software("--cross-entropy-fusion-impl te").contains("in-place-loss"));
}

/// Whether a loop runs may depend on a file; one over the script's arguments has no iteration without them.
#[test]
fn a_loop_with_an_unknown_condition_is_read() {
    let body = "do\n  deepspeed --module openrlhf.cli.train_dpo --pretrain Qwen/Qwen3-8B --train_batch_size 64 --micro_train_batch_size 2 --max_len 4096 --zero_stage 3\ndone\n";
    let unknown = format!(
        "set -x\nstep=0\nif [ -f state ]; then\n  step=$(cat state)\nfi\nwhile (($step < 6)); {body}"
    );
    folder::check(&folder::read(&unknown, "run.sh", &[]), &[("plan.micro_batch", "2")]);
    let over_arguments = format!("set -x\nwhile [ $# -gt 0 ]; {body}");
    assert!(read_with(&over_arguments, "run.sh", &Context::default()).is_none());
}
