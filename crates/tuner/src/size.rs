//! Cluster sizing: a table over cluster sizes, the choice for a deadline or a budget, and the limit of
//! efficient scaling.
//!
//! Responsible for: candidate sizes ([`Sizing`]), their costs ([`Row`]), and the verdict. Does not choose
//! layouts: the caller provides the best layout of each size. The training is the same for the whole table:
//! equal tokens, and equal global batch unless the caller scales it.

mod goal;
mod grid;
mod row;
mod verdict;

pub use goal::Goal;
pub use grid::{Reach, numbers, reach};
pub use row::{Machine, Row};
pub use verdict::{Miss, Stop, Verdict};

use railwright_calculator::estimate::Estimate;
use railwright_calculator::model_flop::Convention;
use railwright_spec::quantity::{Dollars, Seconds};
use serde::Serialize;

/// A number of devices without a valid layout.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Impossible {
    /// Index of the kind of machine.
    pub machine: usize,
    /// Number of devices.
    pub devices: u64,
    /// Reason.
    pub reason: String,
}

/// A query for the best layout on a number of devices of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Index of the kind of machine.
    pub machine: usize,
    /// Number of devices.
    pub devices: u64,
}

/// Result of cluster sizing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sized {
    /// Goal of the training.
    pub goal: Goal,
    /// The kinds of machines.
    pub machines: Vec<Machine>,
    /// All tried numbers that can train the model, by machine, ascending.
    pub rows: Vec<Row>,
    /// Tried numbers that cannot train the model.
    pub impossible: Vec<Impossible>,
    /// The selected size.
    pub verdict: Verdict,
}

/// Table under construction. Returns the next size to query until it is complete.
#[derive(Clone, Debug)]
pub struct Sizing {
    goal: Goal,
    machines: Vec<Machine>,
    rows: Vec<Row>,
    impossible: Vec<Impossible>,
    /// Machine and number of devices with too little memory.
    too_small: Vec<(usize, u64)>,
    extends: bool,
}

/// Maximum number of rows per kind of machine.
const MOST_ROWS: usize = 40;

impl Sizing {
    /// Starts a table. With `extends`, numbers beyond the first ones are tried if they may meet a goal.
    /// Otherwise only those given.
    pub fn new(goal: Goal, machines: Vec<Machine>, extends: bool) -> Self {
        Self { goal, machines, rows: Vec::new(), impossible: Vec::new(), too_small: Vec::new(), extends }
    }

    /// The next query, or `None` if the table is complete.
    pub fn next(&self) -> Option<Question> {
        (0..self.machines.len())
            .find_map(|machine| self.next_of(machine).map(|devices| Question { machine, devices }))
    }

