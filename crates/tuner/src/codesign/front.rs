//! Designs with their steps: the Pareto front of time, dollars and watts, and the cost per token.
//!
//! Responsible for: combining the results of a grid and a search, and marking non-dominated designs. Does not
//! search.

use super::grid::{Grid, Refused};
use super::simulated::{Simulated, Unsimulated};
use railwright_network::bill::share::{Cluster as Site, Share, share};
use railwright_network::bill::warnings_of;
use railwright_network::failures::Outages;
use railwright_network::topology::{Design, Kind};
use railwright_spec::plan::Plan;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{BytesPerSecond, Dollars, Seconds, Watts};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The best plan of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The plan.
    pub plan: Plan,
    /// Time of a step, including memory retries.
    pub step_time: Seconds,
    /// Time of a step without memory retries.
    pub fresh_step_time: Seconds,
    /// Tokens per second.
    pub tokens_per_second: f64,
    /// Share of the step due to the network between domains.
    pub network_share: f64,
}

/// Reason why a class of designs has no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPlan {
    /// The whole space was searched, and no layout fits; the reason.
    NothingFits(String),
    /// The search was stopped before it reached the class.
    NotSearched,
}

/// Result of the search of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Searched {
    /// A plan was found.
    Found,
    /// No layout fits.
    NothingFits,
    /// The search was stopped before it reached the class: the fit of its layouts is unknown.
    NotSearched,
}

/// A class of designs with equal steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Class {
    /// Result of its search.
    pub searched: Searched,
    /// The best plan's layout for display, with shortened lists; empty without a plan.
    pub layout: String,
    /// The same as flags of `estimate` and `network simulate`.
    pub flags: String,
    /// Reason why nothing fits; empty otherwise.
    pub reason: String,
}

impl Class {
    fn new([layout, flags]: [String; 2], found: &Result<Found, NoPlan>) -> Self {
        let (searched, reason) = match found {
            Ok(_) => (Searched::Found, String::new()),
            Err(NoPlan::NothingFits(reason)) => (Searched::NothingFits, reason.clone()),
            Err(NoPlan::NotSearched) => (Searched::NotSearched, String::new()),
        };
        Self { searched, layout, flags, reason }
    }
}

/// One design with its step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Kind of network.
    pub topology: Kind,
    /// Devices per scale-up domain.
    pub domain: u64,
    /// Requested bandwidth below a leaf over bandwidth above it.
    pub oversubscription: f64,
    /// The same as built, from the ports of a leaf; 1 without leaves.
    pub built_oversubscription: f64,
    /// Bandwidth of a NIC, one direction.
    pub speed: BytesPerSecond,
    /// Number of switch tiers.
    pub tiers: u64,
    /// Number of switches.
    pub switches: u64,
    /// Dollars of the network, including NICs, and of larger domains if they have a price.
    pub dollars: Dollars,
    /// Dollars per device.
    pub dollars_per_device: Dollars,
    /// Watts of the network. `None` if the power of a part is unknown.
    pub watts: Option<Watts>,
    /// Time of a step. `None` if its class has no plan.
    pub step_time: Option<Seconds>,
    /// Share of the step due to the network between domains.
    pub network_share: Option<f64>,
    /// Tokens per second.
    pub tokens_per_second: Option<f64>,
    /// Factor of the availability by failures of this network, in proportion to its part of the step. Of a
    /// job with a goodput, relative to the network in it. `None` without a step.
    pub kept: Option<f64>,
    /// Cost of network and devices per token, day and run.
    pub share: Share,
    /// Index of the class that shares its plan.
    pub class: usize,
    /// True if no other design of the same domain size is at least as good in time, dollars and watts and
    /// better in one.
    pub on_front: bool,
    /// The same over all sizes. Only if larger domains have a price.
    pub on_whole_front: bool,
    /// True for the lowest cost per token, among designs comparable by it. After simulation, only if its
    /// interval is below all others.
    pub cheapest_token: bool,
    /// True for references: rail-optimized, no oversubscription, the machine's own domains.
    pub is_reference: bool,
    /// The simulated step, for references and possible winners.
    pub simulated: Option<Simulated>,
    /// Why a network with a step has no simulated one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsimulated: Option<Unsimulated>,
    /// The complete design.
    #[serde(skip)]
    pub design: Design,
}

/// Cost and power of each device's part of scale-up domains beyond the machine's own, by domain size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScaleUp {
    /// Price.
    pub prices: BTreeMap<u64, Dollars>,
    /// Power.
    pub watts: BTreeMap<u64, Watts>,
}

impl From<BTreeMap<u64, Dollars>> for ScaleUp {
    fn from(prices: BTreeMap<u64, Dollars>) -> Self {
        Self { prices, watts: BTreeMap::new() }
    }
}

