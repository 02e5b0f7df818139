//! Default configuration of every model type of transformers against its exact parameter count on the meta
//! device.
//!
//! `data/families.jsonl` is the output of `data/families.py`, independent of this program. Types without an
//! exact match are in `data/families_open.csv` with the reason. A type with a match must be removed from that
//! list, so it can only get shorter.

use railwright_spec::model::{Model, from_hugging_face};
use serde_json::Value;
use std::collections::BTreeMap;

/// Groups with the number of types that were built, and the minimum number with an exact match.
const GROUPS: &[(&str, usize, usize)] = &[
    ("causal", 173, 158),
    ("masked", 50, 26),
    ("seq2seq", 37, 13),
    ("speech", 20, 1),
    ("image_text", 84, 12),
];

fn rows() -> Vec<Value> {
    let text = include_str!("data/families.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

fn open() -> BTreeMap<String, (String, String)> {
    let text = include_str!("data/families_open.csv");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let rows = reader.records().map(|record| record.expect("a row"));
    rows.map(|row| (format!("{} {}", &row[0], &row[1]), (row[2].to_owned(), row[3].to_owned()))).collect()
}

/// All trained parameters, towers included.
fn total(model: &Model) -> u64 {
    model.parameters().total
}

#[test]
fn every_type_to_the_digit_or_in_the_list_of_open_ones() {
    let open = open();
    let mut wrong = Vec::new();
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows() {
        let (group, kind) = (row["group"].as_str().expect("a group"), row["type"].as_str().expect("a type"));
        let theirs = row["parameters"].as_u64().expect("a count");
        let name = format!("{group} {kind}");
        *seen.entry(group.to_owned()).or_default() += 1;
        let model = from_hugging_face(&row["config"].to_string(), kind);
        let result = match &model {
            Err(problem) => Err(problem.to_string()),
            Ok(model) if total(model) == theirs => Ok(()),
            Ok(model) => Err(format!(
                "{} instead of {theirs}, off by {}",
                total(model),
                i128::from(total(model)) - i128::from(theirs)
            )),
        };
        // An omitted part is always reported.
        let is_refused = model.is_err();
        let reported = model.is_ok_and(|model| !model.left_out.is_empty());
        match (result, open.get(&name)) {
            (Ok(()), None) => *met.entry(group.to_owned()).or_default() += 1,
            (Ok(()), Some(_)) => {
                wrong.push(format!("{name} is met now: remove it from the list of open ones"));
            }
            (Err(_), Some((outcome, reason))) => {
                let keeps = match outcome.as_str() {
                    "refused" => is_refused,
                    "told" => reported,
                    _ => outcome == "differs" && !is_refused,
                };
                if !keeps || reason.is_empty() {
                    wrong.push(format!("{name}: the list of open ones has {outcome}: {reason:?}"));
                }
            }
            (Err(error), _) => {
                wrong.push(format!("{name}: {error}{}", if reported { " (reported)" } else { "" }));
            }
        }
    }
    let counts: Vec<String> = seen
        .iter()
        .map(|(group, all)| format!("{group}: {} of {all}", met.get(group).copied().unwrap_or(0)))
        .collect();
    assert!(wrong.is_empty(), "{}\n{} types:\n{}", counts.join(", "), wrong.len(), wrong.join("\n"));
    for (group, all, least) in GROUPS {
        assert_eq!(seen.get(*group), Some(all), "{group}");
        assert!(met.get(*group).is_some_and(|met| met >= least), "{group}: {met:?}");
    }
}
