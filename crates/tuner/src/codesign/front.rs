//! Designs beside the steps that they allow: the front of time, dollars and watts, and what a token costs on each.
//!
//! Responsible for: putting together what a grid and a search found, and marking what nothing else beats. Refuses to search.

use super::grid::{Grid, Refused};
use railwright_network::bill::share::{Cluster as Site, Share, share};
use railwright_network::topology::Kind;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{BytesPerSecond, Dollars, Seconds, Watts};
use serde::Serialize;
use std::collections::BTreeMap;

/// The best plan of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The plan.
    pub plan: Plan,
    /// How long a step takes, memory retries included.
    pub step_time: Seconds,
    /// The same without memory retries.
    pub fresh_step_time: Seconds,
    /// Tokens a second.
    pub tokens_per_second: f64,
    /// Share of the step that the network between domains takes.
    pub network_share: f64,
}

/// A class of designs that no step can tell apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Class {
    /// The best plan's layout as flags; empty where nothing fits.
    pub layout: String,
    /// Why there is none; empty where there is.
    pub reason: String,
}

/// One design with its step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its kind.
    pub topology: Kind,
    /// Devices of a scale-up domain.
    pub domain: u64,
    /// Bandwidth below a leaf over bandwidth above it.
    pub oversubscription: f64,
    /// Bandwidth of a NIC, one direction.
    pub speed: BytesPerSecond,
    /// Tiers of switches.
    pub tiers: u64,
    /// Switches.
    pub switches: u64,
    /// Dollars of the network, NICs included, and of larger domains where they have a price.
    pub dollars: Dollars,
    /// The same for each device.
    pub dollars_per_device: Dollars,
    /// Watts of the network.
    pub watts: Watts,
    /// Time of a step; none where nothing fits.
    pub step_time: Option<Seconds>,
    /// Share of it that the network between domains takes.
    pub network_share: Option<f64>,
    /// Tokens a second.
    pub tokens_per_second: Option<f64>,
    /// What network and devices cost for a token, a day, a run.
    pub share: Share,
    /// Index of the class that shares its plan.
    pub class: usize,
    /// Whether no other design of the same domain size is at least as good in time, dollars and watts and better in one.
    pub on_front: bool,
    /// Whether no other design of any size is; only told where larger domains have a price.
    pub on_whole_front: bool,
    /// Whether a token costs least here, among designs that can be compared by it.
    pub cheapest_token: bool,
}

/// Networks and strategies together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Codesign {
    /// Designs in the order of the axes.
    pub rows: Vec<Row>,
    /// Plans of the classes.
    pub classes: Vec<Class>,
    /// What cannot be built, one of each reason.
    pub refused: Vec<Refused>,
    /// Price of each device's part of a scale-up domain beyond the machine's own, by domain size.
    pub scale_up_prices: BTreeMap<u64, Dollars>,
    /// What is doubtful.
    pub warnings: Vec<Warning>,
}

/// Puts a grid and the plans of its classes together. `found` has one entry for each class: a plan, or why there is none; `layouts` says each
/// plan as flags. `usual_domain` is the machine's own, whose price is in the device's.
pub fn answer(
    grid: Grid,
    found: &[Result<Found, String>],
    layouts: Vec<String>,
    site: &Site,
    scale_up_prices: BTreeMap<u64, Dollars>,
    usual_domain: u64,
) -> Codesign {
    let mut rows: Vec<Row> = grid
        .points
        .into_iter()
        .map(|point| {
            let best = found.get(point.class).and_then(|found| found.as_ref().ok());
            let domain = point.design.domain.size;
            let devices = point.design.devices as f64;
            let mut bill = point.bill;
            bill.total += scale_up_prices.get(&domain).map_or(Dollars::ZERO, |price| *price * devices);
            let site = Site { tokens_per_second: best.map(|best| best.tokens_per_second), ..site.clone() };
            Row {
                topology: point.design.kind,
                domain,
                oversubscription: point.oversubscription,
                speed: point.design.nic_bandwidth,
                tiers: point.design.fabric_tiers(),
                switches: bill.counts.switches(),
                dollars: bill.total,
                dollars_per_device: bill.per_device(),
                watts: bill.watts,
                step_time: best.map(|best| best.step_time),
                network_share: best.map(|best| best.network_share),
                tokens_per_second: site.tokens_per_second,
                share: share(&bill, &site),
                class: point.class,
                on_front: false,
                on_whole_front: false,
                cheapest_token: false,
            }
        })
        .collect();
    let is_priced = |domain: u64| domain <= usual_domain || scale_up_prices.contains_key(&domain);
    let unpriced: Vec<u64> = sizes(&rows).into_iter().filter(|size| !is_priced(*size)).collect();
    mark(&mut rows, unpriced.is_empty());
    cheapest(&mut rows, &is_priced);
    let mut warnings = Vec::new();
    if !unpriced.is_empty() {
        let list = unpriced.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let message = format!(
            "larger scale-up domains ({list}) cost more than is counted: nobody published their prices; say them with --scale-up-price, as in `72=3000` dollars for each device"
        );
        warnings.push(Warning::new("network-scale-up-unpriced", message));
    }
    let classes = layouts
        .into_iter()
        .zip(found)
        .map(|(layout, found)| Class { layout, reason: found.as_ref().err().cloned().unwrap_or_default() })
        .collect();
    Codesign { rows, classes, refused: grid.refused, scale_up_prices, warnings }
}

/// Domain sizes of rows, each once, in their order.
fn sizes(rows: &[Row]) -> Vec<u64> {
    let mut list: Vec<u64> = Vec::new();
    for row in rows {
        if !list.contains(&row.domain) {
            list.push(row.domain);
        }
    }
    list
}

/// Marks the fronts. A tenth of a per mille of a step is no difference: prediction is far coarser.
fn mark(rows: &mut [Row], across_sizes: bool) {
    let figures: Vec<Option<(f64, f64, f64, u64)>> = rows
        .iter()
        .map(|row| row.step_time.map(|time| (time.get(), row.dollars.get(), row.watts.get(), row.domain)))
        .collect();
    let beaten = |own: (f64, f64, f64, u64), index: usize, same_size: bool| {
        figures.iter().enumerate().any(|(other, figures)| {
            let Some(figures) = figures else { return false };
            if other == index || (same_size && figures.3 != own.3) {
                return false;
            }
            let time = if (figures.0 / own.0 - 1.0).abs() < 1e-4 { own.0 } else { figures.0 };
            let is_as_good = time <= own.0 && figures.1 <= own.1 && figures.2 <= own.2;
            let is_better = time < own.0 || figures.1 < own.1 || figures.2 < own.2;
            // Of equals the first stands for all.
            is_as_good && (is_better || other < index)
        })
    };
    for index in 0..rows.len() {
        if let Some(own) = figures[index] {
            rows[index].on_front = !beaten(own, index, true);
            rows[index].on_whole_front = across_sizes && !beaten(own, index, false);
        }
    }
}

fn cheapest(rows: &mut [Row], is_priced: &dyn Fn(u64) -> bool) {
    let price = |row: &Row| row.share.cluster.and_then(|whole| whole.dollars_per_million_tokens);
    let best = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| is_priced(row.domain))
        .filter_map(|(index, row)| price(row).map(|price| (index, price.get())))
        .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    if let Some((index, _)) = best {
        rows[index].cheapest_token = true;
    }
}