/// Networks and strategies together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Codesign {
    /// Designs in the order of the axes.
    pub rows: Vec<Row>,
    /// Plans of the classes.
    pub classes: Vec<Class>,
    /// Designs that cannot be built, one per reason.
    pub refused: Vec<Refused>,
    /// Extra price per device of scale-up domains larger than the machine's own, by domain size.
    pub scale_up_prices: BTreeMap<u64, Dollars>,
    /// Power of the same parts, if given; it is in the watts of the rows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scale_up_watts: BTreeMap<u64, Watts>,
    /// Sizes of larger scale-up domains without a price, so that the cost per token of their rows is
    /// unknown. In the order of the rows.
    pub unpriced_domains: Vec<u64>,
    /// Rows with a simulated cost per token equal to the lowest within intervals; a single one is the
    /// winner. Empty without simulation.
    pub contenders: Vec<usize>,
    /// True if the fronts include watts. Requires the power of every design, because an unknown value would
    /// count as 0.
    pub compares_power: bool,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl Codesign {
    /// Least and most of the time that failures of the networks cost; `None` if it is relative to a goodput.
    pub fn lost(&self) -> Option<[f64; 2]> {
        let lost: Vec<f64> = self.rows.iter().filter_map(|row| row.kept).map(|kept| 1.0 - kept).collect();
        let [least, most] = [
            lost.iter().copied().fold(f64::INFINITY, f64::min),
            lost.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ];
        (least >= 0.0 && most > 0.0 && least.is_finite()).then_some([least, most])
    }
}

/// Combines a grid with the plans of its classes. `found` has one entry for each class: a plan, or the reason
/// for none; `layouts` has each plan for display and as flags. `outages` adds failures of each network to the
/// cost of a token. `usual_domain` is the machine's own, whose price is in the device's.
pub fn answer(
    grid: Grid,
    found: &[Result<Found, NoPlan>],
    layouts: Vec<[String; 2]>,
    (site, outages): (&Site, Option<&Outages>),
    scale_up: impl Into<ScaleUp>,
    usual_domain: u64,
) -> Codesign {
    let ScaleUp { prices: scale_up_prices, watts: scale_up_watts } = scale_up.into();
    let mut warnings = warnings_of(grid.points.iter().map(|point| &point.bill));
    let mut rows: Vec<Row> = grid
        .points
        .into_iter()
        .map(|point| {
            let best = found.get(point.class).and_then(|found| found.as_ref().ok());
            let domain = point.design.domain.size;
            let price = point.price(&scale_up_prices);
            let mut bill = point.bill;
            bill.total = price;
            let of_domain = scale_up_watts.get(&domain).copied().unwrap_or(Watts::ZERO);
            bill.watts += of_domain * point.design.devices as f64;
            let share_of = |best: &Found| outages?.kept(&point.design, best.network_share).ok();
            let kept = best.and_then(share_of);
            let site = Site {
                tokens_per_second: best.map(|best| best.tokens_per_second),
                availability: site.availability * kept.unwrap_or(1.0),
                ..site.clone()
            };
            Row {
                topology: point.design.kind,
                domain,
                oversubscription: point.oversubscription,
                built_oversubscription: if point.design.kind.is_clos() {
                    point.design.oversubscription().first().copied().unwrap_or(1.0)
                } else {
                    1.0
                },
                speed: point.design.nic_bandwidth,
                tiers: point.design.fabric_tiers(),
                switches: bill.counts.switches(),
                dollars: bill.total,
                dollars_per_device: bill.per_device(),
                watts: bill.lines.iter().all(|line| line.watts.is_some()).then_some(bill.watts),
                step_time: best.map(|best| best.step_time),
                network_share: best.map(|best| best.network_share),
                tokens_per_second: site.tokens_per_second,
                kept,
                share: share(&bill, &site),
                class: point.class,
                on_front: false,
                on_whole_front: false,
                cheapest_token: false,
                is_reference: false,
                simulated: None,
                unsimulated: None,
                design: point.design,
            }
        })
        .collect();
    // The machine's own size is part of its price.
    let is_priced = |domain: u64| domain <= usual_domain || scale_up_prices.contains_key(&domain);
    let unpriced_domains: Vec<u64> = sizes(&rows).into_iter().filter(|size| !is_priced(*size)).collect();
    let compares_power = rows.iter().all(|row| row.watts.is_some());
    mark(&mut rows, unpriced_domains.is_empty(), compares_power);
    cheapest(&mut rows, &is_priced);
    if !unpriced_domains.is_empty() {
        let list = unpriced_domains.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let message = format!(
            "the extra cost of larger scale-up domains ({list}) is not included, because no price is published; set a scale-up price per device for each size"
        );
        warnings.push(Warning::new("network-scale-up-unpriced", message));
    }
    let classes = layouts.into_iter().zip(found).map(|(layout, found)| Class::new(layout, found)).collect();
    let contenders = Vec::new();
    Codesign {
        rows,
        classes,
        refused: grid.refused,
        scale_up_prices,
        scale_up_watts,
        unpriced_domains,
        contenders,
        compares_power,
        warnings,
    }
}

