//! The chosen cluster size, and the limit of efficient scaling.
//!
//! Responsible for: one criterion each, reported with the result. For a deadline: the cheapest that meets it.
//! For a budget alone: the earliest end within it. Scaling is efficient up to the last size at which every
//! enlargement adds at least [`Goal::worth`] of the per-device throughput of the smallest size. Does not
//! weigh days against dollars: the table has the price of each saved day.

use super::{Goal, Row};
use railwright_spec::quantity::{Dollars, Seconds};
use serde::Serialize;

/// The selected size.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Index of the selected row. `None` if no row meets the goal, or without a goal.
    pub chosen: Option<usize>,
    /// True if a goal was set and no row meets it.
    pub is_no: bool,
    /// The row nearest to the goal. `None` if a row meets it.
    pub nearest: Option<Miss>,
    /// Largest efficient size, by kind of machine.
    pub stops: Vec<Stop>,
}

/// Distance of the nearest row from the goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Miss {
    /// Index of the row.
    pub row: usize,
    /// Time beyond the deadline; 0 if it is met.
    pub late: Seconds,
    /// Rent above the budget; 0 if it is met.
    pub over_budget: Dollars,
}

/// The largest efficient number of a kind of machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stop {
    /// Index of the kind of machine.
    pub machine: usize,
    /// Index of the row.
    pub row: usize,
    /// True if a larger number was tried and was inefficient. Otherwise the end of the table is still
    /// efficient.
    pub is_reached: bool,
}

pub(super) fn verdict(goal: &Goal, machines: usize, rows: &[Row]) -> Verdict {
    let has_goal = goal.deadline.is_some() || goal.budget.is_some();
    let stops = (0..machines).filter_map(|machine| stop(goal, machine, rows)).collect();
    let meeting = rows.iter().enumerate().filter(|(_, row)| row.meets());
    let by_cost = |row: &Row| row.bill.rent.map_or(row.bill.device_hours.0, Dollars::get);
    // Rents and hours are not comparable: unless every row has a price, hours decide.
    let all_priced = rows.iter().all(|row| row.bill.rent.is_some());
    let cost = |row: &Row| if all_priced { by_cost(row) } else { row.bill.device_hours.0 };
    let chosen = if goal.deadline.is_some() {
        meeting.min_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b)).then(a.devices.cmp(&b.devices)))
    } else if goal.budget.is_some() {
        meeting.min_by(|(_, a), (_, b)| {
            a.bill.calendar.get().total_cmp(&b.bill.calendar.get()).then(cost(a).total_cmp(&cost(b)))
        })
    } else {
        None
    };
    let chosen = chosen.map(|(index, _)| index);
    let is_no = has_goal && chosen.is_none();
    let nearest = if is_no { nearest(goal, rows) } else { None };
    Verdict { chosen, is_no, nearest, stops }
}

/// The row with the smallest sum of the shares by which it is late and over budget.
fn nearest(goal: &Goal, rows: &[Row]) -> Option<Miss> {
    let of = |(row, r): (usize, &Row)| {
        let late = goal.deadline.map_or(Seconds::ZERO, |d| (r.bill.calendar - d).max(Seconds::ZERO));
        let over =
            goal.budget.zip(r.bill.rent).map_or(Dollars::ZERO, |(b, rent)| (rent - b).max(Dollars::ZERO));
        let share = goal.deadline.map_or(0.0, |d| late / d) + goal.budget.map_or(0.0, |b| over / b);
        (share, Miss { row, late, over_budget: over })
    };
    rows.iter().enumerate().map(of).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, miss)| miss)
}

fn stop(goal: &Goal, machine: usize, rows: &[Row]) -> Option<Stop> {
    let mut list = rows.iter().enumerate().filter(|(_, row)| row.machine == machine);
    let (mut last, _) = list.next()?;
    for (index, row) in list {
        match row.marginal_efficiency {
            // A size with poor divisors does not limit larger ones; one that is not faster than a smaller one
            // ends the hull.
            _ if !row.on_hull => {}
            Some(marginal) if marginal >= goal.worth => last = index,
            _ => return Some(Stop { machine, row: last, is_reached: true }),
        }
    }
    // Beyond the last vertex of the hull nothing is faster, so further rows are inefficient.
    let is_reached = rows.iter().rposition(|row| row.machine == machine).is_some_and(|end| end > last);
    Some(Stop { machine, row: last, is_reached })
}
