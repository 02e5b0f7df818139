//! The helper of NeMo 2's performance scripts that sets a recipe, as the assignments that it makes.
//!
//! Responsible for: `set_primary_perf_configs` with literal arguments by name
//! (`scripts/performance/helpers.py`, 2025), at the lines that they have. Any other call stays as it is, so
//! that its changes are listed as unknown.

use std::borrow::Cow;

const HELPER: &str = "set_primary_perf_configs(";

/// Arguments that a recipe's field takes.
const FIELDS: &[(&str, &str)] = &[
    ("num_nodes", "trainer.num_nodes"),
    ("num_gpus_per_node", "trainer.devices"),
    ("mbs", "data.micro_batch_size"),
    ("gbs", "data.global_batch_size"),
    ("max_steps", "trainer.max_steps"),
    ("tp_size", "trainer.strategy.tensor_model_parallel_size"),
    ("pp_size", "trainer.strategy.pipeline_model_parallel_size"),
    ("cp_size", "trainer.strategy.context_parallel_size"),
    ("ep_size", "trainer.strategy.expert_model_parallel_size"),
    ("etp_size", "trainer.strategy.expert_tensor_parallel_size"),
    ("enable_cuda_graphs", "model.config.enable_cuda_graph"),
    ("recompute_modules", "model.config.recompute_modules"),
];
/// Arguments without effect on the plan.
const IGNORED: &[&str] = &[
    "task",
    "use_fsdp_double_buffer",
    "use_user_buffer_registration",
    "use_sharp",
    "keep_fsdp_fp8_transpose_cache",
    "nccl_communicator_config_path",
    "model_name",
    "fp8_recipe",
];

/// The text with assignments in place of the helper's call; the text itself without one, and if an argument
/// is not literal.
pub(super) fn assigned(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_call = |line: &&str| line.contains(HELPER) && !line.trim_start().starts_with("def ");
    let Some(from) = lines.iter().position(is_call) else { return Cow::Borrowed(text) };
    let Some((until, replaced)) = call(text, &lines, from) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    for (at, line) in lines.iter().enumerate() {
        let new = if (from..=until).contains(&at) { replaced[at - from].as_str() } else { line };
        out.push_str(new);
        out.push('\n');
    }
    Cow::Owned(out)
}

/// The last line of a call, and the assignments for each of its lines. One argument stands on a line.
fn call(text: &str, lines: &[&str], from: usize) -> Option<(usize, Vec<String>)> {
    let first = lines[from];
    let indent = &first[..first.len() - first.trim_start().len()];
    let (head, behind) = first.split_once(HELPER)?;
    if !behind.trim().is_empty() {
        return None;
    }
    let until = (from + 1..lines.len()).find(|&at| lines[at].trim() == ")")?;
    let arguments = || lines[from + 1..until].iter().map(|line| line.trim().trim_end_matches(','));
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let recipe = match head.trim().strip_suffix('=') {
        Some(name) => name.trim(),
        None => arguments().next()?,
    };
    if !is_name(recipe) {
        return None;
    }
    let mut out = vec![format!("{indent}pass")];
    for argument in arguments() {
        let Some((name, value)) = argument.split_once('=') else {
            out.push(String::new());
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        let set: Vec<(String, String)> = settings(text, name, value)?;
        let set: Vec<String> = set.iter().map(|(path, value)| format!("{recipe}.{path} = {value}")).collect();
        out.push(if set.is_empty() { String::new() } else { format!("{indent}{}", set.join("; ")) });
    }
    if let Some(format) = precision(text, &arguments()) {
        let plugins = format!("{recipe}.trainer.plugins");
        out.push(format!("{indent}{plugins} = {format}(); {plugins}.grad_reduce_in_fp32 = False"));
    } else {
        out.push(String::new());
    }
    Some((until, out))
}

/// What an argument sets: paths of the recipe with their values. `None` for an unknown argument, or one
/// without a literal value.
fn settings(text: &str, name: &str, value: &str) -> Option<Vec<(String, String)>> {
    let own = |path: &str, value: &str| (path.to_owned(), value.to_owned());
    if let Some((_, path)) = FIELDS.iter().find(|(known, _)| *known == name) {
        let is_none = literal(text, value).as_deref() == Some("None");
        return Some(if is_none { Vec::new() } else { vec![own(path, value)] });
    }
    if IGNORED.contains(&name) || name == "compute_dtype" {
        return Some(Vec::new());
    }
    let value = literal(text, value)?;
    Some(match (name, value.as_str()) {
        ("vp_size", "1" | "None")
        | ("use_mcore_fsdp", "False")
        | ("recompute_layers" | "activation_offload_layers", "0" | "None") => Vec::new(),
        ("vp_size", chunks) => vec![own("trainer.strategy.virtual_pipeline_model_parallel_size", chunks)],
        ("use_mcore_fsdp", "True") => vec![
            own("trainer.strategy.ddp.use_megatron_fsdp", "True"),
            own("trainer.strategy.ddp.data_parallel_sharding_strategy", "\"optim_grads_params\""),
        ],
        ("recompute_layers", layers) => vec![
            own("model.config.recompute_granularity", "\"full\""),
            own("model.config.recompute_method", "\"block\""),
            own("model.config.recompute_num_layers", layers),
        ],
        ("activation_offload_layers", layers) => {
            vec![
                own("model.config.cpu_offloading", "True"),
                own("model.config.cpu_offloading_num_layers", layers),
            ]
        }
        _ => return None,
    })
}

/// The function of a narrow format that the helper puts into the plugins; other formats stay those of the
/// recipe.
fn precision<'a>(text: &str, arguments: &(impl Iterator<Item = &'a str> + Clone)) -> Option<&'static str> {
    let of = |name: &str| {
        let value = arguments
            .clone()
            .find_map(|argument| argument.split_once('=').filter(|(own, _)| own.trim() == name))?
            .1;
        literal(text, value.trim()).map(|value| value.trim_matches(['"', '\'']).to_ascii_lowercase())
    };
    let (format, recipe) = (of("compute_dtype"), of("fp8_recipe"));
    (format.as_deref() == Some("fp8")).then_some(match recipe.as_deref() {
        Some("cs") => "bf16_with_fp8_current_scaling_mixed",
        Some("mxfp8" | "mx") => "bf16_with_mxfp8_mixed",
        _ => "bf16_with_fp8_mixed",
    })
}

