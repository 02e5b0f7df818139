//! Recipes of three frameworks, and Python that is not a configuration.

use super::*;
use crate::{Launch, detect, read as read_any};
use railwright_spec::run::Value as Said;

const BRIDGE: &str = include_str!("../../tests/fixtures/python/bridge_recipes.py");
const NEMO: &str = include_str!("../../tests/fixtures/python/nemo_recipe.py");
const TITAN: &str = include_str!("../../tests/fixtures/python/config_registry.py");

fn launch(text: &str, recipe: Option<&str>) -> Launch {
    let text = match recipe {
        Some(recipe) => format!("{text}\n# railwright: recipe = \"{recipe}\"\n"),
        None => text.to_owned(),
    };
    match read_any(&text, "recipes.py") {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?}, {:?}", detect(&text)),
    }
}

fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Said::to_toml)
}

fn check(launch: &Launch, expected: &[(&str, &str)]) {
    for (key, expected) in expected {
        assert_eq!(value(launch, key), *expected, "{key}");
    }
}

fn remarks(launch: &Launch, kind: RemarkKind) -> Vec<String> {
    launch.remarks_of(kind).map(|r| format!("{}: {}: {}", r.line.unwrap_or(0), r.source, r.message)).collect()
}

#[test]
fn several_recipes_are_listed_and_one_is_chosen() {
    let problem = read_any(BRIDGE, "recipes.py").and_then(Result::err).expect("a choice").remove(0);
    let message = problem.to_string();
    assert!(
        message.contains("contains 3 configurations: llama32_3b_pretrain_config, llama3_70b_"),
        "{message}"
    );
    let hint = format!("{:?}", problem.hint);
    assert!(hint.contains("recipes.py:llama32_3b_pretrain_config"), "{hint}");
    let chosen = launch(BRIDGE, Some("llama32_3b_pretrain_config"));
    check(
        &chosen,
        &[
            ("model.name", "\"llama-3.2-3b\""),
            ("plan.tensor_parallel", "2"),
            ("plan.pipeline_parallel", "1"),
            ("plan.sequence_parallel", "true"),
            ("plan.sequence_length", "8192"),
            ("plan.global_batch", "512"),
            ("plan.sharding", "\"zero1\""),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.precision.gradient_reduce", "\"fp32\""),
            ("plan.recompute", "open"),
            ("plan.optimizer", "open"),
        ],
    );
    let origin = chosen.origins.iter().find(|o| o.key == "plan.tensor_parallel").expect("an origin");
    assert_eq!(origin.line, Some(15), "the line of the assignment in the function that is called");
    let wrong = format!("{BRIDGE}\n# railwright: recipe = \"llama3_70b_pretrain_64gpus_config\"\n");
    let problem = read_any(&wrong, "f").and_then(Result::err).expect("a wrong name").remove(0);
    let problem = format!("{:?}", problem.hint);
    assert!(problem.contains("did you mean `llama3_70b_pretrain_64gpu_config`"), "{problem}");
}

#[test]
fn what_is_computed_or_depends_stays_open_and_is_reported() {
    let launch = launch(BRIDGE, Some("llama3_70b_pretrain_64gpu_config"));
    check(
        &launch,
        &[
            ("model.name", "\"llama-3-70b\""),
            ("plan.tensor_parallel", "4"),
            ("plan.pipeline_parallel", "4"),
            ("plan.virtual_stages", "5"),
            ("plan.global_batch", "256"),
            ("plan.micro_batch", "open"),
            ("plan.recompute", "open"),
            ("cluster.devices", "64"),
        ],
    );
    let open = remarks(&launch, RemarkKind::Unresolved).join("\n");
    for part in [
        "llama3_70b_pretrain_config(...): creates the configuration in another file",
        "compute_micro_batch(...)",
        "model.recompute_granularity: depends on an unknown condition (line 42)",
        "apply_team_defaults(...): is called with the configuration and defined in another file",
    ] {
        assert!(open.contains(part), "{part} is missing in\n{open}");
    }
    let assumed = remarks(&launch, RemarkKind::Assumed).join("\n");
    assert!(assumed.contains("64 GPUs, from the name of the recipe"), "{assumed}");
}

#[test]
fn adapters_are_no_full_fine_tuning() {
    let launch = launch(BRIDGE, Some("llama3_70b_lora_config"));
    check(
        &launch,
        &[
            ("plan.optimizer", "\"lora\""),
            ("plan.tensor_parallel", "8"),
            ("plan.lora_rank", "16"),
            ("plan.lora_targets", "[\"linear_qkv\", \"linear_fc1\", \"o_proj\", \"down_proj\"]"),
        ],
    );
}

#[test]
fn a_run_of_nemo_2_is_followed_to_its_start() {
    let launch = launch(NEMO, None);
    check(
        &launch,
        &[
            ("model.name", "\"llama-3-70b\""),
            ("cluster.devices", "64"),
            ("cluster.devices_per_node", "8"),
            ("plan.tensor_parallel", "4"),
            ("plan.pipeline_parallel", "4"),
            ("plan.virtual_stages", "5"),
            ("plan.global_batch", "512"),
            ("plan.sequence_length", "8192"),
            ("plan.overlap.tensor", "true"),
            ("plan.precision.preset", "\"bf16\""),
            ("plan.sharding", "open"),
        ],
    );
}

#[test]
fn a_registry_of_torchtitan_is_read() {
    let launch = launch(TITAN, None);
    check(
        &launch,
        &[
            ("model.name", "\"llama-3-70b\""),
            ("plan.tensor_parallel", "8"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.sequence_length", "8192"),
            ("plan.micro_batch", "2"),
            ("plan.recompute", "\"full\""),
            ("plan.precision.preset", "\"fp8\""),
            ("plan.software", "\"torchtitan-2024-compile+cuda-graphs\""),
        ],
    );
}

#[test]
fn hostile_python_ends_and_is_no_configuration() {
    let head = "from megatron.bridge import x\n";
    for text in [
        format!("{head}{}", "(".repeat(100_000)),
        format!("{head}x = {}1", "-".repeat(100_000)),
        format!("{head}x = 1{}", " + 1".repeat(100_000)),
        format!("{head}x = a{}", ".b".repeat(100_000)),
        format!("{head}x = {}", "not ".repeat(100_000)),
        format!("{head}def f():\n  return f()\nx = f()\n"),
        format!("{head}x = [1] * 10000\nx = x * 10000\n"),
        format!("{head}x = 9 ** 9 ** 9 ** 9\n"),
        format!("{head}x = {{}}\nx['a'] = x\nx['model'] = x\n"),
        (0..60).fold(head.to_owned(), |text, depth| text + &" ".repeat(depth) + "if a:\n"),
        format!("{head}x = 'never ends\n\"\"\"never ends"),
        format!("{head}def f(cfg):\n  cfg.model = cfg\n  cfg.train.model = cfg\n  return cfg\n"),
    ] {
        let result = read_any(&text, "f");
        assert!(matches!(result, Some(Err(_))), "{result:?}");
    }
}
