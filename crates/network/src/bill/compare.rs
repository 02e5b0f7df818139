//! Comparison of designs: bills, savings over the first, the ratio of prices and the number of devices at
//! which the cheapest changes.
//!
//! Responsible for: comparison of feasible designs, and reasons for infeasible ones. Does not choose.

use super::prices::Prices;
use super::savings::{PORT_PRICES, Parts, SWEEP, break_even_ratio, saving};
use super::share::{Cluster, Share, share};
use super::{Bill, Item, bill};
use crate::topology::{Design, DesignSpec};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Dollars, Seconds};
use serde::Serialize;

/// One design of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its resolved parameters.
    pub design: Design,
    /// Cost.
    pub bill: Bill,
    /// Saving of the whole bill over the first design (0 to 1), NICs included.
    pub saving: f64,
    /// Saving of switch ports and transceivers over the first design (0 to 1), as in published comparisons.
    pub saving_ports_and_transceivers: f64,
    /// Its share of the cluster.
    pub share: Share,
    /// Results of a run, if one was given.
    pub step: Option<OnRun>,
}

/// The step of a run on a design, computed by the caller.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OnRun {
    /// Time of a step: simulated, or in closed form if it cannot be simulated.
    pub step_time: Seconds,
    /// Time of a step in closed form, in which messages between stages do not slow down by oversubscription.
    pub closed_form: Seconds,
    /// Reason why the step is not simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsimulated: Option<String>,
    /// Share of the step spent on the network between domains.
    pub network_share: f64,
    /// Tokens per second.
    pub tokens_per_second: f64,
    /// Factor of the availability by failures of this network.
    pub kept: f64,
}

impl Entry {
    /// Adds the results of a run on the design, and the resulting cost of tokens.
    pub fn set_step(&mut self, step: OnRun, cluster: &Cluster) {
        let (tokens_per_second, availability) =
            (Some(step.tokens_per_second), cluster.availability * step.kept);
        let cluster = Cluster { tokens_per_second, availability, ..cluster.clone() };
        self.share = share(&self.bill, &cluster);
        self.step = Some(step);
    }
}

/// A design that cannot be built as requested, with the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refused {
    /// Its name.
    pub name: String,
    /// Reason.
    pub problem: Problem,
}

/// Savings over the first design, by ratio of port price to transceiver price.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sweep {
    /// Ratio of port price to transceiver price, or a factor on the catalogue's port prices.
    pub ratio: f64,
    /// Saving of each further design, in their order.
    pub savings: Vec<f64>,
}

/// Two designs cost the same at some ratio or number of devices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BreakEven {
    /// The cheaper design at a high port price.
    pub expensive_ports: String,
    /// The cheaper design at a high transceiver price.
    pub expensive_transceivers: String,
    /// Port price over transceiver price, or a factor on the catalogue's port prices.
    pub ratio: f64,
}

/// The cheapest design from some number of devices on, by dollars for each device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cheapest {
    /// Devices.
    pub devices: u64,
    /// The design.
    pub name: String,
    /// Dollars of each design per device, in the order of [`Comparison::names`]; `None` if it cannot be
    /// built.
    pub per_device: Vec<Option<Dollars>>,
}

/// Designs side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Feasible designs in the requested order; the first is the baseline.
    pub entries: Vec<Entry>,
    /// Designs that cannot be built or priced, with the reason.
    pub refused: Vec<Refused>,
    /// Savings over the ratio of prices.
    pub sweep: Vec<Sweep>,
    /// Ratios at which two designs cost the same.
    pub break_even: Vec<BreakEven>,
    /// Savings over a factor on the catalogue's prices of switch ports, each speed at its own price: at 1
    /// they are [`Entry::saving_ports_and_transceivers`].
    pub by_port_price: Vec<Sweep>,
    /// Factors on the catalogue's prices of switch ports at which two designs cost the same.
    pub break_even_by_port_price: Vec<BreakEven>,
    /// The names of all designs, in the requested order.
    pub names: Vec<String>,
    /// The cheapest design by number of devices.
    pub by_devices: Vec<Cheapest>,
}

impl Comparison {
    /// The cheapest of several comparable designs by a total of their bills (typical, low or high), and that
    /// total. Bills within a twentieth of a percent have the same printed value.
    pub fn cheapest(&self, total: fn(&Bill) -> Dollars) -> Option<(Vec<&str>, Dollars)> {
        let compared: Vec<&Entry> = self.entries.iter().filter(|entry| entry.bill.is_comparable()).collect();
        let least = compared.iter().map(|entry| total(&entry.bill).get()).fold(f64::INFINITY, f64::min);
        let is_cheapest = |entry: &&&Entry| total(&entry.bill).get() <= least * 1.0005;
        let names = compared.iter().filter(is_cheapest).map(|entry| entry.name.as_str()).collect();
        (compared.len() > 1).then(|| (names, Dollars::new(least)))
    }
}

/// Ports and transceivers of a bill.
pub fn parts(bill: &Bill) -> Parts {
    Parts { ports: bill.counts.ports() as f64, transceivers: bill.counts.transceivers() as f64 }
}

