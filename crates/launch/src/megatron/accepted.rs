//! Arguments accepted by Megatron-LM's parser and checks, from a table of facts.
//!
//! Responsible for: the options of `data/megatron_arguments.csv` (generated from Megatron-LM's parser, with
//! its commit), and relations between them that exports violated in the past. Incomplete:
//! `xtask/peers/exports/check.sh` runs Megatron-LM itself.

use crate::Writer;
use crate::megatron::flags::PARSER as TABLE;
use crate::testing::corpus::runs;
use std::collections::BTreeMap;

/// Options and their values, in a script of this program.
fn options(script: &str) -> BTreeMap<&str, Vec<&str>> {
    // The launcher precedes it.
    let script = script.find("MODEL_ARGS=(\n").and_then(|start| script.get(start..)).unwrap_or(script);
    let inside = script.split("_ARGS=(\n").skip(1).filter_map(|part| part.split("\n)").next());
    let lines = inside.flat_map(str::lines).map(str::trim).filter(|line| line.starts_with("--"));
    lines
        .map(|line| {
            let (option, rest) = line.split_once(' ').unwrap_or((line, ""));
            (option, rest.split_whitespace().map(|word| word.trim_matches('\'')).collect())
        })
        .collect()
}

/// The violation of an option according to the table.
fn unknown(option: &str, values: &[&str]) -> Option<String> {
    let row = TABLE.lines().find(|row| row.split(',').next() == Some(option));
    let Some(row) = row else { return Some(format!("{option} is not an option")) };
    let cell = |index: usize| row.split(',').nth(index).unwrap_or_default();
    let fits = match cell(1) {
        "0" => values.is_empty(),
        "1" => values.len() == 1,
        "+" => !values.is_empty(),
        _ => true,
    };
    if !fits {
        return Some(format!("{option} takes {} values, not {values:?}", cell(1)));
    }
    let typed = values.iter().all(|value| match cell(2) {
        "int" => value.parse::<i64>().is_ok(),
        "float" => value.parse::<f64>().is_ok(),
        _ => true,
    });
    let choices: Vec<&str> = cell(3).split_whitespace().collect();
    let chosen = choices.is_empty() || values.iter().all(|value| choices.contains(value));
    (!typed || !chosen).then(|| format!("{option} {values:?} is none of {:?} {choices:?}", cell(2)))
}

/// The relations that `validate_args` and `TransformerConfig` check, among those that writers can break.
fn contradictions(script: &str, options: &BTreeMap<&str, Vec<&str>>) -> Vec<&'static str> {
    let has = |option: &str| options.contains_key(option);
    let word =
        |option: &str| options.get(option).and_then(|values| values.first().copied()).unwrap_or_default();
    let count = |option: &str| word(option).parse::<u64>().unwrap_or(1);
    let recomputes =
        |module: &str| options.get("--recompute-modules").is_some_and(|words| words.contains(&module));
    let is_full = word("--recompute-granularity") == "full";
    let single = script.contains("export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    let is_fsdp = has("--use-megatron-fsdp") || has("--use-torch-fsdp2");
    let cut = count("--tensor-model-parallel-size") > 1 || count("--context-parallel-size") > 1;
    let distributed = has("--use-distributed-optimizer");
    let graphs = word("--cuda-graph-impl");
    let rules = [
        (
            count("--seq-length") > count("--max-position-embeddings"),
            "sequences are longer than the positions",
        ),
        (
            has("--cpu-offloading-num-layers") && has("--recompute-granularity"),
            "offload combined with recompute",
        ),
        (
            has("--cpu-offloading-num-layers") && count("--pipeline-model-parallel-size") > 1,
            "offload combined with pipeline stages",
        ),
        (
            has("--num-experts") && word("--moe-router-topk") == "1" && !has("--moe-router-pre-softmax"),
            "softmax over one",
        ),
        (
            word("--fp8-recipe") == "delayed" && (recomputes("layernorm") || recomputes("moe_act")),
            "delayed scaling combined with recomputed norms",
        ),
        (recomputes("mla_up_proj") && !has("--multi-latent-attention"), "no latent to project"),
        (has("--fp8-param-gather") && !(has("--fp8-format") && distributed), "fp8 parameters without fp8"),
        (
            has("--overlap-param-gather") && !(distributed && has("--overlap-grad-reduce")),
            "gathering what is not sharded",
        ),
        (
            has("--use-megatron-fsdp") && !matches!(word("--optimizer"), "adam" | "sgd"),
            "Megatron-FSDP combined with another optimizer",
        ),
        (is_fsdp && single, "FSDP on one connection"),
        (
            cut && !is_fsdp && !has("--overlap-moe-expert-parallel-comm") && !single,
            "ranks without one connection",
        ),
        (
            has("--no-overlap-p2p-communication") && count("--pipeline-model-parallel-size") < 3,
            "interleaving between two stages without overlap",
        ),
        (
            has("--overlap-moe-expert-parallel-comm") && (is_full || recomputes("moe")),
            "experts overlapped and recomputed",
        ),
        (
            has("--num-experts")
                && !has("--disable-bias-linear")
                && count("--expert-tensor-parallel-size") > 1,
            "sharded experts with biases",
        ),
        (
            has("--use-precision-aware-optimizer") && word("--optimizer") != "adam",
            "states of another optimizer",
        ),
        (graphs == "transformer_engine" && is_full, "partial CUDA graphs combined with full recompute"),
        (graphs == "full_iteration" && !has("--no-check-for-nan-in-loss-and-grad"), "a check inside a graph"),
    ];
    rules.into_iter().filter_map(|(broken, what)| broken.then_some(what)).collect()
}

#[test]
fn exports_of_winners_and_of_random_plans_are_accepted() {
    let mut written = 0;
    for (name, run) in runs() {
        let out = super::FlagsWriter.write(&run);
        let Some(file) = out.files.first() else {
            assert!(!out.refused.is_empty(), "{name}: neither written nor refused");
            continue;
        };
        written += 1;
        let options = options(&file.text);
        assert!(options.len() > 20, "{name}: {options:?}");
        let strange: Vec<String> =
            options.iter().filter_map(|(option, values)| unknown(option, values)).collect();
        assert!(strange.is_empty(), "{name}: {strange:?}\n{}", file.text);
        let broken = contradictions(&file.text, &options);
        assert!(broken.is_empty(), "{name}: {broken:?}\n{}", file.text);
    }
    assert!(written > 170, "only {written} were written");
}

#[test]
fn what_is_not_accepted_is_found() {
    assert!(unknown("--position-embedding-type", &["alibi"]).is_some());
    assert!(unknown("--frobnicate", &[]).is_some());
    assert!(unknown("--num-layers", &["x"]).is_some());
    assert!(unknown("--num-layers", &["4"]).is_none());
    let script = "M_ARGS=(\n    --seq-length 8\n    --max-position-embeddings 4\n)\n";
    assert_eq!(contradictions(script, &options(script)), ["sequences are longer than the positions"]);
}
