//! Eleven planning tasks of practice: the first row is a layout that an expert would launch.
//!
//! Properties of any good result, and the range of published runs of the same kind. The publications are rows
//! of `catalog/evidence/measured_runs.csv` and `tuned_layouts.csv`, by identifier.

use crate::support::json;
use serde_json::Value;

/// Lowest and highest published result of a run.
enum Published {
    /// MFU.
    Mfu(f64, f64),
    /// Seconds of a step of the same model, batch and machine.
    Seconds(f64, f64),
    /// No published run of this kind has figures.
    None,
}

struct Question {
    /// The arguments of `search`.
    asked: &'static str,
    /// Devices of a scale-up domain.
    domain: u64,
    published: Published,
}

/// Relative margin around published values: machines, batches and software differ.
const MARGIN: f64 = 0.2;
/// Tokens of a sequence from which a context-parallel rank has enough work, as in published Llama 3 recipes.
const FEWEST_TOKENS: u64 = 4096;

const QUESTIONS: &[Question] = &[
    // mcore-h100-weak-70B; dgxc-v24.11.1-Llama-3-70B-H100-bf16-256g-gbs512
    Question {
        asked: "llama-3-70b --cluster dgx-h100 --gpus 256",
        domain: 8,
        published: Published::Mfu(0.42, 0.541),
    },
    // llama3-t4-16384g-seq8192; llama3-t4-8192g-seq8192
    Question {
        asked: "llama-3.1-405b --cluster dgx-h100 --gpus 16384",
        domain: 8,
        published: Published::Mfu(0.41, 0.43),
    },
    // deepseek-v3-h100-1024-bf16 (1,061 tokens per second and GPU); dsv3-isca25-t4
    Question {
        asked: "deepseek-v3 --cluster h800 --gpus 2048 --seq 4096 --gbs 15360",
        domain: 8,
        published: Published::Mfu(0.279, 0.389),
    },
    // mbridge-26.04.01-Qwen3-235B-A22B-B200-mxfp8-256g-gbs8192 and -B300-: 560 and 878 of 4,500 TFLOP/s
    Question {
        asked: "qwen3-235b-a22b --cluster dgx-b200 --gpus 512 --seq 4096 --gbs 8192 --precision mxfp8",
        domain: 8,
        published: Published::Mfu(0.124, 0.195),
    },
    // torchtitan-0009 (1,071 tokens per second and GPU); xtuner-l3-8b-128k-8 (177.7 of 312 TFLOP/s)
    Question {
        asked: "llama-3-8b --cluster dgx-h100 --gpus 64 --seq 131072 --gbs 64",
        domain: 8,
        published: Published::Mfu(0.16, 0.57),
    },
    // torchtitan-0009; xtuner-l2-7b-1024k-32 (153.9 of 312 TFLOP/s)
    Question {
        asked: "llama-3-8b --cluster dgx-h100 --gpus 64 --seq 1048576 --gbs 8",
        domain: 8,
        published: Published::Mfu(0.16, 0.493),
    },
    // foundry-0149; foundry-0165
    Question {
        asked: "llama-2-7b --cluster dgx-a100-40gb --gpus 8",
        domain: 8,
        published: Published::Mfu(0.439, 0.562),
    },
    // deepseek-v3-b200-256-mxfp8 (864 of 4,500 TFLOP/s); mbridge-26.08-DeepSeek-V3-GB200-mxfp8-256g-gbs4096
    // (1,276 of 5,000)
    Question {
        asked: "kimi-k2 --cluster gb200-nvl72 --gpus 8192 --seq 4096 --gbs 16384 --precision mxfp8",
        domain: 72,
        published: Published::Mfu(0.192, 0.255),
    },
    Question { asked: "llama-3-70b --cluster mi300x --gpus 64", domain: 8, published: Published::None },
    Question {
        asked: "llama-2-13b --cluster a100-pcie-80gb --gpus 32",
        domain: 2,
        published: Published::None,
    },
    // mlperf-0057; mlperf-0034
    Question {
        asked: "llama-2-70b --cluster dgx-h100 --gpus 8 --seq 8192 --gbs 8 --optimizer lora --precision fp8",
        domain: 8,
        published: Published::Seconds(3.688, 4.147),
    },
];

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} in {value}"))
}

