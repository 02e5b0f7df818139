//! Comparison of predictions with measured runs, for any table of a user.
//!
//! Responsible for: predicting every row of a table, comparison, and sums of errors by source and overall.
//! Contains no names of rows or sources.

pub mod regret;
pub mod report;
pub mod row;
pub mod statistics;
pub mod table;

pub use regret::{Regret, regret};
pub use report::{Validation, validate, validate_watched, validate_with};
pub use row::Case;

use crate::costing::{Costing, Machine};
use crate::evaluate::{Evaluation, evaluate};
use crate::software::Software;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// Machines by cluster, so that the thousands of rows of a table look models up only a few times.
#[derive(Debug, Default)]
pub struct Machines {
    known: BTreeMap<String, Machine>,
}

impl Machines {
    /// The machine of a case's cluster.
    pub fn of(&mut self, case: &Case) -> &Machine {
        let cluster = &case.cluster;
        let key = format!(
            "{}|{}|{}|{}|{}",
            cluster.accelerator.id,
            cluster.devices_per_node,
            cluster.devices,
            cluster.network.kind,
            cluster.network.bandwidth.get()
        );
        self.known.entry(key).or_insert_with(|| Machine::new(cluster))
    }
}

/// A row's cells, and its case or the reason for having none.
pub type Row = (table::Cells, Result<Case, String>);

/// Reads a table into cases: for each row its cells, and the case or the reason for skipping it.
pub fn cases(text: &str, file: &str) -> Result<Vec<Row>, Problem> {
    let rows = table::read(text, file)?;
    Ok(rows
        .into_iter()
        .map(|cells| {
            let case = row::case(&cells);
            (cells, case)
        })
        .collect())
}

/// Evaluates a case with given constants.
pub fn evaluate_case(case: &Case, machine: &Machine, software: &Software) -> Result<Evaluation, Problem> {
    evaluate(&Costing::with_software(&case.model, &case.cluster, &case.plan, machine, software))
}