/// A literal value: itself, or that of the one variable of its name.
fn literal(text: &str, value: &str) -> Option<String> {
    let is_literal = |value: &str| {
        matches!(value, "None" | "True" | "False")
            || value.starts_with(['"', '\''])
            || (!value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()))
    };
    if is_literal(value) {
        return Some(value.to_owned());
    }
    let mut found = text.lines().filter_map(|line| {
        let (name, set) = line.split_once('=')?;
        (name.trim() == value && !set.trim_end().ends_with(',')).then(|| set.trim().to_owned())
    });
    let only = found.next()?;
    (found.next().is_none() && is_literal(&only)).then_some(only)
}

#[cfg(test)]
mod tests {
    use crate::read;
    use railwright_spec::run::Value;

    const FILE: &str = "from nemo.collections import llm\nfrom nemo.collections.llm.recipes import llama31_70b\nimport nemo_run as run\n\
        from scripts.performance.helpers import (\n    set_primary_perf_configs,\n)\n\ndef recipe():\n    pretrain = \
        llama31_70b.pretrain_recipe(performance_mode=True)\n    num_nodes = 16\n    vp_size = 5\n    use_mcore_fsdp = False\n    \
        compute_dtype = \"fp8\"\n    fp8_recipe = \"cs\"\n    pretrain = set_primary_perf_configs(\n        pretrain,\n        \
        \"pre_train\",\n        num_nodes=num_nodes,\n        num_gpus_per_node=4,\n        mbs=1,\n        gbs=128,\n        \
        max_steps=25,\n        tp_size=2,\n        pp_size=4,\n        cp_size=1,\n        vp_size=vp_size,\n        ep_size=1,\n        \
        use_mcore_fsdp=use_mcore_fsdp,\n        recompute_layers=3,\n        compute_dtype=compute_dtype,\n        \
        fp8_recipe=fp8_recipe,\n    )\n    return pretrain\n\nif __name__ == \"__main__\":\n    run.cli.main(llm.pretrain, \
        default_factory=recipe)\n";

    fn check(text: &str, expected: &[(&str, &str)]) {
        let launch = read(text, "recipe.py").expect("a launch file").expect("no problems");
        for (key, expected) in expected {
            let found = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
            assert_eq!(found.trim_matches('"'), *expected, "{key}: {:?}", launch.remarks);
        }
    }

    #[test]
    fn the_helper_of_performance_scripts_is_its_assignments() {
        let shared = [
            ("model.name", "llama-3-70b"),
            ("cluster.devices", "64"),
            ("plan.tensor_parallel", "2"),
            ("plan.pipeline_parallel", "4"),
            ("plan.global_batch", "128"),
            ("plan.micro_batch", "1"),
            // The helper's number is that of a chunk, of which a stage has five.
            ("plan.recompute", "full:15"),
        ];
        check(FILE, &shared);
        check(
            FILE,
            &[
                ("plan.virtual_stages", "5"),
                ("plan.precision.compute", "fp8"),
                ("plan.precision.gradient_reduce", "bf16"),
                ("plan.sharding", "open"),
            ],
        );
        check(&FILE.replace("use_mcore_fsdp = False", "use_mcore_fsdp = True"), &[("plan.sharding", "fsdp")]);
        let wide = FILE.replace("compute_dtype = \"fp8\"", "compute_dtype = \"bf16\"");
        check(&wide, &[("plan.precision.compute", "open")]);
    }

    #[test]
    fn a_call_that_is_not_literal_stays_a_call() {
        for text in [FILE.replace("vp_size = 5", "vp_size = chunks()"), FILE.replace("mbs=1", "other=1")] {
            assert_eq!(super::assigned(&text), text);
        }
    }

    /// A format by a function that a long module path has.
    #[test]
    fn long_names_are_read_in_whole() {
        let module = "nemo.collections.llm.recipes.precision.mixed_precision";
        let text = format!(
            "from nemo.collections import llm\nfrom {module} import bf16_with_fp8_current_scaling_mixed\nimport nemo_run as run\n\n\
             def recipe():\n    r = llm.llama31_70b.pretrain_recipe()\n    r.trainer.num_nodes = 2\n    r.trainer.devices = 8\n    \
             r.trainer.strategy.tensor_model_parallel_size = 4\n    r.trainer.plugins = bf16_with_fp8_current_scaling_mixed()\n    return r\n"
        );
        check(&text, &[("plan.precision.compute", "fp8"), ("plan.tensor_parallel", "4")]);
    }
}
