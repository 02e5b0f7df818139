//! Valid and invalid run files, with the places of problems.

use super::*;
use crate::problem::{Place, Problem};
use proptest::prelude::*;

fn none(_: &str) -> Result<String, Problem> {
    Err(Problem::new("no such file"))
}

/// Message as printed: problem, line of text, hint.
fn shown(problem: &Problem) -> String {
    let text = problem.place.as_ref().and_then(|p| p.text.clone()).unwrap_or_default();
    format!("{problem} | {text} | {}", problem.hint.clone().unwrap_or_default())
}

fn refused(text: &str) -> String {
    shown(&parse(text, "run.toml").expect_err("a mistake"))
}

const WHOLE: &str = r#"
[model]
name = "llama-3.1-405b"

[cluster]
preset = "dgx-h100"
gpus = 16384
network.bandwidth = "400 Gbit/s"
network.tiers = ["leaf:16", "pod:3072", "core:24576:7:3 us"]

[plan]
tp = 8
pipeline_parallel = 16
virtual_stages = 1
layers_per_stage = [7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7]
global_batch = 2048
sequence_length = 8192
precision = "bf16"
sharding = "hsdp:8"
recompute = "selective:core_attention,mlp"
overlap.tensor = true

[training]
tokens = "15.6T"
availability = 0.9

[cost]
price_per_device_hour = 2
"#;

#[test]
fn a_whole_run_file_resolves() {
    let spec = parse(WHOLE, "run.toml").expect("sound");
    let (run, warnings) = spec.resolve_valid(none).expect("possible");
    assert_eq!((run.plan.data_parallel, run.plan.world_size(), run.plan.micro_batches()), (128, 16384, 16));
    assert_eq!(run.cluster.network.tiers[2].oversubscription, 7.0);
    assert_eq!(
        run.training,
        Training { tokens: Some(15.6e12), availability: 0.9, checkpoints: None, disruptions: None }
    );
    assert_eq!(run.cost.price_per_device_hour.map(crate::quantity::Dollars::get), Some(2.0));
    assert!(run.plan.overlap.tensor && run.plan.overlap.gradient_reduce);
    assert_eq!(
        warnings.iter().map(|w| w.id.as_str()).collect::<Vec<_>>(),
        ["zero-with-pipeline", "not-offered"]
    );
}

#[test]
fn what_is_written_reads_back_the_same() {
    let spec = parse(WHOLE, "run.toml").expect("sound");
    let text = spec.to_toml();
    let back = parse(&text, "run.toml").unwrap_or_else(|p| panic!("{}\n{text}", shown(&p)));
    for key in keys() {
        assert_eq!(back.get(&key.path()), spec.get(&key.path()), "{}", key.path());
    }
    assert_eq!(back.to_toml(), text);
    assert_eq!(RunSpec::default().to_toml(), "");
}