/// Dollars of the accelerators' network for switch ports and for transceivers, each speed at its own price.
pub fn paid(bill: &Bill) -> Parts {
    let of = |is_of: &dyn Fn(Item) -> bool| -> f64 {
        bill.lines[..bill.own_lines]
            .iter()
            .filter(|line| is_of(line.item))
            .map(|line| line.dollars.get())
            .sum()
    };
    Parts { ports: of(&Item::is_port), transceivers: of(&|item| item == Item::Transceiver) }
}

/// Compares designs. Those that cannot be built, or lack a price, are listed; it is an error if none is left.
pub fn compare(specs: &[DesignSpec], prices: &Prices, cluster: &Cluster) -> Result<Comparison, Problem> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut refused = Vec::new();
    let billed: Vec<_> = specs
        .iter()
        .map(|spec| spec.resolve().and_then(|design| bill(&design, prices).map(|bill| (design, bill))))
        .collect();
    // A bill without the devices' ports is compared with none; designs that all lack them are billed.
    let have_ports = billed.iter().flatten().any(|(_, bill)| bill.has_ports_of_devices());
    for (spec, billed) in specs.iter().zip(billed) {
        match billed {
            Ok((_, bill)) if have_ports && !bill.has_ports_of_devices() => {
                let problem = Problem::new(
                    "its ports are part of its devices, so its bill is not comparable with the others",
                );
                refused.push(Refused { name: spec.title(), problem });
            }
            Ok((design, bill)) => {
                let (first, own) = (entries.first().map(|e| &e.bill), &bill);
                let against =
                    |of: &dyn Fn(&Bill) -> Dollars| first.map_or(0.0, |first| 1.0 - of(own) / of(first));
                entries.push(Entry {
                    name: design.name.clone(),
                    saving: against(&|bill| bill.total),
                    saving_ports_and_transceivers: against(&|bill| bill.ports_and_transceivers),
                    share: share(&bill, cluster),
                    step: None,
                    design,
                    bill,
                });
            }
            Err(problem) => refused.push(Refused { name: spec.title(), problem }),
        }
    }
    if entries.is_empty()
        && let Some(first) = refused.first()
    {
        return Err(first.problem.clone());
    }
    let by_devices = by_devices(specs, prices);
    let names = specs.iter().map(DesignSpec::title).collect();
    Ok(Comparison {
        sweep: sweep(&entries, parts, &SWEEP),
        break_even: break_even(&entries, parts),
        by_port_price: sweep(&entries, paid, &PORT_PRICES),
        break_even_by_port_price: break_even(&entries, paid),
        names,
        by_devices,
        entries,
        refused,
    })
}

fn sweep(entries: &[Entry], parts: fn(&Bill) -> Parts, ratios: &[f64]) -> Vec<Sweep> {
    let Some((first, others)) = entries.split_first() else { return Vec::new() };
    let row = |ratio: f64| {
        let savings = others.iter().map(|e| saving(parts(&e.bill), parts(&first.bill), ratio)).collect();
        Sweep { ratio, savings }
    };
    ratios.iter().filter(|_| !others.is_empty()).map(|ratio| row(*ratio)).collect()
}

fn break_even(entries: &[Entry], parts: fn(&Bill) -> Parts) -> Vec<BreakEven> {
    let mut found = Vec::new();
    for (n, one) in entries.iter().enumerate() {
        for other in &entries[n + 1..] {
            let (a, b) = (parts(&one.bill), parts(&other.bill));
            if let Some(ratio) = break_even_ratio(a, b) {
                let (fewer, more) = if a.ports < b.ports { (one, other) } else { (other, one) };
                found.push(BreakEven {
                    expensive_ports: fewer.name.clone(),
                    expensive_transceivers: more.name.clone(),
                    ratio,
                });
            }
        }
    }
    found
}

/// Doubles the devices from one domain to 128 times a thousand, and records each change of the cheapest
/// design.
pub(super) fn by_devices(specs: &[DesignSpec], prices: &Prices) -> Vec<Cheapest> {
    let domain = specs.first().and_then(|spec| spec.domain).unwrap_or(8).max(1);
    let mut rows: Vec<Cheapest> = Vec::new();
    let sizes = (0..).map(|n| domain << n).skip_while(|n| *n < 256).take_while(|n| *n <= 1 << 18).take(24);
    for devices in sizes {
        let cost = |spec: &DesignSpec| {
            let spec = DesignSpec {
                devices: Some(devices),
                // Parameters of one size would be wrong at another.
                groups: None,
                pods: None,
                dimensions: None,
                extra_endpoints: None,
                domain: if spec.kind == Some(crate::topology::Kind::ScaleUp) { None } else { spec.domain },
                ..spec.clone()
            };
            let design = spec.resolve().ok()?;
            let bill = bill(&design, prices).ok().filter(Bill::is_comparable)?;
            Some((design.name, bill.per_device()))
        };
        let costs: Vec<Option<(String, Dollars)>> = specs.iter().map(cost).collect();
        let cheapest = costs.iter().flatten().min_by(|a, b| a.1.get().total_cmp(&b.1.get()));
        if let Some((name, _)) = cheapest {
            let per_device = costs.iter().map(|cost| cost.as_ref().map(|cost| cost.1)).collect();
            rows.push(Cheapest { devices, name: name.clone(), per_device });
        }
    }
    rows
}