    fn next_of(&self, index: usize) -> Option<u64> {
        let machine = &self.machines[index];
        let is_open = |n: &&u64| !self.is_known(index, **n);
        let open = if self.extends {
            // From the largest down: a layout that fits on n devices also fits on a multiple, with more
            // replicas.
            machine.numbers.iter().rev().find(|n| is_open(n) && !self.is_too_small(index, **n))
        } else {
            machine.numbers.iter().find(is_open)
        };
        if let Some(number) = open {
            return Some(*number);
        }
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.machine == index).collect();
        if !self.extends || rows.len() >= MOST_ROWS {
            return None;
        }
        grid::larger(machine, &rows, &self.goal)
            .or_else(|| grid::between(machine, &rows, &self.goal, |n| self.is_known(index, n)))
    }

    fn is_too_small(&self, machine: usize, devices: u64) -> bool {
        self.too_small.iter().any(|(of, most)| *of == machine && most.is_multiple_of(devices.max(1)))
    }

    fn is_known(&self, machine: usize, devices: u64) -> bool {
        self.rows.iter().any(|row| (row.machine, row.devices) == (machine, devices))
            || self.impossible.iter().any(|none| (none.machine, none.devices) == (machine, devices))
    }

    /// Adds the estimate of the best layout. An estimate without a bill counts as impossible.
    pub fn answer(&mut self, question: Question, estimate: &Estimate) {
        let Some(bill) = estimate.money.clone() else {
            return self.refuse(question, "no token budget is set");
        };
        let Question { machine, devices } = question;
        let per_machine = self.machines.get(machine).map_or(1, |m| m.devices.max(1));
        let row = Row {
            machine,
            cluster: estimate.cluster.name.clone(),
            accelerator: estimate.cluster.accelerator_name.clone(),
            devices,
            machines: devices.div_ceil(per_machine),
            plan_summary: estimate.plan_summary.clone(),
            plan: estimate.plan.clone(),
            step_time: estimate.step_time,
            step_time_interval: estimate.step_time_interval.clone(),
            tokens_per_second: estimate.throughput.tokens_per_second,
            mfu: estimate.efficiency.mfu(Convention::REPORTED),
            probability_of_fitting: estimate.memory.probability_of_fitting,
            efficiency: 1.0,
            on_hull: true,
            marginal_efficiency: None,
            days_saved_per_device: None,
            dollars_per_day_saved: None,
            in_time: self.goal.deadline.is_none_or(|deadline| bill.calendar <= deadline),
            in_budget: self.goal.budget.is_none_or(|budget| bill.rent.is_some_and(|rent| rent <= budget)),
            bill,
            is_wasted: false,
        };
        let at = self.rows.partition_point(|r| (r.machine, r.devices) < (machine, devices));
        self.rows.insert(at, row);
    }

    /// Records that no training is possible on this number of devices.
    pub fn refuse(&mut self, question: Question, reason: impl Into<String>) {
        let Question { machine, devices } = question;
        self.impossible.push(Impossible { machine, devices, reason: reason.into() });
    }

    /// Records that this number of devices has too little memory. Numbers that divide it are not tried.
    pub fn refuse_for_memory(&mut self, question: Question, reason: impl Into<String>) {
        self.too_small.push((question.machine, question.devices));
        self.refuse(question, reason);
    }

    /// The table so far, with its verdict.
    pub fn finish(mut self) -> Sized {
        for index in 0..self.machines.len() {
            compare(&mut self.rows, index);
        }
        self.impossible.sort_by_key(|none| (none.machine, none.devices));
        let verdict = verdict::verdict(&self.goal, self.machines.len(), &self.rows);
        Sized {
            goal: self.goal,
            machines: self.machines,
            rows: self.rows,
            impossible: self.impossible,
            verdict,
        }
    }
}

/// Scaling efficiency, `E(n) = (T(n) / n) / (T(n0) / n0)` with T tokens per second and n0 the smallest
/// number; and marginal efficiency, `(T(n) - T(m)) / (n - m) / (T(n0) / n0)`, where m is the next smaller
/// number on the upper hull of T over n. Along the hull marginal efficiency only decreases, so one number
/// that divides badly does not end scaling.
fn compare(rows: &mut [Row], machine: usize) {
    let of_machine = |row: &&mut Row| row.machine == machine;
    let mut soonest: Option<Seconds> = None;
    for row in rows.iter_mut().filter(of_machine) {
        let calendar = row.bill.calendar;
        row.is_wasted = soonest.is_some_and(|soonest| soonest <= calendar);
        soonest = Some(soonest.map_or(calendar, |soonest| soonest.min(calendar)));
    }
    let mut hull: Vec<(f64, f64, Seconds, Option<Dollars>)> = Vec::new();
    for row in rows.iter().filter(|row| row.machine == machine) {
        let next = (row.devices as f64, row.tokens_per_second, row.bill.calendar, row.bill.rent);
        if hull.last().is_some_and(|last| next.1 <= last.1) {
            continue;
        }
        let slope = |a: &(f64, f64, Seconds, Option<Dollars>)| (next.1 - a.1) / (next.0 - a.0);
        while let [.., before, last] = hull.as_slice() {
            if slope(before) < slope(last) {
                hull.pop();
            } else {
                break;
            }
        }
        hull.push(next);
    }
    let Some(&(fewest, rate, ..)) = hull.first() else { return };
    let base = rate / fewest;
    for row in rows.iter_mut().filter(of_machine) {
        let devices = row.devices as f64;
        row.efficiency = row.tokens_per_second / devices / base;
        row.on_hull = hull.iter().any(|vertex| vertex.0 == devices);
        let Some(before) = hull.iter().rev().find(|vertex| vertex.0 < devices) else { continue };
        let gain = row.tokens_per_second - before.1;
        // Nothing is gained over a smaller number that is at least as fast, even if the hull leaves that out.
        if gain <= 0.0 || row.is_wasted {
            continue;
        }
        let added = devices - before.0;
        row.marginal_efficiency = Some(gain / added / base);
        let days = (before.2 - row.bill.calendar).get() / 86_400.0;
        row.days_saved_per_device = Some(days / added);
        row.dollars_per_day_saved =
            before.3.zip(row.bill.rent).filter(|_| days > 0.0).map(|(rent, own)| (own - rent) / days);
    }
}

#[cfg(test)]
mod tests;