/// Objections of an expert to the first row.
fn objections(question: &Question, first: &Value) -> Vec<String> {
    let ranked = &first["ranked"];
    let candidate = &ranked["candidate"];
    let of = |key: &str| candidate["plan"][key].as_u64().unwrap_or_else(|| panic!("{key} in {candidate}"));
    let within = |figure: f64, least: f64, most: f64| {
        (least * (1.0 - MARGIN)..=most * (1.0 + MARGIN)).contains(&figure)
    };
    let published = match question.published {
        Published::Mfu(least, most) => within(number(ranked, "/mfu"), least, most),
        Published::Seconds(least, most) => within(number(candidate, "/step_time"), least, most),
        Published::None => true,
    };
    let context = of("context_parallel");
    let experts = of("expert_parallel") * of("expert_tensor_parallel");
    // DeepSeek-V3 trained with experts on 64 GPUs of 8 nodes, its dispatch fused.
    let is_fused = candidate["plan"]["software"].as_str().is_some_and(|id| id.contains("+fused-dispatch"));
    let dispatched = if is_fused { 64 } else { 1 };
    let checks = [
        ("it fits with a chance below 0.9", number(candidate, "/probability_of_fitting") >= 0.9),
        ("tensor parallelism leaves the domain", of("tensor_parallel") <= question.domain),
        ("context ranks have few tokens", context == 1 || of("sequence_length") >= FEWEST_TOKENS * context),
        (
            "experts are on too many domains",
            of("expert_parallel") == 1 || experts <= question.domain.max(dispatched),
        ),
        ("it has unusual features", candidate["oddities"].as_array().is_some_and(Vec::is_empty)),
        ("no published run is like it", published),
    ];
    checks.iter().filter(|(_, is_fine)| !is_fine).map(|(objection, _)| (*objection).to_owned()).collect()
}

#[test]
fn experts_would_launch_the_first_row() {
    let mut wrong = Vec::new();
    for question in QUESTIONS {
        let words = question.asked.split(' ').chain(["--top", "3", "--json"]);
        let words: Vec<&str> = ["search"].into_iter().chain(words).collect();
        let answer = json(&words, 0);
        let first = &answer["candidates"][0];
        let line = format!(
            "{}: {}, {:.3} s, MFU {}",
            question.asked,
            first["layout"],
            number(first, "/ranked/candidate/step_time"),
            first["ranked"]["mfu"]
        );
        wrong.extend(objections(question, first).into_iter().map(|objection| format!("{objection}: {line}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Search, sizing and the design of networks use the batch and the sequences of the model's publication if
/// neither is set.
#[test]
fn one_published_batch_for_three_commands() {
    let pinned = "--cluster dgx-h100 --gpus 1024 --tp 8 --pp 16 --cp 1 --mbs 1 --recompute full --uneven-stages --json --quiet";
    let pinned: Vec<&str> = pinned.split(' ').collect();
    let ask = |words: &[&str]| json(&[words, &pinned].concat(), 0);
    let batch = |plan: &Value| [plan["global_batch"].as_u64(), plan["sequence_length"].as_u64()];
    // The Llama 3 Herd of Models, section 3.4.1: 16M tokens in sequences of 8,192.
    let published = [Some(2048), Some(8192)];
    let found = ask(&["search", "llama-3.1-405b", "--top", "1"]);
    assert_eq!(batch(&found["candidates"][0]["ranked"]["candidate"]["plan"]), published);
    let sized = ask(&["size", "llama-3.1-405b", "--tokens", "1T"]);
    assert_eq!(batch(&sized["size"]["rows"][0]["plan"]), published);
    let designed =
        ask(&["network", "design", "llama-3.1-405b", "--topologies", "rail-optimized", "--domains", "8"]);
    let chosen = designed["chosen"].as_array().expect("a list");
    for part in ["global batch 2,048", "sequences of 8,192 tokens"] {
        assert!(chosen.iter().any(|line| line == part), "{chosen:?}");
    }
    let own = ask(&["search", "llama-3.1-405b", "--top", "1", "--seq", "4096"]);
    assert_eq!(batch(&own["candidates"][0]["ranked"]["candidate"]["plan"]), [Some(4096), Some(4096)]);
}
