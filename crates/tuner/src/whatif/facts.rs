//! A resolved run as keys and values, for the direct and indirect differences of a change.

use railwright_spec::cluster::ClusterSpec;
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_spec::quantity::Dollars;
use railwright_spec::run::{Field as _, Run, Section, Value, Writing};
use serde::Serialize;

/// A key whose value differs between two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// The key of the run file.
    pub key: String,
    /// Its value before, as text. `None` if it had none.
    pub before: Option<String>,
    /// Its value after, as text. `None` if it has none.
    pub after: Option<String>,
}

/// Every key of a run with its value.
pub(super) fn facts(run: &Run) -> Vec<(String, Value)> {
    let model = &run.model;
    let count = |n: u64| Value::Integer(i64::try_from(n).unwrap_or(i64::MAX));
    let mut list = vec![
        ("model.name".to_owned(), Value::Text(model.name.clone())),
        ("model.layers".to_owned(), count(model.num_layers())),
        ("model.hidden".to_owned(), count(model.hidden_size)),
        ("model.vocab".to_owned(), count(model.vocabulary)),
    ];
    section(&ClusterSpec::in_full(&run.cluster), &["name", "source"], &mut list);
    section(&PlanSpec::from_plan(&run.plan), &[], &mut list);
    let number = |x: f64| Value::Number(x);
    let price = run.cost.price_per_device_hour.map(Dollars::get);
    if let Some(checkpoints) = run.training.checkpoints {
        list.push(match checkpoints.writing {
            Writing::Time(time) => ("training.checkpoint_time".to_owned(), time.write()),
            Writing::Bandwidth(bandwidth) => ("training.storage_bandwidth".to_owned(), bandwidth.write()),
        });
        list.extend(checkpoints.stall.map(|stall| ("training.checkpoint_stall".to_owned(), stall.write())));
    }
    let rest = [
        ("training.tokens", run.training.tokens),
        // With modelled failures, the goodput is not a setting.
        ("training.availability", run.training.checkpoints.is_none().then_some(run.training.availability)),
        ("cost.price_per_device_hour", price),
        ("cost.electricity_price", run.cost.electricity_price.map(Dollars::get)),
        ("cost.power_share", Some(run.cost.power_share)),
    ];
    list.extend(rest.into_iter().filter_map(|(key, value)| Some((key.to_owned(), number(value?)))));
    list
}

fn section<S: Section>(section: &S, without: &[&str], list: &mut Vec<(String, Value)>) {
    for key in S::KEYS.iter().filter(|key| !without.contains(&key.name)) {
        if let Some(value) = section.get(key.name) {
            list.push((key.path(), value));
        }
    }
}

/// Keys with different values, in the order of the run file.
pub(super) fn moved(before: &Run, after: &Run) -> Vec<Moved> {
    let (old, new) = (facts(before), facts(after));
    let value = |list: &[(String, Value)], key: &str| {
        list.iter().find(|fact| fact.0 == key).map(|fact| words(&fact.1))
    };
    let mut found: Vec<Moved> = Vec::new();
    for (key, _) in old.iter().chain(&new) {
        let (before, after) = (value(&old, key), value(&new, key));
        if before != after && !found.iter().any(|moved| moved.key == *key) {
            found.push(Moved { key: key.clone(), before, after });
        }
    }
    found
}

/// The value in input format; long lists and texts are shortened.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::Text(text) => human::shorten(text),
        Value::Integer(n) => n.to_string(),
        Value::Number(x) => format!("{x}"),
        Value::Flag(flag) => flag.to_string(),
        Value::List(list) => {
            let whole: Option<Vec<u64>> = list
                .iter()
                .map(|item| match item {
                    Value::Integer(n) => u64::try_from(*n).ok(),
                    _ => None,
                })
                .collect();
            match whole {
                Some(counts) => human::counts(&counts),
                None => human::shorten(&list.iter().map(words).collect::<Vec<_>>().join(", ")),
            }
        }
    }
}
