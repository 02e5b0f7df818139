//! Utilization of links over the time of a step.
//!
//! Responsible for: the busiest links of each layer and the mean of the layer, over equal intervals. Assumes
//! an even flow within an exchange, so that an interval in which its speed changes has the mean.

use super::bundle::Bundle;
use super::links::Links;
use super::script::{Played, Script, Work};
use crate::picture::{Curve, Lines, lines};
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use serde::Serialize;
use std::collections::BTreeMap;

/// Intervals of a step.
pub const INTERVALS: usize = 200;

/// Links of each layer that are listed one by one.
const LISTED: usize = 8;

/// A link, or the mean of a layer, over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkOverTime {
    /// The layer.
    pub layer: &'static str,
    /// The link; `None` for the mean of all links of the layer.
    pub link: Option<String>,
    /// Share of the capacity in each interval, from 0 to 1.
    pub busy: Vec<f64>,
}

/// Links over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverTime {
    /// Length of an interval.
    pub interval: Seconds,
    /// The mean of each layer, then its busiest links, from the devices outwards.
    pub rows: Vec<LinkOverTime>,
}

/// Loads of a played script, over a step of a given duration.
pub fn over_time(
    links: &dyn Links,
    bundle: &Bundle,
    script: &Script,
    played: &Played,
    time: Seconds,
) -> OverTime {
    let time = time.max(played.duration);
    let interval = time / INTERVALS as f64;
    if time <= Seconds::ZERO {
        return OverTime::default();
    }
    // Seconds at ideal speed of each unit, by interval.
    let mut moved = vec![vec![0.0; INTERVALS]; bundle.units.len()];
    for (task, work) in script.works().iter().enumerate() {
        let (Work::Move { class, amount }, Some(&start), Some(&end)) =
            (work, played.starts.get(task), played.ends.get(task))
        else {
            continue;
        };
        let mut own = [0.0; INTERVALS];
        spread(start / interval, end / interval, amount.get(), &mut own);
        for &unit in bundle.classes.get(*class as usize).into_iter().flatten() {
            if let Some(row) = moved.get_mut(unit as usize) {
                row.iter_mut().zip(own).for_each(|(sum, part)| *sum += part);
            }
        }
    }
    let capacities = links.capacities();
    // Every unit visits its links, so the layers of links are looked up once.
    let mut orders = vec![u8::MAX; capacities.len()];
    let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
    let mut layers: BTreeMap<u8, (&'static str, f64, Vec<f64>)> = BTreeMap::new();
    for (link, capacity) in capacities.iter().enumerate() {
        let Some(place) = links.place(link as u32) else { continue };
        orders[link] = place.order;
        layers.entry(place.order).or_insert((place.layer, 0.0, vec![0.0; INTERVALS])).1 += capacity;
    }
    for (unit, row) in bundle.units.iter().zip(&moved) {
        let amount: f64 = row.iter().sum();
        for &(link, load) in &unit.loads {
            *totals.entry(link).or_insert(0.0) += load * amount / capacities[link as usize];
            if let Some((_, _, sums)) = layers.get_mut(&orders[link as usize]) {
                sums.iter_mut().zip(row).for_each(|(sum, part)| *sum += load * part);
            }
        }
    }
    let mut busiest: BTreeMap<u8, Vec<(u32, f64)>> = BTreeMap::new();
    for (&link, &busy) in &totals {
        busiest.entry(orders[link as usize]).or_default().push((link, busy));
    }
    let mut rows = Vec::new();
    for (order, (layer, capacity, sums)) in layers {
        let share = |bytes: f64, capacity: f64| bytes / (capacity * interval.get());
        let busy = sums.into_iter().map(|bytes| share(bytes, capacity)).collect();
        rows.push(LinkOverTime { layer, link: None, busy });
        let mut own = busiest.remove(&order).unwrap_or_default();
        // Equal except for rounding: the first ones.
        own.sort_by(|a, b| if (a.1 / b.1 - 1.0).abs() < 1e-9 { a.0.cmp(&b.0) } else { b.1.total_cmp(&a.1) });
        for (link, _) in own.into_iter().take(LISTED) {
            let capacity = capacities[link as usize];
            let mut busy = vec![0.0; INTERVALS];
            for (unit, row) in bundle.units.iter().zip(&moved) {
                for &(_, load) in unit.loads.iter().filter(|own| own.0 == link) {
                    busy.iter_mut().zip(row).for_each(|(sum, part)| *sum += share(load * part, capacity));
                }
            }
            rows.push(LinkOverTime { layer, link: Some(links.link_name(link)), busy });
        }
    }
    OverTime { interval, rows }
}

/// Adds an amount evenly over the interval from `start` to `end`, in units of an interval.
fn spread(start: f64, end: f64, amount: f64, row: &mut [f64]) {
    let last = row.len().saturating_sub(1);
    let first = (start.max(0.0) as usize).min(last);
    if end <= start {
        if let Some(cell) = row.get_mut(first) {
            *cell += amount;
        }
        return;
    }
    for (at, cell) in row.iter_mut().enumerate().skip(first) {
        let (from, to) = (start.max(at as f64), end.min(at as f64 + 1.0));
        if from >= end {
            break;
        }
        *cell += amount * (to - from).max(0.0) / (end - start);
    }
}

impl OverTime {
    /// A picture of the busiest link of each layer over the step, as SVG.
    pub fn svg(&self, title: &str) -> String {
        /// Labels along the axis.
        const LABELS: usize = 5;
        let places = self.rows.first().map_or(0, |row| row.busy.len());
        let every = (places / LABELS).max(1);
        let label = |place: usize| {
            let at = self.interval * place as f64;
            if place.is_multiple_of(every) { human::seconds(at) } else { String::new() }
        };
        let mut curves: Vec<Curve> = Vec::new();
        for row in self.rows.iter().filter(|row| row.busy.iter().any(|busy| *busy > 0.0)) {
            let Some(link) = &row.link else { continue };
            let name = format!("{}: {link}", row.layer);
            if !curves.iter().any(|curve| curve.name.starts_with(&format!("{}: ", row.layer))) {
                curves.push(Curve { name, values: row.busy.iter().map(|busy| Some(busy * 100.0)).collect() });
            }
        }
        lines(&Lines {
            title: format!("{title}: busiest link of each layer"),
            across: "time in the step".to_owned(),
            places: (0..places).map(label).collect(),
            up: "load in % of the link's capacity".to_owned(),
            curves,
        })
    }

    /// Loads as CSV: layer, link (empty for the mean of the layer), start and end of the interval in seconds,
    /// share of the capacity.
    pub fn csv(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::from("layer,link,from_s,to_s,busy\n");
        for row in &self.rows {
            let link = row.link.as_deref().unwrap_or_default();
            for (at, busy) in row.busy.iter().enumerate() {
                let from = self.interval.get() * at as f64;
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{},{link},{from},{},{busy}", row.layer, from + self.interval.get());
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn bytes_are_spread_over_their_time() {
        let mut row = [0.0; 4];
        spread(0.5, 2.5, 4.0, &mut row);
        assert_eq!(row, [1.0, 2.0, 1.0, 0.0]);
        let mut row = [0.0; 2];
        spread(1.0, 1.0, 3.0, &mut row);
        spread(1.5, 2.0, 1.0, &mut row);
        assert_eq!(row, [0.0, 4.0]);
    }
}
