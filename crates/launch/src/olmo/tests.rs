//! Scripts in both forms of OLMo-core.

use crate::{Format, Launch, RemarkKind, detect, read};
use railwright_spec::run::Value;

/// One function that returns the experiment, as in OLMo-core's official scripts.
const WHOLE: &str = r"
from olmo_core.config import DType
from olmo_core.data import NumpyDataLoaderConfig, NumpyFSLDatasetConfig, TokenizerConfig
from olmo_core.distributed.parallel import DataParallelType
from olmo_core.distributed.utils import get_world_size
from olmo_core.float8 import Float8Config
from olmo_core.nn.transformer import TransformerConfig
from olmo_core.optim import SkipStepAdamWConfig
from olmo_core.script_utils import ExperimentConfig, main
from olmo_core.train import TrainerConfig
from olmo_core.train.train_module import (
    TransformerContextParallelConfig,
    TransformerDataParallelConfig,
    TransformerTrainModuleConfig,
)

LENGTH = 8192
TOKENS = 64 * LENGTH


def build(opts, overrides):
    length = opts.sequence_length or LENGTH
    tokenizer = TokenizerConfig.dolma2()
    model = TransformerConfig.olmo3_7B(vocab_size=tokenizer.padded_vocab_size())
    module = TransformerTrainModuleConfig(
        rank_microbatch_size=2 * length,
        max_sequence_length=length,
        optim=SkipStepAdamWConfig(lr=1e-4),
        compile_model=True,
        dp_config=TransformerDataParallelConfig(
            name=DataParallelType.hsdp,
            param_dtype=DType.bfloat16,
            reduce_dtype=DType.float32,
            shard_degree=4,
        ),
        cp_config=TransformerContextParallelConfig.llama3(degree=8),
        float8_config=Float8Config(enabled=False),
    )
    return ExperimentConfig(
        model=model,
        dataset=NumpyFSLDatasetConfig(tokenizer=tokenizer, sequence_length=length),
        data_loader=NumpyDataLoaderConfig(global_batch_size=TOKENS, seed=1),
        train_module=module,
        trainer=TrainerConfig(save_folder=opts.save_folder),
    ).merge(overrides)


main(build)
";

/// A builder per section, as in OLMo-core's internal scripts.
const BUILDERS: &str = r#"
from functools import partial

from olmo_core.config import DType
from olmo_core.distributed.parallel import DataParallelType
from olmo_core.internal.experiment import build_config, main
from olmo_core.nn.transformer import TransformerConfig
from olmo_core.optim import AdamWConfig
from olmo_core.train.train_module import (
    TransformerActivationCheckpointingConfig,
    TransformerActivationCheckpointingMode,
    TransformerDataParallelConfig,
    TransformerTrainModuleConfig,
)

SEQUENCE_LENGTH = 4096
GLOBAL_BATCH_SIZE = 512 * SEQUENCE_LENGTH


def model_of(common):
    return TransformerConfig.olmo2_1B_v2(vocab_size=common.tokenizer.padded_vocab_size())


def module_of(common):
    return TransformerTrainModuleConfig(
        rank_microbatch_size=4 * common.max_sequence_length,
        max_sequence_length=common.max_sequence_length,
        optim=AdamWConfig(lr=1e-4),
        dp_config=TransformerDataParallelConfig(name=DataParallelType.fsdp, param_dtype=DType.bfloat16),
        ac_config=TransformerActivationCheckpointingConfig(
            mode=TransformerActivationCheckpointingMode.selected_modules,
            modules=["blocks.*.feed_forward"],
        ),
    )


if __name__ == "__main__":
    builder = partial(
        build_config,
        global_batch_size=GLOBAL_BATCH_SIZE,
        max_sequence_length=SEQUENCE_LENGTH,
        model_config_builder=model_of,
        train_module_config_builder=module_of,
    )
    main(config_builder=builder)
"#;

fn launch(text: &str) -> Launch {
    assert_eq!(detect(text).first().map(|seen| seen.format), Some(Format::OlmoCore));
    read(text, "train.py").expect("a launch file").expect("no problems")
}

fn check(launch: &Launch, expected: &[(&str, &str)]) {
    for (key, expected) in expected {
        let value = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
        assert_eq!(&value, expected, "{key}: {:?} {:?}", launch.open, launch.remarks);
    }
}

#[test]
fn one_function_is_read() {
    let read = launch(WHOLE);
    check(
        &read,
        &[
            ("model.name", "\"olmo-3-7b\""),
            ("plan.sequence_length", "8192"),
            ("plan.global_batch", "64"),
            ("plan.micro_batch", "2"),
            ("plan.context_parallel", "8"),
            ("plan.context_kind", "\"all_gather\""),
            ("plan.tensor_parallel", "1"),
            // The ranks of a sequence share parameters with the shards.
            ("plan.sharding", "\"hsdp:32\""),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.precision.gradient_reduce", "\"fp32\""),
            ("plan.recompute", "\"none\""),
            ("plan.optimizer", "\"adam\""),
            ("plan.software", "\"torchtitan-2024-compile\""),
            ("cluster.devices", "open"),
        ],
    );
}

