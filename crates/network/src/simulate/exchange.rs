//! Time of exchanges that run together on a network.
//!
//! Responsible for: times of exchanges that start together, and utilization of links. Independent of the
//! reason for their concurrency; [`super::script`] runs a step.

use super::bundle::Bundle;
use super::class::Class;
use super::load::{self, LayerLoad};
use super::script::{Script, Work};
use super::wiring::Wiring;
use crate::traffic::{Exchange, Numbering};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// Time of an exchange.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangeTime {
    /// Name.
    pub name: String,
    /// Time with only the devices' own ports as the limit: the bandwidth term of the closed form.
    pub ideal: Seconds,
    /// Bandwidth term on the network, until its slowest group has ended.
    pub time: Seconds,
    /// Latency of its steps, in addition to the bandwidth term.
    pub latency: Seconds,
    /// `time / ideal`.
    pub slowdown: f64,
}

/// Times of exchanges that start together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConcurrentTimes {
    /// Each of them.
    pub exchanges: Vec<ExchangeTime>,
    /// Until the last has ended, without latency.
    pub duration: Seconds,
    /// Flows that were simulated for all of them.
    pub flows: usize,
    /// Utilization of links.
    pub layers: Vec<LayerLoad>,
}

/// Time of one call of each kind of communication on a network, if all groups start at the same time. Rank
/// `n` runs on device `n`. Every flow has its max-min fair rate; equivalent groups are simulated once
/// (`super::bundle`). Fails if ranks are disconnected.
pub fn exchange_time(
    wiring: &Wiring,
    numbering: &Numbering,
    exchanges: &[Exchange],
) -> Result<ConcurrentTimes, Problem> {
    wiring.check(u32::try_from(numbering.ranks()).unwrap_or(u32::MAX))?;
    let design = &wiring.topology.design;
    let classes: Vec<Class> =
        exchanges.iter().map(|exchange| Class::of(exchange, numbering, None, design)).collect();
    class_time(wiring, &classes)
}

/// The same for classes.
pub fn class_time(wiring: &Wiring, classes: &[Class]) -> Result<ConcurrentTimes, Problem> {
    let bundle = Bundle::new(wiring, classes, usize::MAX)?;
    let mut script = Script::default();
    for (number, class) in classes.iter().enumerate() {
        script.add(Work::Move { class: number as u32, amount: Seconds::new(class.ideal) }, []);
    }
    let played = script.play(&bundle)?;
    let times = classes.iter().enumerate().map(|(n, class)| {
        let latency =
            bundle.classes[n].iter().map(|unit| bundle.units[*unit as usize].latency).fold(0.0, f64::max);
        let time = played.ends[n].get();
        ExchangeTime {
            name: class.name.clone(),
            ideal: Seconds::new(class.ideal),
            time: Seconds::new(time),
            latency: Seconds::new(latency * class.steps),
            slowdown: if class.ideal > 0.0 { time / class.ideal } else { 1.0 },
        }
    });
    Ok(ConcurrentTimes {
        exchanges: times.collect(),
        duration: played.duration,
        flows: bundle.units.len(),
        layers: load::layers(wiring, &bundle, &played.moved, played.duration),
    })
}
