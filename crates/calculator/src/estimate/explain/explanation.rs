//! An explanation: a number, its equation, and the numbers that went into it.

use crate::local::LocalParameters;
use railwright_spec::human;
use railwright_spec::plan::Plan;
use serde::Serialize;

/// A number that an equation uses.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Input {
    /// Name in the equation.
    pub name: String,
    /// Value.
    pub value: f64,
    /// Its unit; empty for counts and shares.
    pub unit: &'static str,
    /// Origin.
    pub source: String,
}

impl Input {
    /// The number as text.
    pub fn text(&self) -> String {
        text(self.value, self.unit)
    }
}

/// One number explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Identifier, as in the breakdown and in `railwright explain`.
    pub id: String,
    /// Title for display.
    pub title: String,
    /// The number.
    pub value: f64,
    /// Its unit; empty for counts and shares.
    pub unit: &'static str,
    /// The number as text.
    pub text: String,
    /// The equation, with the inputs' names.
    pub formula: String,
    /// Inputs.
    pub inputs: Vec<Input>,
    /// Basis of the equation.
    pub source: String,
}

/// An input from the plan, the model or the cluster.
pub(super) fn given(name: &str, value: f64, source: &str) -> Input {
    Input { name: name.to_owned(), value, unit: "", source: source.to_owned() }
}

/// An input with a unit.
pub(super) fn measure(name: &str, value: f64, unit: &'static str, source: &str) -> Input {
    Input { name: name.to_owned(), value, unit, source: source.to_owned() }
}

/// An explanation of a number.
pub(super) fn explanation(
    id: &str,
    title: &str,
    value: (f64, &'static str),
    formula: &str,
    inputs: Vec<Input>,
    source: &str,
) -> Explanation {
    let (value, unit) = value;
    Explanation {
        id: id.to_owned(),
        title: title.to_owned(),
        value,
        unit,
        text: text(value, unit),
        formula: formula.to_owned(),
        inputs,
        source: source.to_owned(),
    }
}

/// Parameters on one rank, and the number of ranks that shard each kind of them. One rank unless
/// `is_sharded`.
pub(super) fn shards(plan: &Plan, local: LocalParameters, place: &str, is_sharded: bool) -> Vec<Input> {
    let source = |what: &str| format!("{what} on one rank of {place}");
    let process_group = |ranks: u64| if is_sharded { ranks as f64 } else { 1.0 };
    let mut list = vec![
        given("dense", local.dense, &source("parameters")),
        given("shards", process_group(plan.shard_group()), "plan.sharding"),
    ];
    if local.routed > 0.0 {
        list.push(given("routed", local.routed, &source("parameters of routed experts")));
        list.push(given(
            "expert_shards",
            process_group(plan.expert_data_parallel()),
            "plan.sharding, plan.expert_parallel",
        ));
    }
    list
}

/// Parameters on one shard, by the inputs of [`shards`].
pub(super) fn per_shard(inputs: &[Input]) -> f64 {
    inputs.chunks_exact(2).map(|pair| pair[0].value / pair[1].value.max(1.0)).sum()
}

/// A number as text.
pub(super) fn text(value: f64, unit: &str) -> String {
    use railwright_spec::quantity::{
        Bytes, BytesPerSecond, Dollars, Flop, FlopPerSecond, KilowattHours, Seconds, Watts,
    };
    match unit {
        "s" => human::seconds(Seconds::new(value)),
        "B" => human::bytes(Bytes::new(value)),
        "FLOP" => human::flop(Flop::new(value)),
        "FLOP/s" => human::flop_rate(FlopPerSecond::new(value)),
        "$" => human::dollars(Dollars::new(value)),
        "kWh" => human::energy(KilowattHours::new(value)),
        "W" => human::watts(Watts::new(value)),
        "B/s" => human::bandwidth(BytesPerSecond::new(value)),
        "%" => human::percent(value / 100.0),
        "" => human::count(value),
        other => format!("{} {other}", human::count(value)),
    }
}