#[test]
fn a_builder_per_section_is_read() {
    let read = launch(BUILDERS);
    check(
        &read,
        &[
            ("model.hidden", "2048"),
            ("model.layers", "16"),
            ("model.ffn", "8192"),
            ("model.vocab", "100278"),
            ("model.tied", "open"),
            ("plan.vocabulary_multiple", "128"),
            ("plan.sequence_length", "4096"),
            ("plan.global_batch", "512"),
            ("plan.micro_batch", "4"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.recompute", "\"selective:mlp\""),
            ("plan.software", "\"torchtitan-2024-eager\""),
        ],
    );
    assert!(read.remarks_of(RemarkKind::Assumed).any(|remark| remark.message.contains("dolma2")));
}

/// Settings that depend on ranks, on an unknown condition or on other code are open, and none of them has a
/// default.
#[test]
fn computed_settings_are_open() {
    let copies = WHOLE.replace("shard_degree=4", "num_replicas=get_world_size() // 16");
    check(&launch(&copies), &[("plan.sharding", "open"), ("plan.context_parallel", "8")]);
    let conditional = WHOLE.replace(
        "    return ExperimentConfig(",
        "    if get_world_size() > 512:\n        module.rank_microbatch_size //= 2\n    return ExperimentConfig(",
    );
    check(&launch(&conditional), &[("plan.micro_batch", "open"), ("plan.global_batch", "64")]);
    let float8 = WHOLE.replace("enabled=False", "enabled=True");
    check(&launch(&float8), &[("plan.precision.preset", "\"fp8\"")]);
    let nodes = WHOLE.replace("            shard_degree=4,\n", "");
    check(&launch(&nodes), &[("plan.sharding", "open")]);
    // One copy is plain sharding. With the devices of the job, copies and nodes have their ranks.
    let copies = |n: u64| WHOLE.replace("shard_degree=4", &format!("num_replicas={n}"));
    check(&launch(&copies(1)), &[("plan.sharding", "\"fsdp\"")]);
    check(&launch(&copies(4)), &[("plan.sharding", "open")]);
    let job = "        trainer=";
    let of_job =
        |text: &str| text.replace(job, &format!("        launch=BeakerLaunchConfig(num_nodes=16),\n{job}"));
    check(&launch(&of_job(&copies(4))), &[("cluster.devices", "128"), ("plan.sharding", "\"hsdp:32\"")]);
    check(&launch(&of_job(&nodes)), &[("plan.sharding", "\"hsdp:8\"")]);
    check(&launch(&of_job(&copies(3))), &[("plan.sharding", "open")]);
    let changed = WHOLE.replace("    module = ", "    model.block.attention.n_heads = 8\n    module = ");
    check(&launch(&changed), &[("model.name", "open")]);
    let dimension = BUILDERS.replace("olmo2_1B_v2(", "olmo2_1B_v2(n_layers=8, ");
    check(&launch(&dimension), &[("model.layers", "open"), ("plan.micro_batch", "4")]);
    let ragged = WHOLE.replace("2 * length", "3000");
    check(&launch(&ragged), &[("plan.micro_batch", "open")]);
}

/// edu-llm/OLMo-core `OLMo2-370M-150B.py`: the command line of the script itself has the sizes.
#[test]
fn defaults_of_the_command_line_are_read() {
    let own = WHOLE
        .replace(
            "from olmo_core.script_utils import ExperimentConfig, main",
            "from olmo_core.config import Config",
        )
        .replace("def build(", "class ExperimentConfig(Config):\n    model = None\n\n\ndef build(")
        .replace("    length = opts.sequence_length or LENGTH\n", "    length = opts.sequence_length\n")
        .replace("TransformerConfig.olmo3_7B(", "getattr(TransformerConfig, opts.model_factory)(")
        .replace("rank_microbatch_size=2 * length", "rank_microbatch_size=opts.rank_microbatch_size");
    let unknown = launch(&own);
    check(&unknown, &[("plan.micro_batch", "open"), ("model.name", "open")]);
    let declared = own
        + "\n\ndef parse():\n    parser = argparse.ArgumentParser()\n    parser.add_argument(\"--sequence-length\", type=int, default=LENGTH)\n    \
            parser.add_argument(\"--model-factory\", default=\"olmo3_7B\")\n    \
            parser.add_argument(\"--rank-microbatch-size\", type=int, default=4 * LENGTH)\n    return parser.parse_args()\n";
    let read = launch(&declared);
    check(
        &read,
        &[
            ("plan.sequence_length", "8192"),
            ("plan.micro_batch", "4"),
            ("plan.global_batch", "64"),
            ("model.name", "\"olmo-3-7b\""),
        ],
    );
    assert!(read.remarks_of(RemarkKind::Assumed).any(|remark| remark.message.contains("command line")));
}

#[test]
fn a_file_with_two_experiments_is_refused() {
    let two = format!("{WHOLE}\n\ndef other(opts, overrides):\n    return build(opts, overrides)\n");
    let problems = read(&two, "train.py").expect("a launch file").expect_err("two configurations");
    assert!(problems[0].to_string().contains("2 configurations"), "{problems:?}");
    // Code of the library is not a configuration.
    let library =
        "from olmo_core.config import Config\n\nclass TransformerTrainModuleConfig(Config):\n    x = 1\n";
    assert!(detect(library).iter().all(|seen| seen.format != Format::OlmoCore));
}
