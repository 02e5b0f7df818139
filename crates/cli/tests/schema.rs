//! Results validated with their published schemas, by another implementation of JSON Schema.

use std::collections::BTreeSet;
use std::path::PathBuf;

const LLAMA: &str = "llama-3-8b --cluster dgx-h100 --gpus 64 --tp 8 --pp 2 --global-batch 128";

/// Bundled inputs.
const INPUTS: &[(&str, &str)] = &[
    ("{COLLECTIVES}", "catalog/evidence/collectives_at_scale.csv"),
    ("{TRACES}", "fixtures/traces/megatron_tp2_v100"),
    ("{AB}", "fixtures/traces/modded_nanogpt_h100/ab"),
    ("{LOG}", "examples/launch/mixtral_8x7b.log"),
    ("{SCRIPT}", "examples/launch/llama3_70b.sh"),
    ("{HANG}", "examples/hang"),
    ("{PIPELINE}", "fixtures/traces/bytedance_whatif/trace-ST.parquet"),
    ("{INSPECTOR}", "crates/cli/tests/inputs/inspector.jsonl"),
    ("{SNAPSHOT}", "fixtures/memory_snapshot/training.pickle"),
];

/// Every kind of result, with commands that lead to it; `{TRACES}` and similar names are replaced by bundled
/// inputs.
const QUESTIONS: &[(&str, &str)] = &[
    ("accelerator", "gpus show h100-sxm5-80gb"),
    ("accelerators", "gpus list"),
    ("balance", "balance {LLAMA}"),
    ("balance", "balance llama-3.1-405b --cluster dgx-h100 --gpus 16 --tp 8 --pp 2 --global-batch 16"),
    ("cluster", "clusters show dgx-h100"),
    ("clusters", "clusters list"),
    ("communication", "comm {TRACES}"),
    ("communication", "comm {INSPECTOR}"),
    ("compare", "compare {AB}/current-rank0.json.gz {AB}/hook-rank0.json.gz"),
    ("compare", "compare {LOG} {LOG}"),
    ("check", "check {SCRIPT} {LOG}"),
    ("detect", "detect {SCRIPT}"),
    ("detect", "detect {LOG}"),
    ("estimate", "estimate {LLAMA} --tokens 15T --why"),
    (
        "estimate",
        "estimate mixtral-8x7b --cluster dgx-h100 --gpus 64 --tp 2 --pp 2 --ep 8 --global-batch 256 --zero 1",
    ),
    ("estimate", "estimate {LOG} --cluster dgx-h100 --gpus 64"),
    ("explanation", "explain mfu"),
    ("export", "export {LLAMA} --to megatron"),
    ("goodput", "goodput --gpus 16384 --checkpoint-time 30s --spares 16 --repair-time 2d"),
    ("goodput", "goodput --gpus 16384 --checkpoint-time 30s --mtbf 3h --interval 20min"),
    ("hang", "hang {HANG}"),
    ("keys", "keys"),
    ("log", "log {LOG}"),
    ("memory", "memory {LLAMA}"),
    ("memory_snapshot", "memory-snapshot {SNAPSHOT}"),
    ("model", "models show llama-3-8b"),
    ("models", "models list"),
    ("network", "network show rail-optimized --gpus 1024"),
    ("network_collective", "network collective all-reduce --bytes 1M,256M --gpus 64"),
    ("network_flows", "network flows two-hosts-flows.csv --fabric two-hosts.ibnet --cluster two-hosts.toml"),
    ("network_cost", "network cost --gpus 1024"),
    ("network_design", "network design llama-3-8b --cluster dgx-h100 --gpus 64 --global-batch 128"),
    ("network_failures", "network failures rail-optimized --gpus 1024"),
    ("network_sites", "network sites 10B --bandwidth 1Gbit/s --step 23s"),
    ("network_simulate", "network simulate {LLAMA} --topology rail-optimized"),
    ("network_traffic", "network traffic {LLAMA}"),
    ("network_traffic", "network traffic {LLAMA} --by link --topology rail-optimized"),
    ("network_traffic", "network traffic {LLAMA} --by rail"),
    ("network_traffic", "network traffic {LLAMA} --by matrix"),
    ("network_traffic", "network traffic {LLAMA} --by domain"),
    ("network_validation", "validate --network flow {COLLECTIVES}"),
    ("pipeline", "pipeline {PIPELINE}"),
    ("profile", "profile {TRACES}"),
    ("profile_hta", "profile {TRACES} --compat hta"),
    ("profile_range", "profile {TRACES} --aggregate --between 1ms..2ms --rows streams,threads"),
    ("published_topologies", "network topologies --published"),
    ("query", "query 'select * from gpu limit 3' {TRACES}"),
    ("query_schema", "query --schema"),
    ("rail_only", "network rail-only"),
    ("recompute", "recompute {LLAMA}"),
    ("regret", "validate --regret sweep.csv"),
    ("search", "search llama-3-8b --cluster dgx-h100 --gpus 8 --global-batch 32"),
    ("search", "search llama-3.1-405b --cluster dgx-h100 --gpus 8 --global-batch 32"),
    ("sensitivity", "sensitivity {LLAMA}"),
    (
        "size",
        "size llama-3-8b --cluster dgx-h100 --global-batch 128 --tokens 1T --deadline 30d --gpus 64,128",
    ),
    ("software", "explain software"),
    ("stragglers", "stragglers {TRACES}"),
    ("stragglers", "stragglers {INSPECTOR}"),
    ("topics", "explain"),
    ("topologies", "network topologies"),
    ("topology_keys", "network topologies dragonfly"),
    ("tune", "tune {SCRIPT} --cluster dgx-h100"),
    ("validation", "validate runs.csv"),
    ("values", "values {LLAMA}"),
    ("whatif", "whatif {LLAMA} --change recompute=full"),
];

fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The words of a command; quotes keep a text with spaces together.
fn words(question: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in question.replace("{LLAMA}", LLAMA).split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    for word in &mut words {
        for (name, path) in INPUTS {
            *word = word.replace(name, &root(path).display().to_string());
        }
    }
    words.push("--json".to_owned());
    words
}

/// JSON whose objects have each key once; `serde_json` alone keeps the last.
struct Once;

impl<'de> serde::de::DeserializeSeed<'de> for Once {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> serde::de::Visitor<'de> for Once {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value_seed(Once)?;
            if !seen.insert(key.clone()) {
                return Err(serde::de::Error::custom(format!("`{key}` comes twice")));
            }
        }
        Ok(())
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Once)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

fn each_key_once(text: &str) -> Result<(), serde_json::Error> {
    use serde::de::DeserializeSeed as _;
    Once.deserialize(&mut serde_json::Deserializer::from_str(text))
}

#[test]
fn answers_follow_their_schemas() {
    let mut wrong = Vec::new();
    for (kind, question) in QUESTIONS {
        let words = words(question);
        let answer = crate::support::run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let read: Result<serde_json::Value, _> = serde_json::from_str(&answer.stdout);
        let Ok(value) = read else {
            wrong.push(format!("{question}: no JSON: {}", answer.stderr));
            continue;
        };
        if let Err(error) = each_key_once(&answer.stdout) {
            wrong.push(format!("{question}: {error}"));
        }
        if value["kind"] != *kind {
            wrong.push(format!("{question}: kind {}", value["kind"]));
        }
        let text =
            std::fs::read_to_string(root(&format!("docs/reference/schema/{kind}.json"))).expect("a schema");
        let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a valid schema");
        wrong.extend(
            validator.iter_errors(&value).take(3).map(|e| format!("{question}: {}: {e}", e.instance_path)),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_schema_has_a_question() {
    let asked: BTreeSet<String> = QUESTIONS.iter().map(|(kind, _)| format!("{kind}.json")).collect();
    let there: BTreeSet<String> = std::fs::read_dir(root("docs/reference/schema"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    // Calibrations need measurements of one run; their own tests read every field.
    let apart = BTreeSet::from(["calibration.json".to_owned(), "calibration_file.json".to_owned()]);
    assert_eq!(&there - &apart, asked);
}

#[test]
fn every_schema_is_linked_from_the_reference() {
    let page = std::fs::read_to_string(root("docs/reference/json.md")).expect("the page");
    for entry in std::fs::read_dir(root("docs/reference/schema")).expect("the folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(page.contains(&format!("(schema/{name})")), "{name}");
    }
}

#[test]
fn a_wrong_answer_fails_its_schema() {
    let text = std::fs::read_to_string(root("docs/reference/schema/estimate.json")).expect("a schema");
    let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    assert!(!validator.is_valid(&serde_json::json!({ "kind": "estimate" })));
    assert!(
        each_key_once("{\"a\": 1, \"a\": 2}").is_err()
            && each_key_once("[{\"a\": [null, true, 1.5]}]").is_ok()
    );
}