/// Distinct domain sizes of rows, in their order.
fn sizes(rows: &[Row]) -> Vec<u64> {
    let mut list: Vec<u64> = Vec::new();
    for row in rows {
        if !list.contains(&row.domain) {
            list.push(row.domain);
        }
    }
    list
}

/// Coordinates of a front: seconds, dollars, watts, and the domain size.
type Figures = (f64, f64, f64, u64);

fn figures(row: &Row, time: Seconds, compares_power: bool) -> Figures {
    let watts = row.watts.filter(|_| compares_power).map_or(0.0, Watts::get);
    (time.get(), row.dollars.get(), watts, row.domain)
}

/// Relative difference of steps that counts as equal: predictions are far coarser.
const TIE: f64 = 1e-4;

/// Marks the fronts. If the power of one design is unknown, none is compared by power. An unknown value is
/// not 0, and a front that mixes comparisons by two and by three figures has no order.
fn mark(rows: &mut [Row], across_sizes: bool, compares_power: bool) {
    let figures: Vec<Option<Figures>> =
        rows.iter().map(|row| row.step_time.map(|time| figures(row, time, compares_power))).collect();
    for index in front(&figures, true) {
        rows[index].on_front = true;
    }
    if across_sizes {
        for index in front(&figures, false) {
            rows[index].on_whole_front = true;
        }
    }
}

/// Marks the fronts again after simulation. In a domain size with simulated networks, the front is theirs, by
/// simulated steps: a step in closed form has no congestion and cannot be compared with them. Over all sizes,
/// only simulated networks are compared.
pub(super) fn mark_simulated(answer: &mut Codesign) {
    let simulated: BTreeSet<u64> =
        answer.rows.iter().filter(|row| row.simulated.is_some()).map(|row| row.domain).collect();
    if simulated.is_empty() {
        return;
    }
    let compares_power = answer.compares_power;
    let of = |row: &Row, time: Option<Seconds>| time.map(|time| figures(row, time, compares_power));
    let own: Vec<Option<Figures>> = answer
        .rows
        .iter()
        .map(|row| {
            let closed = row.step_time.filter(|_| !simulated.contains(&row.domain));
            of(row, row.simulated.as_ref().map(|one| one.step_time).or(closed))
        })
        .collect();
    let across: Vec<Option<Figures>> =
        answer.rows.iter().map(|row| of(row, row.simulated.as_ref().map(|one| one.step_time))).collect();
    let is_across = answer.unpriced_domains.is_empty();
    let (own, across) = (front(&own, true), if is_across { front(&across, false) } else { Vec::new() });
    for (index, row) in answer.rows.iter_mut().enumerate() {
        row.on_front = own.contains(&index);
        row.on_whole_front = across.contains(&index);
    }
}

/// The non-dominated rows. A row dominates if it is as cheap, has no more power, and is slower by at most a
/// [`TIE`].
///
/// Ties are not transitive. Take three rows, each cheaper than the previous and slower by slightly less than
/// a tie. The second is dominated and removes no other row, so the fastest stays. Dominating rows come first
/// by dollars, watts, time and index, so one pass is sufficient, and every removed row is dominated by a
/// member.
fn front(figures: &[Option<Figures>], same_size: bool) -> Vec<usize> {
    let mut order: Vec<(usize, Figures)> =
        figures.iter().enumerate().filter_map(|(index, figures)| figures.map(|f| (index, f))).collect();
    order.sort_by(|(x, a), (y, b)| {
        a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2)).then(a.0.total_cmp(&b.0)).then(x.cmp(y))
    });
    let mut members: Vec<(usize, Figures)> = Vec::new();
    for (index, own) in order {
        let is_beaten = members.iter().any(|(_, member)| {
            (!same_size || member.3 == own.3)
                && member.0 <= own.0 * (1.0 + TIE)
                && member.1 <= own.1
                && member.2 <= own.2
        });
        if !is_beaten {
            members.push((index, own));
        }
    }
    members.into_iter().map(|(index, _)| index).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_in_a_row_do_not_push_the_fastest_off_the_front() {
        let row = |time: f64, dollars: f64| Some((time, dollars, 1.0, 8));
        // Each is within a tie of the next and more expensive; the first and the last differ by two ties.
        let chain = [row(1.0, 3.0), row(1.000_09, 2.0), row(1.000_18, 1.0)];
        assert_eq!(front(&chain, true), [2, 0]);
        // Within one tie the cheaper one replaces both, and the first of equal ones.
        assert_eq!(front(&[row(1.0, 3.0), row(1.000_09, 2.0), row(1.000_09, 2.0)], true), [1]);
        // Equal in dollars and watts, in any order: the faster one replaces those within a tie.
        assert_eq!(front(&[row(1.000_18, 1.0), row(1.000_09, 1.0), row(1.0, 1.0)], true), [2]);
        // Sizes are separated on request, and rows without a step are on no front.
        let sizes = [row(1.0, 1.0), Some((2.0, 2.0, 2.0, 64)), None];
        assert_eq!((front(&sizes, true), front(&sizes, false)), (vec![0, 1], vec![0]));
    }
}