/// The nearest key is searched once, not for each of the keys (it took 42 s for these).
#[test]
fn a_file_of_unknown_keys_is_refused_soon() {
    let text: String =
        std::iter::once("[plan]\n".to_owned()).chain((0..90_000).map(|n| format!("k{n}=1\n"))).collect();
    let begun = std::time::Instant::now();
    assert!(refused(&text).starts_with("run.toml:2:1 `plan.k0`: unknown key `plan.k0`"));
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn unknown_keys_are_reported_with_the_nearest() {
    assert_eq!(
        refused("[plan]\ntensor_paralel = 8\n"),
        "run.toml:2:1 `plan.tensor_paralel`: unknown key `plan.tensor_paralel` | tensor_paralel = 8 | did you mean `plan.tensor_parallel`?"
    );
    assert_eq!(
        refused("[modl]\nname = \"x\"\n"),
        "run.toml:1:2 `modl`: unknown key `modl` | [modl] | did you mean `model`?"
    );
    // A key of another section.
    assert_eq!(
        refused("[training]\nglobal_batch = 8\n"),
        "run.toml:2:1 `training.global_batch`: unknown key `training.global_batch` | global_batch = 8 | did you mean `plan.global_batch`?"
    );
    assert_eq!(
        refused("[training]\nxyzzy = 8\n").split(" | ").last(),
        Some(
            "valid here: `availability`, `checkpoint_stall`, `checkpoint_time`, `part_rates`, `storage_bandwidth`, `tokens`"
        )
    );
    assert!(refused("gpus = 8\n").ends_with("| did you mean `cluster.devices`?"));
    assert!(refused("[plan]\ngpus = 8\n").ends_with("| did you mean `cluster.devices`?"));
    assert_eq!(
        refused("[plan.overlap]\ntensr = true\n").split(" | ").last(),
        Some("did you mean `plan.overlap.tensor`?")
    );
}

#[test]
fn wrong_values_are_reported_with_their_place() {
    assert_eq!(
        refused("[plan]\ntensor_parallel = \"8\"\n"),
        "run.toml:2:19 `plan.tensor_parallel`: expected a whole number, 0 or more, found the text `8` | tensor_parallel = \
         \"8\" | "
    );
    assert_eq!(
        refused("[plan]\n\n  tp = -8 # half\n"),
        "run.toml:3:8 `plan.tensor_parallel`: expected a whole number, 0 or more, found -8 |   tp = -8 # half | "
    );
    assert!(refused("[plan]\nschedule = \"1f1\"\n").ends_with("| did you mean `1f1b`?"));
    assert!(
        refused("[cluster]\nnetwork.bandwidth = 400\n")
            .contains("expected a value with a unit, such as `400 Gbit/s`")
    );
    assert!(refused("[plan]\noptimizer = [1]\n").contains("expected one of `adam`, `sgd`"));
    assert!(refused("[plan]\ntensor_parallel = { a = 1 }\n").contains("expected a value, found a table"));
    assert!(refused("[plan]\noverlap = true\n").contains("expected a table, found a value"));
    assert!(refused("[plan]\nmicro_batch = 2020-01-01\n").contains("a date is not supported here"));
    assert!(refused("[plan]\nmicro_batch = 99999999999999999999\n").contains("too large"));
    assert!(refused("[plan]\nexpert_imbalance = nan\n").contains("expected a number, found NaN"));
    assert!(refused("[plan]\ntp = 8\ntensor_parallel = 8\n").contains("set twice; first set in line 2"));
}

#[test]
fn broken_toml_is_reported_with_its_place() {
    let place = parse("[plan]\ntp = = 8\n", "run.toml").expect_err("broken").place.expect("a place");
    assert_eq!((place.line, place.text.as_deref()), (Some(2), Some("tp = = 8")));
    assert!(refused("[plan\n").starts_with("run.toml:1:"));
    assert!(refused("[plan]\ntp = 1\ntp = 2\n").contains("duplicate key"));
    assert!(parse(&"[".repeat(100_000), "run.toml").is_err());
    assert!(parse(&format!("a = {}", "[".repeat(100_000)), "run.toml").is_err());
    assert!(refused(&" ".repeat(1 << 21)).contains("the file exceeds 1 MiB, the limit of run files"));
}

#[test]
fn settings_on_the_command_line_need_no_quotes() {
    let mut spec = RunSpec::default();
    for setting in [
        "model.name=llama-3.1-8b",
        "cluster.preset=dgx-h100",
        "cluster.gpus=64",
        "cluster.network.bandwidth=200 Gbit/s",
        "plan.tp=8",
        "plan.recompute=full:5",
        "plan.sharding=1",
        "plan.layers_per_stage=8,8,8,8",
        "plan.precision=fp8",
        "plan.overlap.tensor=true",
        "training.tokens=15T",
        "plan.expert_imbalance=1.2",
    ] {
        spec.set(setting).unwrap_or_else(|p| panic!("{setting}: {}", shown(&p)));
    }
    assert_eq!(spec.plan.layers_per_stage, Some(vec![8; 4]));
    assert_eq!(spec.training.tokens, Some(Amount(15e12)));
    assert_eq!(spec.cluster.network_bandwidth.map(crate::quantity::BytesPerSecond::gb), Some(25.0));
    let refused = |setting: &str| shown(&RunSpec::default().set(setting).expect_err(setting));
    assert_eq!(
        refused("plan.tensor_parallel=eight"),
        "--set `plan.tensor_parallel`: expected a whole number, 0 or more, found the text `eight` | \
         plan.tensor_parallel=eight | write a count as in `8192`, `8k` or `1M`"
    );
    assert_eq!(
        refused("plan.tensor_paralel=8"),
        "--set `plan.tensor_paralel`: unknown key `plan.tensor_paralel` |  | did you mean `plan.tensor_parallel`?"
    );
    assert_eq!(refused("plan.tp"), "--set: `plan.tp` has no `=` |  | use `--set plan.tp=VALUE`");
    assert!(refused("plan.tp=").contains("no value, expected a whole number"));
    // Counts with suffixes by common usage.
    let mut spec = RunSpec::default();
    for setting in ["cluster.devices=16k", "plan.sequence_length=128K", "plan.global_batch=0.5k"] {
        spec.set(setting).expect("a count");
    }
    assert_eq!(
        (spec.cluster.devices, spec.plan.sequence_length, spec.plan.global_batch),
        (Some(16_384), Some(131_072), Some(512))
    );
    assert!(refused("plan.tp=0.3k").contains("whole number"));
    assert!(refused("=8").contains("unknown key ``"));
}

#[test]
fn a_problem_found_late_still_has_its_line() {
    let text =
        "[model]\nname = \"llama-3.1-8b\"\n[cluster]\npreset = \"dgx-h100\"\ndevices = 64\n[plan]\ntp = 6\n";
    let problems = parse(text, "run.toml").expect("readable").resolve_valid(none).expect_err("6 ranks");
    assert!(
        shown(&problems[0]).starts_with("run.toml:7:6 `plan.tensor_parallel`: 64 devices cannot be divided"),
        "{}",
        shown(&problems[0])
    );
    let text = text.replace("tp = 6", "ep = 4").replace("dgx-h100", "dgx-h1000");
    let problems = parse(&text, "run.toml").expect("readable").resolve_valid(none).expect_err("no cluster");
    assert_eq!(
        shown(&problems[0]),
        "run.toml:4:10 `cluster.preset`: unknown cluster `dgx-h1000` | preset = \"dgx-h1000\" | did you mean `dgx-h100`, `dgx-a100` or `dgx-h200`?"
    );
}

#[test]
fn a_cluster_can_start_from_another() {
    let text = "preset = \"dgx-h100\"\nname = \"ours\"\nnetwork.kind = \"RoCE\"\n[scale_up]\nbandwidth = \"400 GB/s\"\n";
    let cluster =
        crate::cluster::ClusterSpec::parse(text, "ours.toml").expect("sound").resolve().expect("possible");
    assert_eq!((cluster.name.as_str(), cluster.network.kind.as_str()), ("ours", "RoCE"));
    assert_eq!((cluster.scale_up.bandwidth.gb(), cluster.network.bandwidth.gb()), (400.0, 50.0));
    let wrong = crate::cluster::ClusterSpec::parse("prest = \"x\"", "ours.toml").expect_err("typo");
    assert_eq!(
        shown(&wrong),
        "ours.toml:1:1 `cluster.prest`: unknown key `cluster.prest` | prest = \"x\" | did you mean `cluster.preset`?"
    );
}

#[test]
fn impossible_hardware_is_refused() {
    let refused = |setting: &str| {
        let mut spec = RunSpec::default();
        spec.set("model=llama-3.1-8b").expect("sound");
        spec.set("cluster=dgx-h100").expect("sound");
        spec.set(setting).expect("readable");
        shown(&spec.resolve(none).expect_err(setting))
    };
    assert!(refused("cluster.devices=0").starts_with("--set `cluster.devices`: the number of devices is 0"));
    assert!(
        refused("cluster.devices=1000000000000")
            .contains("exceeds the largest supported number of devices, 10,000,000")
    );
    assert!(refused("cluster.network.bandwidth=1e30 GB/s").contains("is out of range (expected"));
    assert!(refused("cluster.memory=-80 GB").contains("is out of range (expected"));
    assert!(refused("cluster.power_usage_effectiveness=0.5").contains("is out of range (expected"));
    assert!(refused("training.availability=0").contains("expected a share above 0 and at most 1, found 0"));
}

proptest! {
    #[test]
    fn a_damaged_file_is_read_or_reported_with_its_line(at in 0_usize..700, cut in 0_usize..12, put in "[a-z0-9=.\\[\\]\"\n ]{0,6}") {
        let mut text = WHOLE.to_owned();
        let start = at.min(text.len());
        let end = (start + cut).min(text.len());
        text.replace_range(start..end, &put);
        match parse(&text, "f") {
            Ok(spec) => drop(spec.resolve_valid(none)),
            Err(problem) => {
                let place = problem.place.clone().unwrap_or_default();
                prop_assert!(place.line.is_some() && place.file == "f", "{}", shown(&problem));
                prop_assert!(!problem.message.is_empty() && !problem.message.ends_with('.'), "{}", shown(&problem));
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,400}") {
        let _ = parse(&text, "f").map(|spec| spec.resolve_valid(none));
    }

    #[test]
    fn no_setting_makes_it_panic(index in 0_usize..200, value in "\\PC{0,40}") {
        let all = keys();
        let mut spec = RunSpec::default();
        let _ = spec.set("model.name=llama-3.1-8b");
        let _ = spec.set("cluster.preset=dgx-h100");
        let _ = spec.set(&format!("{}={value}", all[index % all.len()].path()));
        let _ = spec.resolve_valid(none);
    }

    #[test]
    fn no_numbers_make_it_panic(values in proptest::collection::vec((0_usize..200, prop_oneof![
        Just(0_i64), Just(i64::MAX), Just(9_999_999), 1..64_i64, any::<i64>()
    ]), 0..12)) {
        let all = keys();
        let mut spec = RunSpec::default();
        let _ = spec.set("model.name=mixtral-8x7b");
        let _ = spec.set("cluster.preset=dgx-h100");
        for (index, value) in values {
            let _ = spec.set(&format!("{}={value}", all[index % all.len()].path()));
        }
        let _ = spec.resolve_valid(none);
    }

    #[test]
    fn every_key_reads_back_what_it_wrote(index in 0_usize..200, n in 1..1000_u64, x in 0.0..1.0_f64) {
        let all = keys();
        let key = &all[index % all.len()];
        let value = match key.kind {
            Kind::Text => format!("text {n}"),
            Kind::Count => n.to_string(),
            Kind::Number => format!("{x}"),
            Kind::Flag => (n % 2 == 0).to_string(),
            Kind::Choice(names) | Kind::Form(names) => names[n as usize % names.len()].to_owned(),
            Kind::Counts => format!("[{n}, 2]"),
            Kind::Texts if key.name == "stage_recompute" => format!("[\"full:{n} mlp+norm\", \"none*{n}\"]"),
            Kind::Texts if key.name == "lora_targets" => "[\"q_proj\", \"linear_fc1\"]".to_owned(),
            Kind::Texts if key.path() == "plan.auto" => "[\"pp\"]".to_owned(),
            Kind::Texts if key.name == "pools" => format!("[\"dgx-a100:{n}\"]"),
            Kind::Texts => format!("[\"leaf:{n}:1:2 us\"]"),
            Kind::Quantity(names) | Kind::Amount(names) => {
                let unit: String = names[0].chars().skip_while(|c| c.is_ascii_digit() || *c == '.').collect();
                format!("{x}{unit}")
            }
        };
        let mut spec = RunSpec::default();
        spec.set(&format!("{}={value}", key.path())).expect("an example value");
        let back = parse(&spec.to_toml(), "f").expect("what was written");
        prop_assert_eq!(back.get(&key.path()), spec.get(&key.path()));
    }
}

#[test]
fn values_of_other_formats_keep_their_place() {
    let mut spec = RunSpec::default();
    let place = Place { file: "ds.json".to_owned(), line: Some(7), ..Place::default() };
    spec.set_at("plan.micro_batch", &Value::Integer(4), place.clone()).expect("a count");
    assert_eq!((spec.plan.micro_batch, spec.place_of("plan.micro_batch")), (Some(4), Some(&place)));
    let problem = spec.set_at("plan.micro_batch", &Value::Flag(true), place.clone()).expect_err("a flag");
    assert_eq!(problem.to_string(), "ds.json:7: expected a whole number, 0 or more, found `true`");
    assert!(spec.set_at("plan.micro", &Value::Integer(4), place).is_err());
}

#[test]
fn an_unspecified_software_keeps_its_origin_in_a_run_file() {
    for origin in [SoftwareOrigin::Inferred, SoftwareOrigin::Assumed] {
        let text = format!("[plan]\nsoftware = \"{}\"\n", origin.written("megatron-core-2024"));
        let spec = parse(&text, "f").expect("a run file");
        assert_eq!(spec.plan.software.as_deref(), Some("megatron-core-2024"));
        assert_eq!(spec.software_origin(), origin);
        assert_eq!(spec.to_toml(), text);
        let mut below = RunSpec::default();
        below.overlay(&spec);
        assert_eq!(below.software_origin(), origin);
    }
    let named = parse("[plan]\nsoftware = \"megatron-core-2024\"\n", "f").expect("a run file");
    assert_eq!(named.software_origin(), SoftwareOrigin::Specified);
    assert_eq!(
        named.to_toml(),
        SoftwareOrigin::Specified.written("[plan]\nsoftware = \"megatron-core-2024\"\n")
    );
}
