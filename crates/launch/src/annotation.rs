//! Settings without a framework equivalent, in comments that are read back.
//!
//! Responsible for: properties of the environment (the software generation, the rack segment of the
//! scheduler) and of the data (length of documents, balance of experts), as `# railwright: plan.software =
//! "..."`. Excludes all other settings: those with a flag are never comments.

use crate::Draft;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{BIASED_IMBALANCE, Plan, PlanSpec, default_imbalance};
use railwright_spec::run::{Section, Value};
use std::fmt::Write as _;

const MARK: &str = "# railwright:";
/// Keys, and the value without an effect that is not written.
const KEYS: &[(&str, Option<f64>)] = &[
    ("software", None),
    ("segment", None),
    ("document_length", None),
    ("document_length_cv", Some(0.0)),
    ("expert_imbalance", None),
];

/// The comments of a plan on a cluster, one line each.
pub(crate) fn write(plan: &Plan, model: &Model, cluster: &Cluster) -> String {
    let is_default = |key: &str| match key {
        "segment" => is_default_segment(plan, cluster),
        // A file does not name the model, so its reader does not know how its published training balanced
        // experts.
        "expert_imbalance" => {
            plan.expert_imbalance == default_imbalance(model, plan.expert_capacity)
                && plan.expert_imbalance != BIASED_IMBALANCE
        }
        _ => false,
    };
    let spec = PlanSpec::from_plan(plan);
    let mut out = String::new();
    for (key, neutral) in KEYS.iter().filter(|(key, _)| !is_default(key)) {
        let Some(value) = spec.get(key) else { continue };
        if neutral.map(Value::Number) != Some(value.clone()) {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{MARK} plan.{key} = {}", value.to_toml());
        }
    }
    out
}

/// Tests whether a reader chooses the plan's segment. If the job does not fill domains evenly, one with other
/// nodes could choose another.
fn is_default_segment(plan: &Plan, cluster: &Cluster) -> bool {
    let is_even = plan.world_size().is_multiple_of(cluster.scale_up.domain_size.max(1));
    is_even && plan.segments(cluster).next() == Some(plan.segment)
}

/// The comment for a software generation.
pub(crate) fn of_software(id: &str) -> (String, String) {
    (format!("{MARK} plan.software ="), Value::Text(id.to_owned()).to_toml())
}

/// A text with the comment for a software generation, below the line that names the interpreter.
pub(crate) fn with_software(text: &str, id: &str) -> String {
    let start = if text.starts_with("#!") { text.find('\n').map_or(text.len(), |end| end + 1) } else { 0 };
    let (head, body) = text.split_at(start);
    let gap = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let (name, value) = of_software(id);
    format!("{head}{gap}{name} {value}\n{body}")
}

/// Tests whether a line is such a comment.
pub(crate) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with(MARK)
}

/// Takes the comments of a text.
pub(crate) fn read(text: &str, draft: &mut Draft) {
    for (index, line) in text.lines().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix(MARK) else { continue };
        let Some((key, value)) = rest.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        let Some(name) = key.strip_prefix("plan.").filter(|name| KEYS.iter().any(|(key, _)| key == name))
        else {
            continue;
        };
        let value = match (name, value.parse::<f64>()) {
            ("document_length" | "segment", Ok(number)) if (0.0..9e15).contains(&number) => {
                Value::Integer(number as i64)
            }
            (_, Ok(number)) if number.is_finite() => Value::Number(number),
            _ => Value::Text(value.trim_matches('"').to_owned()),
        };
        let inferred = draft.origins().iter().find(|origin| origin.key == "plan.software");
        if let Some(source) = inferred.map(|origin| origin.source.clone()).filter(|_| name == "software") {
            draft.forget_assumptions(&source);
        }
        draft.set_value(key, &value, line.trim(), Some(index + 1));
    }
}
