//! The answer of `search` for machines: JSON with everything, CSV with a row for each layout.

use crate::commands::search::{Answered, Shown, why_not};
use railwright_spec::quantity::Dollars;
use railwright_tuner::ranking::Share;
use serde_json::{Map, Value, json};

pub(super) fn json(answer: &Answered) -> Map<String, Value> {
    let shown: Vec<Value> = answer.shown.iter().map(one).collect();
    let nothing = answer.nothing.as_ref().map(|nothing| {
        json!({
            "nearest_misses": nothing
                .misses
                .iter()
                .map(|(miss, layout)| json!({ "miss": miss, "layout": layout }))
                .collect::<Vec<_>>(),
            "remedies_tried": nothing.tried,
            "complete": !nothing.is_stopped,
            "remedies": nothing
                .remedies
                .iter()
                .map(|r| json!({
                    "change": r.change,
                    "devices": r.devices,
                    "step_time": r.step_time,
                    "layout": r.layout,
                }))
                .collect::<Vec<_>>(),
        })
    });
    let impossible: Vec<Value> = answer
        .impossible
        .iter()
        .map(|none| json!({ "cluster": none.cluster, "devices": none.devices, "reason": none.reason }))
        .collect();
    let goal = |goal: crate::args::Goal| railwright_tuner::search::Objective::from(goal);
    Map::from_iter([
        ("title".to_owned(), json!(answer.title)),
        ("complete".to_owned(), json!(answer.is_complete)),
        ("objective".to_owned(), json!(goal(answer.objective))),
        ("pareto".to_owned(), json!(answer.pareto.map(|(a, b)| [goal(a), goal(b)]))),
        ("fit_probability".to_owned(), json!(answer.fit_probability)),
        (
            // What pruning left out depends on which thread was first; only what does not is data.
            "counters".to_owned(),
            json!({ "enumerated": answer.counters.enumerated, "invalid": answer.counters.invalid }),
        ),
        ("found".to_owned(), json!(answer.found)),
        ("not_expressed_in_megatron".to_owned(), json!(answer.not_expressed)),
        ("by_family".to_owned(), json!(answer.is_by_family)),
        ("fastest".to_owned(), json!(answer.fastest.as_ref().map(one))),
        ("own".to_owned(), Value::Array(answer.own.iter().map(one).collect())),
        ("freed".to_owned(), json!(answer.freed)),
        ("candidates".to_owned(), Value::Array(shown)),
        ("nothing_fits".to_owned(), nothing.unwrap_or(Value::Null)),
        ("impossible".to_owned(), Value::Array(impossible)),
        ("why_not".to_owned(), Value::Array(answer.why_not.iter().map(why).collect())),
        ("chosen".to_owned(), json!(answer.chosen)),
        ("doubts".to_owned(), json!(answer.doubts)),
    ])
}

fn one(shown: &Shown) -> Value {
    json!({
        "ranked": shown.ranked,
        "cluster": shown.cluster,
        "setting": shown.setting,
        "layout": shown.layout,
        "command": shown.command,
        "run_file": shown.run_file,
    })
}

fn why(answer: &why_not::Answer) -> Value {
    json!({ "named": answer.text, "layout": answer.layout, "why_not": answer.verdict, "outside": answer.outside })
}

/// Header and rows: plain numbers in base units.
pub(super) fn rows(answer: &Answered) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header: Vec<String> = [
        "rank",
        "cluster",
        "devices",
        "step_time_s",
        "step_time_low_s",
        "step_time_high_s",
        "mfu",
        "memory_bytes",
        "probability_of_fitting",
        "dollars_per_trillion_tokens",
        "behind",
        "tied_with_best",
    ]
    .map(str::to_owned)
    .into();
    let parts = Share::ALL.map(|on| crate::printer::words(on).replace(' ', "_"));
    header.extend(parts.iter().map(|part| format!("share_{part}")));
    header.extend(["layout".to_owned(), "command".to_owned()]);
    let rows = answer.own.iter().chain(&answer.shown).map(|shown| {
        let ranked = &shown.ranked;
        let candidate = &ranked.candidate;
        let mut row = vec![
            ranked.rank.to_string(),
            shown.cluster.clone(),
            candidate.devices.to_string(),
            candidate.step_time.get().to_string(),
            ranked.step_time_interval.low.get().to_string(),
            ranked.step_time_interval.high.get().to_string(),
            ranked.mfu.map_or_else(String::new, |mfu| mfu.to_string()),
            candidate.memory.device.get().to_string(),
            candidate.probability_of_fitting.to_string(),
            ranked
                .dollars_per_trillion_tokens
                .map(Dollars::get)
                .map_or_else(String::new, |price| price.to_string()),
            ranked.behind.to_string(),
            candidate.tied_with_best.to_string(),
        ];
        row.extend(ranked.spent.iter().map(|spent| spent.share.to_string()));
        row.extend([shown.layout.clone(), shown.command.clone()]);
        row
    });
    (header, rows.collect())
}
